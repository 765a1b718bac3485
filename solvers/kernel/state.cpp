#include "state.hpp"

#include <algorithm>
#include <stdexcept>

namespace lowtide {

State::State(const Problem& problem)
    : problem_(&problem),
      done_(problem.op_count(), 0),
      waiting_(problem.op_count(), 0),
      users_left_(problem.storage_count(), 0) {
  for (Index op = 0; op < problem.op_count(); ++op) {
    waiting_[op] = static_cast<Index>(problem.predecessors()[op].size());
  }
  for (Index storage = 0; storage < problem.storage_count(); ++storage) {
    users_left_[storage] = static_cast<Index>(problem.users()[storage].size());
    if (is_live(storage)) live_bytes_ += problem.bytes(storage);
  }
}

Bytes State::in_place_saving(Index op) const {
  Bytes best = 0;
  for (const auto& mode : problem_->modes(op)) {
    Bytes saving = 0;
    for (const InPlaceSaving& pair : mode) {
      if (users_left_[pair.input] == 1) saving += pair.saving;
    }
    best = std::max(best, saving);
  }
  return best;
}

Bytes State::growth(Index op) const {
  Bytes growth = 0;
  for (Index storage : problem_->creates()[op]) {
    if (users_left_[storage] > 0 || problem_->is_held(storage)) growth += problem_->bytes(storage);
  }
  for (Index storage : problem_->touches()[op]) {
    if (users_left_[storage] == 1 && !problem_->is_held(storage)) growth -= problem_->bytes(storage);
  }
  return growth;
}

void State::undo(Index op) {
  for (Index successor : problem_->successors()[op]) ++waiting_[successor];
  done_[op] = 0;
  --done_count_;
  for (Index storage : problem_->touches()[op]) ++users_left_[storage];
  live_bytes_ -= growth(op);
}

Bytes peak_of(const Problem& problem, std::span<const Index> order) {
  if (order.size() != static_cast<std::size_t>(problem.op_count())) {
    throw std::invalid_argument("an order lists every op once");
  }
  State state(problem);
  Bytes peak = 0;
  for (Index op : order) {
    if (op < 0 || op >= problem.op_count() || !state.is_ready(op)) {
      throw std::invalid_argument("an op runs twice or before its predecessors");
    }
    peak = std::max(peak, state.step_cost(op));
    state.run(op);
  }
  return peak;
}

}  // namespace lowtide
