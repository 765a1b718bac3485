#include "trap.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace lowtide {

void IndexSet::clear() {
  for (Index index : items_) place_[index] = -1;
  items_.clear();
}

void IndexSet::insert(Index index) {
  if (place_[index] >= 0) return;
  place_[index] = static_cast<Index>(items_.size());
  items_.push_back(index);
}

void IndexSet::erase(Index index) {
  const Index place = place_[index];
  if (place < 0) return;
  items_[place] = items_.back();
  place_[items_[place]] = place;
  items_.pop_back();
  place_[index] = -1;
}

ForwardTrap::ForwardTrap(const Problem& problem)
    : problem_(problem), cut_(problem), lower_(problem), upper_(problem), side_(problem.op_count(), Side::kOutside),
      live_(problem.storage_count()), lower_set_(problem.op_count()), open_exits_(problem.op_count()),
      exits_(problem.op_count()), is_queued_(problem.op_count(), 0), ties_(problem.op_count()) {}

void ForwardTrap::start_at(const State& start) {
  lower_ = start;
  upper_ = start;
  free_.clear();
  live_.clear();
  lower_set_ = OpSet(problem_.op_count());
  fresh_.clear();
  again_.clear();
  ties_.clear();
  has_absorbed_ = false;
  absorbed_.clear();
  met_.clear();
  next_look_ = 0;
  has_skipped_ = false;
  planned_.clear();
  open_exits_.clear();
  std::ranges::fill(is_queued_, 0);
  for (Index storage = 0; storage < problem_.storage_count(); ++storage) {
    if (start.is_live(storage)) live_.insert(storage);
  }
  for (Index op = 0; op < problem_.op_count(); ++op) {
    side_[op] = start.contains(op) ? Side::kLower : Side::kOutside;
    if (start.contains(op)) lower_set_.insert(op);
    if (start.is_ready(op)) open_exit(op);
  }
}

// An op waits in one queue at most, and an earlier closure's flow says nothing in this one.
void ForwardTrap::open_exit(Index op) {
  open_exits_.insert(op);
  exits_[op] = Exit{};
  is_queued_[op] = 1;
  fresh_.push_back(op);
}

bool ForwardTrap::stalls(const State& start, Bytes threshold, Milestones* milestones, Control& control) {
  start_at(start);
  control.check(static_cast<std::uint32_t>(problem_.op_count()));
  if (!close(threshold, milestones, control)) return true;
  if (milestones != nullptr) milestones->insert(met_.begin(), met_.end());
  return false;
}

void ForwardTrap::look_again(Index exit) {
  if (is_queued_[exit] != 0) return;
  is_queued_[exit] = 1;
  again_.push_back(exit);
}

bool ForwardTrap::look_again_at_untracked() {
  if (!has_absorbed_) return false;
  has_absorbed_ = false;
  for (Index exit : ties_.take_untracked()) look_again(exit);
  return !again_.empty();
}

bool ForwardTrap::close(Bytes threshold, Milestones* milestones, Control& control) {
  while (!upper_.is_complete()) {
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
    if (!is_cheap(op, threshold, false, control)) continue;
    absorb(op, control);
    if (milestones != nullptr && free_.empty()) {
      if (milestones->contains(lower_set_)) return true;
      if ((met_.size() + 1) * lower_set_.bytes_held() <= kMilestoneBytes) met_.push_back(lower_set_);
    }
  }
  return true;
}

// Ancestors of an exit that are free belong to L for its cut; everything below M already does.
void ForwardTrap::paint_ancestors(Index op) {
  painted_.clear();
  auto paint_predecessors = [this](Index of) {
    for (Index predecessor : problem_.predecessors()[of]) {
      if (side_[predecessor] != Side::kFree) continue;
      side_[predecessor] = Side::kLower;
      painted_.push_back(predecessor);
    }
  };
  paint_predecessors(op);
  for (std::size_t head = 0; head < painted_.size(); ++head) paint_predecessors(painted_[head]);
  sources_.assign(live_.items().begin(), live_.items().end());
  for (Index painted : painted_) {
    for (Index storage : problem_.creates()[painted]) sources_.push_back(storage);
  }
}

void ForwardTrap::unpaint() {
  for (Index op : painted_) side_[op] = Side::kFree;
}

