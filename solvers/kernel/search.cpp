#include "search.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace lowtide {

Search::Search(const Problem& problem, Bytes threshold, SearchLimits limits, Control& control)
    : problem_(problem), threshold_(threshold), limits_(limits), control_(control), state_(problem),
      set_(problem.op_count()), ready_(problem.op_count()), cut_(problem), trap_(problem),
      least_rejected_(std::numeric_limits<Bytes>::max()), rank_(problem.op_count(), 0) {
  for (Index op = 0; op < problem.op_count(); ++op) {
    if (state_.is_ready(op)) ready_.insert(op);
  }
}

void Search::run_op(Index op) {
  if (state_.step_cost(op) > threshold_) throw std::logic_error("a step above the threshold: this is a fault of the kernel");
  ready_.erase(op);
  state_.run(op, [this](Index ready) { ready_.insert(ready); });
  set_.insert(op);
  order_.push_back(op);
}

void Search::undo_to(Index order_length) {
  while (static_cast<Index>(order_.size()) > order_length) {
    const Index op = order_.back();
    order_.pop_back();
    for (Index successor : problem_.successors()[op]) ready_.erase(successor);
    ready_.insert(op);
    state_.undo(op);
    set_.erase(op);
  }
}

std::int64_t Search::bytes_of(const Frame& frame) {
  return static_cast<std::int64_t>(sizeof(Frame) + (frame.branches.size() + frame.committed.size()) * sizeof(Index));
}

void Search::push_frame(Frame frame) {
  bytes_held_ += bytes_of(frame);
  stack_.push_back(std::move(frame));
}

Search::Frame Search::take_frame() {
  bytes_held_ -= bytes_of(stack_.back());
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  return frame;
}

void Search::drop_frames(std::size_t keep) {
  while (stack_.size() > keep) take_frame();
}

Index Search::node_here() {
  const auto [entry, is_new] = node_of_.try_emplace(set_, static_cast<Index>(nodes_.size()));
  if (is_new) {
    nodes_.emplace_back();
    bytes_held_ += static_cast<std::int64_t>(2 * set_.bytes_held() + sizeof(Node) + 64);
  }
  return entry->second;
}

void Search::close(Index node, const std::vector<Index>& committed) {
  nodes_[node].closed = true;
  for (Index other : committed) nodes_[other].closed = true;
}

// Ops that do not grow the live bytes and fit: each is a safe commit of its own. Running one never makes another dearer, so the cheapest comes
// first and all are run in the end whatever the order. Only an op that became ready, or the last user left of a storage, has to be looked at again.
std::vector<Index> Search::run_safe_ops() {
  std::vector<Index> run;
  std::vector<std::pair<Bytes, Index>> shrinking;  // (extra, op), the cheapest first; entries of ops that ran or got cheaper stay until met
  auto look_at = [&](Index op) {
    if (!state_.is_ready(op) || state_.growth(op) > 0) return;
    shrinking.emplace_back(state_.extra(op), op);
    std::ranges::push_heap(shrinking, std::greater<>());
  };
  for (Index op : ready_.items()) look_at(op);
  while (!shrinking.empty() && state_.live_bytes() + shrinking.front().first <= threshold_) {
    const Index op = shrinking.front().second;
    std::ranges::pop_heap(shrinking, std::greater<>());
    shrinking.pop_back();
    if (!state_.is_ready(op)) continue;
    control_.check();
    run_op(op);
    run.push_back(op);
    for (Index successor : problem_.successors()[op]) look_at(successor);
    for (Index storage : problem_.touches()[op]) {
      if (state_.users_left(storage) != 1) continue;
      for (Index user : problem_.users()[storage]) look_at(user);
    }
  }
  return run;
}

// Only states with more live bytes than all below them are pushed.
std::optional<std::size_t> Search::frame_to_jump_to() const {
  const auto at = std::ranges::lower_bound(stack_, state_.live_bytes(), {}, &Frame::live_bytes);
  if (at == stack_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - stack_.begin());
}

