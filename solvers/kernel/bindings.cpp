// lowtide._kernel: the kernel as Python sees it. Every call that can take long releases the interpreter lock.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "control.hpp"
#include "limited.hpp"
#include "orders.hpp"
#include "problem.hpp"
#include "recomputation_bindings.hpp"
#include "search.hpp"
#include "state.hpp"
#include "trap.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace lowtide;

namespace {

using ModeRows = std::vector<std::vector<std::vector<std::tuple<Index, Index, Bytes>>>>;
using FlowTriples = std::vector<std::tuple<Index, Index, Bytes>>;

std::unique_ptr<Problem> make_problem(std::vector<Bytes> storage_bytes, std::vector<Index> storage_creator,
                                      std::vector<std::uint8_t> storage_is_output, std::vector<std::uint8_t> storage_is_pinned,
                                      std::vector<Index> user_offsets, std::vector<Index> users,
                                      std::vector<Index> predecessor_offsets, std::vector<Index> predecessors,
                                      std::vector<Bytes> op_workspace_bytes, const std::vector<Index>& ops_with_modes,
                                      const ModeRows& modes) {
  ProblemData data;
  data.storage_bytes = std::move(storage_bytes);
  data.storage_creator = std::move(storage_creator);
  data.storage_is_output = std::move(storage_is_output);
  data.storage_is_pinned = std::move(storage_is_pinned);
  data.storage_users = Rows(std::move(user_offsets), std::move(users));
  data.op_predecessors = Rows(std::move(predecessor_offsets), std::move(predecessors));
  data.op_workspace_bytes = std::move(op_workspace_bytes);
  data.op_modes.assign(data.op_workspace_bytes.size(), {{}});
  if (ops_with_modes.size() != modes.size()) throw std::invalid_argument("one list of modes per op that has some");
  for (std::size_t at = 0; at < modes.size(); ++at) {
    auto& op_modes = data.op_modes.at(static_cast<std::size_t>(ops_with_modes[at]));
    op_modes.clear();
    for (const auto& mode : modes[at]) {
      std::vector<InPlaceSaving> pairs;
      for (const auto& [output, input, saving] : mode) pairs.push_back({output, input, saving});
      op_modes.push_back(std::move(pairs));
    }
  }
  return std::make_unique<Problem>(std::move(data));
}

using Order = std::vector<Index>;

std::pair<Stop, Order> greedy(const Problem& problem, GreedyRule rule, Bytes floor, const CancelToken* token, double seconds) {
  Order order;
  const Stop stop = limited(token, seconds, [&](Control& control) { order = greedy_order(problem, rule, floor, control); });
  return {stop, std::move(order)};
}

}  // namespace

