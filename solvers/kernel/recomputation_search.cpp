#include "recomputation_search.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace lowtide {

namespace {

// An op that leaves more storages to be kept or freed has too many ways to go on for an exhaustive search.
constexpr std::size_t kMaxUndecided = 16;

}  // namespace

RecomputationSearch::RecomputationSearch(const RecomputationProblem& problem, const RecomputationQuestion& question, Control& control)
    : problem_(problem), question_(question), control_(control), layout_(problem), outlook_(problem, layout_), ahead_(problem, layout_) {}

bool RecomputationSearch::is_later(const Entry& a, const Entry& b) const {
  if (question_.goal == RecomputationGoal::kAny && a.first_runs != b.first_runs) return a.first_runs < b.first_runs;
  if (a.extra_cost != b.extra_cost) return a.extra_cost > b.extra_cost;
  if (a.peak_bytes != b.peak_bytes) return a.peak_bytes > b.peak_bytes;
  if (a.first_runs != b.first_runs) return a.first_runs < b.first_runs;
  return a.node < b.node;
}

// (extra cost, peak) grows along every path and keeps its order when two paths go on alike: sums and maxima. So the first label that leaves
// the queue is a state's least one, as in Dijkstra's algorithm.
void RecomputationSearch::offer(const Words& state, std::int64_t extra_cost, Bytes peak_bytes, Index parent, Index op, Index first_runs) {
  const auto [entry, is_new] = node_of_.try_emplace(state, static_cast<Index>(nodes_.size()));
  const Index index = entry->second;
  if (is_new) {
    nodes_.push_back({state, extra_cost, peak_bytes, parent, op, first_runs});
  } else {
    Node& node = nodes_[static_cast<std::size_t>(index)];
    const bool is_better = question_.goal == RecomputationGoal::kCheapest
                               ? std::pair(extra_cost, peak_bytes) < std::pair(node.extra_cost, node.peak_bytes)
                               : extra_cost < node.extra_cost;
    if (!is_better) return;
    node.extra_cost = extra_cost;
    node.peak_bytes = peak_bytes;
    node.parent = parent;
    node.op = op;
  }
  queue_.push_back({extra_cost, peak_bytes, first_runs, index});
  std::ranges::push_heap(queue_, [this](const Entry& a, const Entry& b) { return is_later(a, b); });
}

void RecomputationSearch::run(RecomputationResult& result) {
  Words start(layout_.word_count(), 0);
  for (Index s = 0; s < problem_.storage_count(); ++s) {
    const RecomputationStorage& storage = problem_.storages[static_cast<std::size_t>(s)];
    if (storage.creator < 0 && (!storage.users.empty() || storage.is_output || storage.is_pinned)) layout_.set_live(start, s, true);
  }
  result = {};
  offer(start, 0, question_.least_peak_bytes, -1, -1, 0);
  while (!queue_.empty()) {
    control_.check_now();
    std::ranges::pop_heap(queue_, [this](const Entry& a, const Entry& b) { return is_later(a, b); });
    const Entry entry = queue_.back();
    queue_.pop_back();
    const Node& node = nodes_[static_cast<std::size_t>(entry.node)];
    if (entry.extra_cost != node.extra_cost || entry.peak_bytes != node.peak_bytes) continue;  // a better one came since
    if (question_.goal == RecomputationGoal::kCheapest && !has_given_up_) result.least_extra_cost = entry.extra_cost;
    if (is_complete(node.state)) {
      // Somewhere a cheaper way may have been passed over.
      result.status = RecomputationStatus::kFound;
      result.runs = runs_to(entry.node);
      result.extra_cost = entry.extra_cost;
      result.is_least = question_.goal == RecomputationGoal::kCheapest && !has_given_up_;
      return;
    }
    if (result.states >= question_.max_states) return;
    ++result.states;
    expand(entry.node);
  }
  if (!has_given_up_) result.status = RecomputationStatus::kExhausted;
}