std::vector<Index> Search::commit_run(const Frame& from) {
  std::vector<Side> side(problem_.op_count(), Side::kOutside);
  const std::vector<Index> path(order_.begin() + from.order_length, order_.end());
  for (Index op : order_) side[op] = Side::kLower;
  for (Index op : path) side[op] = Side::kFree;
  std::vector<Index> sources;
  for (Index storage = 0; storage < problem_.storage_count(); ++storage) {
    const Index creator = problem_.creator(storage);
    if (creator < 0 || side[creator] == Side::kLower) sources.push_back(storage);
  }
  cut_.least_idle_bytes(side, kNoOp, {}, sources, std::numeric_limits<Bytes>::max(), false, control_);
  const std::vector<Index> inside = cut_.largest_minimiser(path);
  for (Index op : inside) side[op] = Side::kLower;
  std::vector<Index> run;
  for (Index op : path) {
    if (side[op] == Side::kLower) run.push_back(op);
  }
  return run;
}

void Search::sort_by_plan(std::span<Index> branches) const {
  std::ranges::sort(branches, [&](Index a, Index b) { return std::pair(rank_[a], a) < std::pair(rank_[b], b); });
}

std::vector<Index> Search::affordable_branches(Node& node) {
  std::vector<Index> branches;
  for (Index op : ready_.items()) {
    const Bytes cost = state_.step_cost(op);
    if (cost <= threshold_) {
      branches.push_back(op);
    } else {
      least_rejected_ = std::min(least_rejected_, cost);
    }
  }
  sort_by_plan(branches);
  node.then = Continuation::kBranch;
  node.then_run.clear();
  node.next.clear();
  return branches;
}

bool Search::is_dead(std::size_t at) {
  Frame& frame = stack_[at];
  State state = state_;
  for (std::size_t length = order_.size(); length > static_cast<std::size_t>(frame.order_length); --length) {
    state.undo(order_[length - 1]);
  }
  const std::size_t known = milestones_.size();
  const bool is_stalled = trap_.stalls(state, threshold_ + 1, &milestones_, control_);
  // A set is held by its node in the table and by the set's own block.
  bytes_held_ += static_cast<std::int64_t>((milestones_.size() - known) * (set_.bytes_held() + sizeof(OpSet) + 32));
  if (is_stalled) {
    dead_trap_ = trap_.trap();
    dead_bound_ = trap_.bound(control_);
    return true;
  }
  ++plans_;
  const std::vector<Index> plan = trap_.plan();
  for (std::size_t place = 0; place < plan.size(); ++place) {
    rank_[plan[place]] = static_cast<std::int64_t>(place) - (plans_ << 32);
  }
  frame.is_checked = true;
  sort_by_plan(std::span(frame.branches).subspan(frame.next_branch));
  return false;
}

// What holds of a state's trap holds of every later state's (their cuts have fewer downsets to choose from), so the frames of the stack
// are alive up to some depth and dead beyond it: gallop upwards from the current one, then halve.
void Search::prune_by_traps() {
  std::size_t dead = stack_.size() - 1;
  if (is_dead(dead)) {
    std::size_t alive_end = dead;  // frames below this index are known to be alive
    while (alive_end > 0 && !stack_[alive_end - 1].is_checked) --alive_end;
    std::vector<Index> trap = dead_trap_;
    Bytes bound = dead_bound_;
    for (std::size_t stride = 1; dead > alive_end;) {
      const std::size_t reach = std::min(stride, dead - alive_end);
      if (is_dead(dead - reach)) {
        dead -= reach;
        trap = dead_trap_;
        bound = dead_bound_;
        stride *= 2;
      } else {
        alive_end = dead - reach + 1;
        stride = std::max<std::size_t>((dead - alive_end + 1) / 2, 1);
      }
    }
    const Frame& frame = stack_[dead];
    Node& node = nodes_[frame.node];
    node.then = Continuation::kDead;
    node.then_run = std::move(trap);
    node.next.clear();
    least_rejected_ = std::min(least_rejected_, bound);
    bytes_held_ += static_cast<std::int64_t>(node.then_run.size() * sizeof(Index));
    close(frame.node, frame.committed);
    drop_frames(dead);
    undo_to(stack_.empty() ? 0 : stack_.back().order_length);
  }
}

