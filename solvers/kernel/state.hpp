// A downset with everything that running one more op needs to know, kept up to date step by step.
#pragma once

#include <vector>

#include "problem.hpp"

namespace lowtide {

class State {
 public:
  explicit State(const Problem& problem);  // the empty downset

  bool contains(Index op) const { return done_[op] != 0; }
  bool is_ready(Index op) const { return done_[op] == 0 && waiting_[op] == 0; }
  bool is_complete() const { return done_count_ == problem_->op_count(); }
  Index done_count() const { return done_count_; }
  Bytes live_bytes() const { return live_bytes_; }
  // Users of the storage that have not run.
  Index users_left(Index storage) const { return users_left_[storage]; }
  bool exists(Index storage) const {
    const Index creator = problem_->creator(storage);
    return creator < 0 || contains(creator);
  }
  bool is_live(Index storage) const {
    return exists(storage) && (users_left(storage) > 0 || problem_->is_held(storage));
  }

  Bytes in_place_saving(Index op) const;
  // What the op adds while it runs: its step cost is live_bytes() + extra(op).
  Bytes extra(Index op) const { return problem_->step_extra(op) - in_place_saving(op); }
  Bytes step_cost(Index op) const { return live_bytes_ + extra(op); }
  // How much live_bytes() changes when the op runs.
  Bytes growth(Index op) const;

  // Runs a ready op. Calls on_ready(op) for every op that becomes ready.
  template <typename OnReady>
  void run(Index op, OnReady&& on_ready);
  void run(Index op) {
    run(op, [](Index) {});
  }
  // Takes back an op none of whose successors has run.
  void undo(Index op);

 private:
  const Problem* problem_;
  std::vector<std::uint8_t> done_;
  std::vector<Index> waiting_;     // predecessors that have not run
  std::vector<Index> users_left_;
  Index done_count_ = 0;
  Bytes live_bytes_ = 0;
};

template <typename OnReady>
void State::run(Index op, OnReady&& on_ready) {
  live_bytes_ += growth(op);
  for (Index storage : problem_->touches()[op]) --users_left_[storage];
  done_[op] = 1;
  ++done_count_;
  for (Index successor : problem_->successors()[op]) {
    if (--waiting_[successor] == 0) on_ready(successor);
  }
}

// The largest step cost of a complete valid order. Throws std::invalid_argument when it is not one.
Bytes peak_of(const Problem& problem, std::span<const Index> order);

}  // namespace lowtide