void RecomputationSearch::expand(Index node) {
  here_ = nodes_[static_cast<std::size_t>(node)].state;
  outlook_.look_at(here_);
  control_.check(static_cast<std::uint32_t>(problem_.ops.size()));
  std::vector<Index> ready;
  for (Index op = 0; op < problem_.op_count(); ++op) {
    const bool has_run = layout_.has_run(here_, op);
    if (has_run && !(outlook_.may_run_again(op) && outlook_.is_relevant(op) && makes_something_new(op))) continue;
    if (is_ready(here_, op)) {
      if (!has_run && try_op(node, op, Take::kIfSafe)) return;
      ready.push_back(op);
    }
    if (!has_run && question_.keeps_given_order) {
      // The next first run; those after it have to wait, but any op before may run again.
      break;
    }
  }
  for (Index op : ready) try_op(node, op, Take::kAlways);
}

bool RecomputationSearch::is_ready(const Words& state, Index op) const {
  const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(op)];
  auto has_run = [&](Index other) { return layout_.has_run(state, other); };
  auto is_live = [&](Index storage) { return layout_.is_live(state, storage); };
  auto is_made = [&](Index edit) { return layout_.is_made(state, edit); };
  return std::ranges::all_of(data.predecessors, has_run) && std::ranges::all_of(data.touches, is_live) &&
         std::ranges::all_of(data.needed_edits, is_made) && std::ranges::none_of(data.forbidden_edits, is_made);
}

// A run whose useful results are all there already only costs: the plan without it needs no more at any step.
bool RecomputationSearch::makes_something_new(Index op) const {
  const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(op)];
  return std::ranges::any_of(data.creates, [&](Index s) { return outlook_.is_useful(s) && !layout_.is_live(here_, s); }) ||
         std::ranges::any_of(data.makes_edits, [&](Index e) { return outlook_.is_useful_edit(e) && !layout_.is_made(here_, e); });
}

// With kIfSafe: whether the op was a safe commit, and then its moves were offered. Otherwise they are offered in any case.
bool RecomputationSearch::try_op(Index node, Index op, Take take) {
  const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(op)];
  const bool has_run = layout_.has_run(here_, op);
  const Node from = nodes_[static_cast<std::size_t>(node)];  // a copy: offers move the nodes
  std::int64_t extra_cost = from.extra_cost;
  if (has_run) {
    if (data.cost > std::numeric_limits<std::int64_t>::max() - extra_cost) throw std::overflow_error("extra cost beyond 2^63");
    extra_cost += data.cost;
    if (question_.max_extra_cost && extra_cost > *question_.max_extra_cost) return false;
  }
  set_running(here_, op, during_);
  const Bytes step_without_saving = live_bytes(during_) + data.workspace_bytes;
  after_ = during_;
  ahead_.look_at(after_);
  control_.check(static_cast<std::uint32_t>(problem_.ops.size()));
  for (Index s = 0; s < problem_.storage_count(); ++s) {
    if (layout_.is_live(after_, s) && !ahead_.is_useful(s)) free_storage(after_, s);
  }
  undecided_.clear();
  for (const auto* own : {&data.touches, &data.creates}) {
    for (Index s : *own) {
      if (!layout_.is_live(after_, s) || problem_.storages[static_cast<std::size_t>(s)].is_pinned) continue;
      // What some op still needs and nobody can make again has to stay.
      if (ahead_.can_be_created(s) || !ahead_.is_needed(s)) undecided_.push_back(s);
    }
  }
  if (take == Take::kIfSafe) {
    const Bytes limit = question_.goal == RecomputationGoal::kCheapest ? from.peak_bytes : question_.budget_bytes;
    if (!undecided_.empty() || step_without_saving - saving(after_, op) > limit || !is_safe(op, here_, after_)) return false;
  }
  if (undecided_.size() > kMaxUndecided) {
    has_given_up_ = true;
    undecided_.resize(kMaxUndecided);
  }
  const Words kept_all = after_;
  const std::vector<Index> undecided = undecided_;
  for (std::uint32_t freed = 0; freed < std::uint32_t{1} << undecided.size(); ++freed) {
    Words after = kept_all;
    for (std::size_t i = 0; i < undecided.size(); ++i) {
      if ((freed >> i & 1) != 0) free_storage(after, undecided[i]);
    }
    const Bytes step = step_without_saving - saving(after, op);
    if (step > question_.budget_bytes) continue;
    if (freed != 0) {
      ahead_.look_at(after);
      control_.check(static_cast<std::uint32_t>(problem_.ops.size()));
    }
    if (ahead_.is_dead(after)) continue;
    offer(after, extra_cost, std::max(from.peak_bytes, step), node, op, from.first_runs + (has_run ? 0 : 1));
  }
  return true;
}