NB_MODULE(_kernel, module) {
  nb::class_<CancelToken>(module, "CancelToken")
      .def(nb::init<>())
      .def("cancel", &CancelToken::cancel)
      .def_prop_ro("cancelled", &CancelToken::cancelled);

  nb::enum_<Stop>(module, "Stop").value("NONE", Stop::kNone).value("TIME", Stop::kTime).value("CANCELLED", Stop::kCancelled);
  nb::enum_<GreedyRule>(module, "GreedyRule")
      .value("GIVEN", GreedyRule::kGiven)
      .value("LEAST_GROWTH", GreedyRule::kLeastGrowth)
      .value("LEAST_STEP", GreedyRule::kLeastStep)
      .value("NEWEST", GreedyRule::kNewest);
  nb::enum_<SearchStatus>(module, "SearchStatus")
      .value("FOUND", SearchStatus::kFound)
      .value("EXHAUSTED", SearchStatus::kExhausted)
      .value("STATE_LIMIT", SearchStatus::kStateLimit);
  nb::enum_<Continuation>(module, "Continuation")
      .value("BRANCH", Continuation::kBranch)
      .value("COMMIT", Continuation::kCommit)
      .value("DEAD", Continuation::kDead);

  nb::class_<FamilyState>(module, "FamilyState")
      .def_ro("parent", &FamilyState::parent)
      .def_ro("run", &FamilyState::run)
      .def_ro("then", &FamilyState::then)
      .def_ro("then_run", &FamilyState::then_run);

  nb::class_<SearchResult>(module, "SearchResult")
      .def_ro("status", &SearchResult::status)
      .def_ro("order", &SearchResult::order)
      .def_ro("lower_bound", &SearchResult::lower_bound)
      .def_ro("family", &SearchResult::family)
      .def_ro("states", &SearchResult::states);

  nb::class_<Problem>(module, "Problem")
      .def_static("make", &make_problem, "storage_bytes"_a, "storage_creator"_a, "storage_is_output"_a, "storage_is_pinned"_a,
                  "user_offsets"_a, "users"_a, "predecessor_offsets"_a, "predecessors"_a, "op_workspace_bytes"_a,
                  "ops_with_modes"_a, "modes"_a)
      .def_prop_ro("op_count", &Problem::op_count)
      .def("working_set", nb::overload_cast<Index>(&Problem::working_set, nb::const_), "op"_a)
      .def(
          "peak", [](const Problem& problem, const Order& order) { return peak_of(problem, order); }, "order"_a)
      .def("greedy_order", &greedy, "rule"_a, "floor"_a, "cancel"_a.none(), "seconds"_a)
      .def(
          "greedy_order_from_the_end",
          [](const Problem& problem, const CancelToken* token, double seconds) {
            Order order;
            const Stop stop =
                limited(token, seconds, [&](Control& control) { order = greedy_order_from_the_end(problem, control); });
            return std::pair(stop, std::move(order));
          },
          "cancel"_a.none(), "seconds"_a)
      .def(
          "beam_order",
          [](const Problem& problem, Index width, Bytes cutoff, const CancelToken* token, double seconds) {
            BeamResult result;
            const Stop stop =
                limited(token, seconds, [&](Control& control) { result = beam_order(problem, width, cutoff, control); });
            return std::pair(stop, std::move(result.order));
          },
          "width"_a, "cutoff"_a, "cancel"_a.none(), "seconds"_a)
      .def(
          "best_trap",
          [](const Problem& problem, bool forward, Bytes floor, Bytes enough, const CancelToken* token, double seconds) {
            TrapBound best{floor, {}};
            const Stop stop = limited(token, seconds, [&](Control& control) {
              best = forward ? ForwardTrap(problem).best(floor, enough, control)
                             : ReverseTrap(problem).best(floor, enough, control);
            });
            return std::tuple(stop, best.bound, std::move(best.trap));
          },
          "forward"_a, "floor"_a, "enough"_a, "cancel"_a.none(), "seconds"_a)
      .def(
          "trap_at",
          [](const Problem& problem, bool forward, Bytes threshold, const CancelToken* token, double seconds) {
            std::optional<TrapBound> found;
            const Stop stop = limited(token, seconds, [&](Control& control) {
              if (forward) {
                ForwardTrap trap(problem);
                if (trap.stalls(State(problem), threshold, nullptr, control)) found = TrapBound{threshold, trap.trap()};
              } else {
                ReverseTrap trap(problem);
                if (trap.stalls(threshold, control)) found = TrapBound{threshold, trap.trap()};
              }
            });
            return std::pair(stop, found ? std::optional(std::move(found->trap)) : std::nullopt);
          },
          "forward"_a, "threshold"_a, "cancel"_a.none(), "seconds"_a)
      .def(
          "exit_flows",
          [](const Problem& problem, const Order& trap, bool forward, Bytes bound, const CancelToken* token, double seconds) {
            std::vector<ExitFlow> flows;
            const Stop stop = limited(token, seconds, [&](Control& control) {
              flows = exit_flows(problem, trap, forward, bound, control);
            });
            std::vector<std::tuple<Index, Index, FlowTriples, FlowTriples>> rows;
            for (const ExitFlow& flow : flows) {
              FlowTriples storage_flow;
              FlowTriples order_flow;
              for (const StorageFlow& arc : flow.storage_flows) storage_flow.emplace_back(arc.storage, arc.user, arc.amount);
              for (const OrderFlow& arc : flow.order_flows) order_flow.emplace_back(arc.op, arc.predecessor, arc.amount);
              rows.emplace_back(flow.op, flow.mode, std::move(storage_flow), std::move(order_flow));
            }
            return std::pair(stop, std::move(rows));
          },
          "trap"_a, "forward"_a, "bound"_a, "cancel"_a.none(), "seconds"_a)
      .def(
          "search",
          [](const Problem& problem, Bytes threshold, std::int64_t max_states, std::int64_t max_bytes, const CancelToken* token,
             double seconds) {
            SearchResult result{SearchStatus::kStateLimit, {}, 0, {}, 0};
            const Stop stop = limited(token, seconds, [&](Control& control) {
              result = Search(problem, threshold, {max_states, max_bytes}, control).run();
            });
            return std::pair(stop, std::move(result));
          },
          "threshold"_a, "max_states"_a, "max_bytes"_a, "cancel"_a.none(), "seconds"_a);

  bind_recomputation(module);
}