bool Search::arrive(std::vector<Index> committed, Index order_length_before) {
  while (true) {
    control_.check(static_cast<std::uint32_t>(ready_.items().size()));
    Index node = node_here();
    std::vector<Index> safe_run;
    if (!nodes_[node].closed) safe_run = run_safe_ops();
    if (!safe_run.empty()) {
      const Index target = node_here();
      nodes_[node].then = Continuation::kCommit;
      nodes_[node].then_run = std::move(safe_run);
      nodes_[node].next = {{kNoOp, target}};
      committed.push_back(node);
      node = target;
    }
    if (nodes_[node].closed) {
      close(node, committed);
      undo_to(order_length_before);
      return false;
    }
    if (state_.is_complete()) return true;
    if (const auto jump = frame_to_jump_to()) {
      drop_frames(*jump + 1);
      Frame frame = take_frame();
      std::vector<Index> run = commit_run(frame);
      undo_to(frame.order_length);
      for (Index op : run) run_op(op);
      const Index target = node_here();
      Node& from = nodes_[frame.node];
      from.then = Continuation::kCommit;
      from.then_run = std::move(run);
      from.next = {{kNoOp, target}};
      committed = std::move(frame.committed);
      committed.push_back(frame.node);
      order_length_before = stack_.empty() ? 0 : stack_.back().order_length;
      continue;
    }
    push_frame(Frame{node, static_cast<Index>(order_.size()), state_.live_bytes(), std::move(committed),
                     affordable_branches(nodes_[node])});
    return false;
  }
}

SearchResult Search::run() {
  SearchResult result{SearchStatus::kExhausted, {}, 0, {}, 0};
  bool found = arrive({}, 0);
  while (!found && !stack_.empty()) {
    if (static_cast<std::int64_t>(nodes_.size()) > limits_.max_states || bytes_held_ > limits_.max_bytes) {
      result.status = SearchStatus::kStateLimit;
      break;
    }
    Frame& frame = stack_.back();
    const bool plan_failed = frame.next_branch > 0 || frame.branches.empty() || stack_.size() == 1;
    if (plan_failed && !frame.is_checked) {
      prune_by_traps();
      continue;
    }
    if (frame.next_branch == frame.branches.size()) {
      close(frame.node, frame.committed);
      drop_frames(stack_.size() - 1);
      undo_to(stack_.empty() ? 0 : stack_.back().order_length);
      continue;
    }
    const Index op = frame.branches[frame.next_branch++];
    const Index from = frame.node;
    const Index length = frame.order_length;
    run_op(op);
    const Index child = node_here();
    nodes_[from].next.emplace_back(op, child);
    bytes_held_ += static_cast<std::int64_t>(sizeof(std::pair<Index, Index>));
    found = arrive({}, length);
  }
  result.states = static_cast<std::int64_t>(nodes_.size());
  if (found) {
    result.status = SearchStatus::kFound;
    result.order = std::move(order_);
  } else if (result.status == SearchStatus::kExhausted) {
    result.lower_bound = least_rejected_;
    result.family = family();
  }
  return result;
}

// Only what the closed root leads to: states abandoned by a backjump are left out.
std::vector<FamilyState> Search::family() const {
  std::vector<FamilyState> states;
  std::vector<Index> place(nodes_.size(), -1);
  std::vector<Index> queue;
  auto add = [&](Index node, Index parent, std::vector<Index> run) {
    if (place[node] >= 0) return;
    place[node] = static_cast<Index>(states.size());
    states.push_back({parent, std::move(run), nodes_[node].then, nodes_[node].then_run});
    queue.push_back(node);
  };
  add(node_of_.at(OpSet(problem_.op_count())), -1, {});
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const Node& node = nodes_[queue[head]];
    for (const auto& [op, next] : node.next) {
      add(next, static_cast<Index>(head), node.then == Continuation::kCommit ? node.then_run : std::vector<Index>{op});
    }
  }
  return states;
}

}  // namespace lowtide