// A first run that only frees what stays until it runs anyway: inputs of which it is the last possible reader and which nobody can make again.
// Any plan from here keeps those until that run; moving the run to this point replaces them by what it creates, which is no larger
// (docs/recomputation.md, "Safe commits").
bool RecomputationSearch::is_safe(Index op, const Words& before, const Words& after) const {
  const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(op)];
  if (!data.makes_edits.empty()) return false;
  Bytes growth = 0;
  for (Index s : data.creates) {
    if (layout_.is_live(after, s)) growth += problem_.storages[static_cast<std::size_t>(s)].size_bytes;
  }
  for (Index s : data.touches) {
    if (layout_.is_live(before, s) && !layout_.is_live(after, s) && !outlook_.can_be_created(s)) {
      growth -= problem_.storages[static_cast<std::size_t>(s)].size_bytes;
    }
  }
  return growth <= 0;
}

void RecomputationSearch::set_running(const Words& before, Index op, Words& during) const {
  const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(op)];
  during = before;
  for (Index s : data.creates) {
    free_storage(during, s);  // the older instance had its last reader before
    layout_.set_live(during, s, true);
  }
  for (Index edit : data.makes_edits) layout_.set_made(during, edit, true);
  if (!layout_.has_run(before, op)) {
    layout_.set_run(during, op);
  } else if (data.cap != 0) {
    layout_.count_rerun(during, op);
  }
}

void RecomputationSearch::free_storage(Words& state, Index storage) const {
  layout_.set_live(state, storage, false);
  for (Index edit : problem_.storages[static_cast<std::size_t>(storage)].edits) layout_.set_made(state, edit, false);
}

bool RecomputationSearch::is_complete(const Words& state) const {
  for (Index op = 0; op < problem_.op_count(); ++op) {
    if (!layout_.has_run(state, op)) return false;
  }
  for (Index s = 0; s < problem_.storage_count(); ++s) {
    const RecomputationStorage& storage = problem_.storages[static_cast<std::size_t>(s)];
    if (storage.is_output && !layout_.is_live(state, s)) return false;
    for (Index edit : storage.final_edits) {
      if (!layout_.is_made(state, edit)) return false;
    }
  }
  return true;
}

Bytes RecomputationSearch::live_bytes(const Words& state) const {
  Bytes live = 0;
  for (Index s = 0; s < problem_.storage_count(); ++s) {
    if (layout_.is_live(state, s)) live += problem_.storages[static_cast<std::size_t>(s)].size_bytes;
  }
  return live;
}

// The most that in-place pairs save whose input is freed at this step.
Bytes RecomputationSearch::saving(const Words& after, Index op) const {
  Bytes most = 0;
  for (const auto& mode : problem_.ops[static_cast<std::size_t>(op)].modes) {
    Bytes saved = 0;
    for (const InPlaceSaving& pair : mode) {
      if (!layout_.is_live(after, pair.input)) saved += pair.saving;
    }
    most = std::max(most, saved);
  }
  return most;
}

std::vector<Index> RecomputationSearch::runs_to(Index node) const {
  std::vector<Index> runs;
  for (; nodes_[static_cast<std::size_t>(node)].parent >= 0; node = nodes_[static_cast<std::size_t>(node)].parent) {
    runs.push_back(nodes_[static_cast<std::size_t>(node)].op);
  }
  std::ranges::reverse(runs);
  return runs;
}

}  // namespace lowtide
