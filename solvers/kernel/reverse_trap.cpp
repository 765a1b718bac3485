#include <algorithm>
#include <limits>
#include <utility>

#include "trap.hpp"

namespace lowtide {

ReverseTrap::ReverseTrap(const Problem& problem)
    : problem_(problem), cut_(problem), lower_(problem), upper_(problem), side_(problem.op_count(), Side::kLower),
      live_(problem.storage_count()), open_exits_(problem.op_count()), exits_(problem.op_count()),
      is_queued_(problem.op_count(), 0), successors_left_(problem.op_count(), 0), ties_(problem.op_count()) {}

void ReverseTrap::start_at_the_end() {
  State end(problem_);
  for (Index op = 0; op < problem_.op_count(); ++op) end.run(op);
  lower_ = end;
  upper_ = end;
  free_.clear();
  live_.clear();
  open_exits_.clear();
  fresh_.clear();
  again_.clear();
  ties_.clear();
  has_absorbed_ = false;
  next_look_ = 0;
  has_skipped_ = false;
  std::ranges::fill(is_queued_, 0);
  std::ranges::fill(side_, Side::kLower);
  for (Index storage = 0; storage < problem_.storage_count(); ++storage) {
    if (end.is_live(storage)) live_.insert(storage);
  }
  for (Index op = problem_.op_count() - 1; op >= 0; --op) {
    successors_left_[op] = static_cast<Index>(problem_.successors()[op].size());
    if (successors_left_[op] == 0) open_exit(op);
  }
}

// An op waits in one queue at most, and an earlier closure's flow says nothing in this one.
void ReverseTrap::open_exit(Index op) {
  open_exits_.insert(op);
  exits_[op] = Exit{};
  is_queued_[op] = 1;
  fresh_.push_back(op);
}

bool ReverseTrap::stalls(Bytes threshold, Control& control) {
  start_at_the_end();
  return !close(threshold, control);
}

void ReverseTrap::look_again(Index exit) {
  if (is_queued_[exit] != 0) return;
  is_queued_[exit] = 1;
  again_.push_back(exit);
}

bool ReverseTrap::look_again_at_untracked() {
  if (!has_absorbed_) return false;
  has_absorbed_ = false;
  for (Index exit : ties_.take_untracked()) look_again(exit);
  return !again_.empty();
}

bool ReverseTrap::close(Bytes threshold, Control& control) {
  while (lower_.done_count() > 0) {
    Index op = kNoOp;
    if (!fresh_.empty()) {
      op = fresh_.front();
      fresh_.pop_front();
      is_queued_[op] = 0;
    } else if (!again_.empty()) {
      op = again_.front();
      again_.pop_front();
      is_queued_[op] = 0;
    } else if (look_again_at_untracked()) {
      continue;
    } else {
      return false;
    }
    control.check();
    if (is_cheap(op, threshold, false, control)) absorb(op, control);
  }
  return true;
}

// The exit itself and its free descendants lie outside U for its cut.
void ReverseTrap::paint_descendants(Index op) {
  painted_.clear();
  auto paint_successors = [this](Index of) {
    for (Index successor : problem_.successors()[of]) {
      if (side_[successor] != Side::kFree) continue;
      side_[successor] = Side::kOutside;
      painted_.push_back(successor);
    }
  };
  paint_successors(op);
  for (std::size_t head = 0; head < painted_.size(); ++head) paint_successors(painted_[head]);
}

void ReverseTrap::unpaint() {
  for (Index op : painted_) side_[op] = Side::kFree;
}

bool ReverseTrap::is_cheap(Index op, Bytes threshold, bool exact, Control& control) {
  ties_.untie(op);
  if (!exact) {
    // V \ E \ {op} itself is one of the downsets that the cut chooses from.
    lower_.undo(op);
    const Bytes cost = lower_.step_cost(op);
    lower_.run(op);
    if (cost < threshold) return true;
  }
  Exit& exit = exits_[op];
  exit.exact = exact;
  exit.value = std::numeric_limits<Bytes>::max();
  paint_descendants(op);
  side_[op] = Side::kOutside;
  flow_ends_.clear();
  bool cheap = false;
  for (const auto& mode : problem_.modes(op)) {
    const Bytes working_set = problem_.working_set(op, mode);
    const Bytes enough = exact ? std::numeric_limits<Bytes>::max() : std::max<Bytes>(threshold - working_set, 0);
    const Bytes idle = cut_.least_idle_bytes(side_, op, mode, live_.items(), enough, !exact, control);
    exit.value = std::min(exit.value, working_set + idle);
    if (exit.value < threshold && !exact) {
      cheap = true;
      break;
    }
    cut_.source_creators(flow_ends_);
  }
  side_[op] = Side::kLower;
  unpaint();
  if (!cheap) ties_.tie(op, flow_ends_);
  return cheap;
}

void ReverseTrap::take_back_lower(Index op) {
  lower_.undo(op);
  for (Index storage : problem_.creates()[op]) live_.erase(storage);
  for (Index storage : problem_.touches()[op]) {
    if (lower_.is_live(storage)) live_.insert(storage);
  }
}

void ReverseTrap::absorb(Index op, Control& control) {
  open_exits_.erase(op);
  take_back_lower(op);
  side_[op] = Side::kFree;
  free_.push_back(op);
  for (Index predecessor : problem_.predecessors()[op]) {
    if (--successors_left_[predecessor] == 0) open_exit(predecessor);
  }
  // A blocked exit whose flow started at this op has to find another way for it.
  ties_.take(op, [this](Index exit) { look_again(exit); });
  has_absorbed_ = true;
  // As in ForwardTrap::absorb, N may lag behind.
  const bool is_due = free_.size() <= kAlwaysLook || free_.size() >= next_look_ ||
                      lower_.live_bytes() <= upper_.live_bytes();
  if (!is_due) {
    has_skipped_ = true;
    return;
  }
  if (has_skipped_ ? shrink_upper(control) : shrink_upper_without(op, control)) {
    next_look_ = 0;
  } else {
    next_look_ = 2 * free_.size();
  }
  has_skipped_ = false;
}

// When every downset with `op` has been looked at: N moves if one without it has no more live bytes than N.
bool ReverseTrap::shrink_upper_without(Index op, Control& control) {
  paint_descendants(op);
  side_[op] = Side::kOutside;
  painted_.push_back(op);
  const Bytes upper_live = upper_.live_bytes() - problem_.pinned_bytes();
  const Bytes least = cut_.least_idle_bytes(side_, kNoOp, {}, live_.items(), upper_live + 1, false, control);
  if (least > upper_live) {
    unpaint();
    return false;
  }
  std::vector<Index> still_free;
  for (Index other : free_) {
    if (side_[other] == Side::kFree) still_free.push_back(other);
  }
  const std::vector<Index> inside = cut_.smallest_minimiser(still_free);
  unpaint();
  keep_in_upper(inside);
  return true;
}

bool ReverseTrap::shrink_upper(Control& control) {
  cut_.least_idle_bytes(side_, kNoOp, {}, live_.items(), std::numeric_limits<Bytes>::max(), false, control);
  const std::vector<Index> inside = cut_.smallest_minimiser(free_);
  const bool has_shrunk = inside.size() < free_.size();
  keep_in_upper(inside);
  return has_shrunk;
}

void ReverseTrap::keep_in_upper(std::span<const Index> inside) {
  for (Index op : free_) side_[op] = Side::kOutside;
  for (Index op : inside) side_[op] = Side::kFree;
  std::vector<Index> outside;
  for (Index op : free_) {
    if (side_[op] == Side::kOutside) outside.push_back(op);
  }
  free_.assign(inside.begin(), inside.end());
  std::ranges::sort(outside, std::greater<>());
  for (Index op : outside) upper_.undo(op);
}

Bytes ReverseTrap::bound(Control& control) {
  Bytes least = std::numeric_limits<Bytes>::max();
  for (Index op : open_exits_.items()) {
    if (!exits_[op].exact) is_cheap(op, 0, true, control);
    least = std::min(least, exits_[op].value);
  }
  return least;
}

std::vector<Index> ReverseTrap::trap() const {
  std::vector<Index> ops;
  for (Index op = 0; op < problem_.op_count(); ++op) {
    if (!lower_.contains(op)) ops.push_back(op);
  }
  return ops;
}

TrapBound ReverseTrap::best(Bytes floor, Bytes enough, Control& control) {
  TrapBound best{floor, {}};
  Bytes threshold = floor + 1;
  start_at_the_end();
  while (!close(threshold, control)) {
    best = {bound(control), trap()};
    if (best.bound >= enough) break;
    threshold = best.bound + 1;
    for (Index op : open_exits_.items()) {
      if (exits_[op].value < threshold) look_again(op);
    }
  }
  return best;
}

}  // namespace lowtide
