// Exact search over the states of recomputation plans.
//
// A state says which ops ran (and how often again), which storages are there and what was done to them. A move runs one op. Whatever may still
// be read is kept for as long as it fits; where it does not, a move frees a smallest set of storages that makes room. A plan that frees more
// frees it earlier than it must, so some path of such moves makes the same runs, and a search that runs out of states has seen every plan
// within the budget (docs/recomputation.md, "The search").
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "control.hpp"
#include "recomputation_outlook.hpp"
#include "recomputation_problem.hpp"
#include "recomputation_state.hpp"

namespace lowtide {

// kOnDemand looks at few plans only, those that run an op again just when the next first run lacks what it makes: it finds plans of large graphs,
// and proves nothing when it finds none.
enum class RecomputationGoal { kCheapest, kAny, kOnDemand };
enum class RecomputationStatus { kFound, kExhausted, kStateLimit };

struct RecomputationQuestion {
  Bytes budget_bytes = 0;                     // no step may need more
  std::optional<std::int64_t> max_extra_cost;
  RecomputationGoal goal = RecomputationGoal::kCheapest;
  bool keeps_given_order = false;             // of first runs
  std::int64_t max_states = 0;
};

struct RecomputationResult {
  RecomputationStatus status = RecomputationStatus::kStateLimit;
  std::vector<Index> runs;              // when found
  std::int64_t extra_cost = 0;          // of the runs
  bool is_least = false;                // no plan within the budget costs less
  std::int64_t least_extra_cost = 0;    // no plan within the budget costs less; only of kCheapest
  std::int64_t states = 0;
};

class RecomputationSearch {
 public:
  RecomputationSearch(const RecomputationProblem& problem, const RecomputationQuestion& question, Control& control);

  // The cheapest plan within the budget (kCheapest), or any plan (kAny); or the proof that there is none.
  // `result` is kept up to date, so that an interrupted search still tells its bound. Throws Interrupted.
  void run(RecomputationResult& result);

 private:
  struct Node {
    Words state;
    std::int64_t extra_cost = 0;
    Index parent = -1;
    Index op = -1;
    Index first_runs = 0;
  };
  struct Entry {
    std::int64_t extra_cost;
    Index first_runs;
    Index node;
  };
  enum class Take { kAlways, kIfSafe };

  bool is_later(const Entry& a, const Entry& b) const;
  void offer(const Words& state, std::int64_t extra_cost, Index parent, Index op, Index first_runs);
  void expand(Index node);
  void expand_on_demand(Index node);
  std::vector<Index> demanded_ops() const;
  bool is_out_of_demand(Index storage, Index running) const;
  bool is_ready(const Words& state, Index op) const;
  bool makes_something_new(Index op) const;
  bool try_op(Index node, Index op, Take take);
  bool is_safe(Index op, const Words& before, const Words& after) const;
  std::vector<Index> what_may_go(const Words& during, Index op) const;
  std::vector<Index> inputs_to_reuse(const Words& during, Index op) const;
  bool is_complete(const Words& state) const;
  void set_running(const Words& before, Index op, Words& during) const;
  void free_storage(Words& state, Index storage) const;
  Bytes size_of(Index storage) const { return problem_.storages[static_cast<std::size_t>(storage)].size_bytes; }
  Bytes live_bytes(const Words& state) const;
  Bytes saving(const Words& after, Index op) const;
  std::vector<Index> runs_to(Index node) const;

  const RecomputationProblem& problem_;
  const RecomputationQuestion question_;
  Control& control_;
  StateLayout layout_;
  RecomputationOutlook outlook_;   // of the state being expanded
  RecomputationOutlook ahead_;     // of the state after a move
  std::vector<Node> nodes_;
  std::unordered_map<Words, Index, WordsHash> node_of_;
  std::vector<Entry> queue_;
  Words here_;
  std::vector<Index> demanded_;  // there, when on demand
  bool has_given_up_ = false;  // somewhere there were too many ways to make room
};

}  // namespace lowtide
