// The recomputation search as Python sees it.
#include "recomputation_bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "limited.hpp"
#include "recomputation_search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lowtide {

namespace {

using Indices = std::vector<Index>;
using Modes = std::vector<std::vector<std::tuple<Index, Index, Bytes>>>;

void add_op(RecomputationProblem& problem, std::int64_t cost, std::int64_t cap, Bytes workspace_bytes, Indices predecessors, Indices creates,
            Indices touches, Indices needed_edits, Indices forbidden_edits, Indices makes_edits, const Modes& modes) {
  RecomputationOp op{cost,
                     cap,
                     workspace_bytes,
                     std::move(predecessors),
                     std::move(creates),
                     std::move(touches),
                     std::move(needed_edits),
                     std::move(forbidden_edits),
                     std::move(makes_edits),
                     {}};
  for (const auto& mode : modes) {
    std::vector<InPlaceSaving> pairs;
    for (const auto& [output, input, saving] : mode) pairs.push_back({output, input, saving});
    op.modes.push_back(std::move(pairs));
  }
  problem.ops.push_back(std::move(op));
}

void add_storage(RecomputationProblem& problem, Bytes size_bytes, Index creator, bool is_output, bool is_pinned, Indices users, Indices edits,
                 Indices final_edits) {
  problem.storages.push_back(
      {size_bytes, creator, is_output, is_pinned, std::move(users), std::move(edits), std::move(final_edits)});
}

std::pair<Stop, RecomputationResult> search(const RecomputationProblem& problem, Bytes budget_bytes,
                                            std::optional<std::int64_t> max_extra_cost, RecomputationGoal goal,
                                            bool keeps_given_order, std::int64_t max_states, const CancelToken* token, double seconds) {
  check(problem);
  const RecomputationQuestion question{budget_bytes,
                                       max_extra_cost,
                                       goal,
                                       keeps_given_order,
                                       max_states};
  RecomputationResult result;
  const Stop stop =
      limited(token, seconds, [&](Control& control) { RecomputationSearch(problem, question, control).run(result); });
  return {stop, std::move(result)};
}

}  // namespace

void bind_recomputation(nb::module_& module) {
  nb::enum_<RecomputationGoal>(module, "RecomputationGoal")
      .value("CHEAPEST", RecomputationGoal::kCheapest)
      .value("ANY", RecomputationGoal::kAny)
      .value("ON_DEMAND", RecomputationGoal::kOnDemand);
  nb::enum_<RecomputationStatus>(module, "RecomputationStatus")
      .value("FOUND", RecomputationStatus::kFound)
      .value("EXHAUSTED", RecomputationStatus::kExhausted)
      .value("STATE_LIMIT", RecomputationStatus::kStateLimit);

  nb::class_<RecomputationResult>(module, "RecomputationResult")
      .def_ro("status", &RecomputationResult::status)
      .def_ro("runs", &RecomputationResult::runs)
      .def_ro("extra_cost", &RecomputationResult::extra_cost)
      .def_ro("is_least", &RecomputationResult::is_least)
      .def_ro("least_extra_cost", &RecomputationResult::least_extra_cost)
      .def_ro("states", &RecomputationResult::states);

  nb::class_<RecomputationProblem>(module, "RecomputationProblem")
      .def("__init__",
           [](RecomputationProblem* problem, Index edit_count) {
             new (problem) RecomputationProblem();
             problem->edit_count = edit_count;
           },
           "edit_count"_a)
      .def("add_op", &add_op, "cost"_a, "cap"_a, "workspace_bytes"_a, "predecessors"_a, "creates"_a, "touches"_a, "needed_edits"_a,
           "forbidden_edits"_a, "makes_edits"_a, "modes"_a)
      .def("add_storage", &add_storage, "size_bytes"_a, "creator"_a, "is_output"_a, "is_pinned"_a, "users"_a, "edits"_a, "final_edits"_a)
      .def("search", &search, "budget_bytes"_a, "max_extra_cost"_a.none(), "goal"_a, "keeps_given_order"_a,
           "max_states"_a, "cancel"_a.none(), "seconds"_a);
}

}  // namespace lowtide