bool ForwardTrap::is_cheap(Index op, Bytes threshold, bool exact, Control& control) {
  Exit& exit = exits_[op];
  ties_.untie(op);
  exit.exact = exact;
  if (free_.empty()) {
    exit.value = lower_.step_cost(op);
    if (exit.value < threshold) return true;
  }
  // D itself is one of the downsets that the cut chooses from.
  if (!exact && upper_.step_cost(op) < threshold) return true;
  exit.value = std::numeric_limits<Bytes>::max();
  paint_ancestors(op);
  flow_ends_.clear();
  bool cheap = false;
  for (const auto& mode : problem_.modes(op)) {
    const Bytes working_set = problem_.working_set(op, mode);
    const Bytes enough = exact ? std::numeric_limits<Bytes>::max() : std::max<Bytes>(threshold - working_set, 0);
    const Bytes idle = cut_.least_idle_bytes(side_, op, mode, sources_, enough, !exact, control);
    exit.value = std::min(exit.value, working_set + idle);
    if (exit.value < threshold && !exact) {
      cheap = true;
      break;
    }
    cut_.sink_ops(flow_ends_);
  }
  unpaint();
  if (!cheap) ties_.tie(op, flow_ends_);
  return cheap;
}

void ForwardTrap::run_lower(Index op) {
  lower_.run(op);
  lower_set_.insert(op);
  planned_.push_back(op);
  side_[op] = Side::kLower;
  for (Index storage : problem_.touches()[op]) {
    if (!lower_.is_live(storage)) live_.erase(storage);
  }
  for (Index storage : problem_.creates()[op]) {
    if (lower_.is_live(storage)) live_.insert(storage);
  }
}

void ForwardTrap::advance_lower(std::span<const Index> ops) {
  for (Index op : ops) side_[op] = Side::kLower;
  // Absorption respects dependencies, so free_ lists them in a valid order.
  for (Index op : free_) {
    if (side_[op] == Side::kLower) run_lower(op);
  }
  std::erase_if(free_, [this](Index op) { return side_[op] == Side::kLower; });
}

void ForwardTrap::absorb(Index op, Control& control) {
  open_exits_.erase(op);
  absorbed_.push_back(op);
  upper_.run(op, [this](Index ready) { open_exit(ready); });
  // A blocked exit whose flow ended at this op has to find another way for it.
  ties_.take(op, [this](Index exit) { look_again(exit); });
  has_absorbed_ = true;
  if (free_.empty()) {
    if (lower_.growth(op) <= 0) {
      run_lower(op);
    } else {
      side_[op] = Side::kFree;
      free_.push_back(op);
    }
    return;
  }
  side_[op] = Side::kFree;
  free_.push_back(op);
  // Contraction only saves work, so M may lag behind: where looking for a larger one keeps failing, look less and less often.
  const bool is_due = free_.size() <= kAlwaysLook || free_.size() >= next_look_ ||
                      upper_.live_bytes() <= lower_.live_bytes();
  if (!is_due) {
    has_skipped_ = true;
    return;
  }
  if (has_skipped_ ? grow_lower(control) : grow_lower_with(op, control)) {
    next_look_ = 0;
  } else {
    next_look_ = 2 * free_.size();
  }
  has_skipped_ = false;
}

// When every downset without `op` has been looked at: M moves if one with it has no more live bytes than M.
bool ForwardTrap::grow_lower_with(Index op, Control& control) {
  paint_ancestors(op);
  side_[op] = Side::kLower;
  painted_.push_back(op);
  for (Index storage : problem_.creates()[op]) sources_.push_back(storage);
  const Bytes lower_live = lower_.live_bytes() - problem_.pinned_bytes();
  const Bytes least = cut_.least_idle_bytes(side_, kNoOp, {}, sources_, lower_live + 1, false, control);
  if (least > lower_live) {
    unpaint();
    return false;
  }
  std::vector<Index> still_free;
  for (Index other : free_) {
    if (side_[other] == Side::kFree) still_free.push_back(other);
  }
  std::vector<Index> inside = cut_.largest_minimiser(still_free);
  inside.insert(inside.end(), painted_.begin(), painted_.end());
  unpaint();
  advance_lower(inside);
  return true;
}

bool ForwardTrap::grow_lower(Control& control) {
  cut_.least_idle_bytes(side_, kNoOp, {}, live_.items(), std::numeric_limits<Bytes>::max(), false, control);
  const std::vector<Index> inside = cut_.largest_minimiser(free_);
  advance_lower(inside);
  return !inside.empty();
}

Bytes ForwardTrap::bound(Control& control) {
  Bytes least = std::numeric_limits<Bytes>::max();
  for (Index op : open_exits_.items()) {
    if (!exits_[op].exact) is_cheap(op, 0, true, control);
    least = std::min(least, exits_[op].value);
  }
  return least;
}

std::vector<Index> ForwardTrap::trap() const { return absorbed_; }

std::vector<Index> ForwardTrap::plan() const {
  std::vector<Index> plan = planned_;
  plan.insert(plan.end(), free_.begin(), free_.end());
  return plan;
}

TrapBound ForwardTrap::best(Bytes floor, Bytes enough, Control& control) {
  TrapBound best{floor, {}};
  Bytes threshold = floor + 1;
  start_at(State(problem_));
  while (!close(threshold, nullptr, control)) {
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
