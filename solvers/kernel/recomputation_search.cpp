#include "recomputation_search.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace lowtide {

namespace {

// Where an op has more ways to make room, the search no longer claims to have seen everything.
constexpr std::size_t kMaxWaysToMakeRoom = 4096;

// The smallest sets of items (sizes in descending order) with at least `wanted` bytes together: none holds an item it could do without.
class SmallestCovers {
 public:
  SmallestCovers(std::vector<Bytes> sizes, Bytes wanted) : sizes_(std::move(sizes)), left_(sizes_.size() + 1, 0) {
    for (std::size_t i = sizes_.size(); i-- > 0;) left_[i] = left_[i + 1] + sizes_[i];
    extend(0, wanted);
  }
  const std::vector<std::vector<std::size_t>>& covers() const { return covers_; }
  bool is_complete() const { return is_complete_; }

 private:
  // In descending order the last item taken is the smallest: a set that needed it needs all of them.
  void extend(std::size_t next, Bytes wanted) {
    if (wanted <= 0) {
      if (covers_.size() >= kMaxWaysToMakeRoom) {
        is_complete_ = false;
      } else {
        covers_.push_back(taken_);
      }
      return;
    }
    for (std::size_t i = next; i < sizes_.size() && left_[i] >= wanted && is_complete_; ++i) {
      taken_.push_back(i);
      extend(i + 1, wanted - sizes_[i]);
      taken_.pop_back();
    }
  }

  std::vector<Bytes> sizes_;
  std::vector<Bytes> left_;  // of the items from each one on
  std::vector<std::size_t> taken_;
  std::vector<std::vector<std::size_t>> covers_;
  bool is_complete_ = true;
};

}  // namespace

RecomputationSearch::RecomputationSearch(const RecomputationProblem& problem, const RecomputationQuestion& question, Control& control)
    : problem_(problem), question_(question), control_(control), layout_(problem), outlook_(problem, layout_), ahead_(problem, layout_) {}

bool RecomputationSearch::is_later(const Entry& a, const Entry& b) const {
  if (question_.goal != RecomputationGoal::kCheapest && a.first_runs != b.first_runs) return a.first_runs < b.first_runs;
  if (question_.goal == RecomputationGoal::kOnDemand) return a.node < b.node;  // deep first: a chain of runs is gone through before others
  if (a.extra_cost != b.extra_cost) return a.extra_cost > b.extra_cost;
  if (a.first_runs != b.first_runs) return a.first_runs < b.first_runs;
  return a.node < b.node;
}

void RecomputationSearch::offer(const Words& state, std::int64_t extra_cost, Index parent, Index op, Index first_runs) {
  const auto [entry, is_new] = node_of_.try_emplace(state, static_cast<Index>(nodes_.size()));
  const Index index = entry->second;
  if (is_new) {
    nodes_.push_back({state, extra_cost, parent, op, first_runs});
  } else {
    Node& node = nodes_[static_cast<std::size_t>(index)];
    if (extra_cost >= node.extra_cost) return;
    node.extra_cost = extra_cost;
    node.parent = parent;
    node.op = op;
  }
  queue_.push_back({extra_cost, first_runs, index});
  std::ranges::push_heap(queue_, [this](const Entry& a, const Entry& b) { return is_later(a, b); });
}

void RecomputationSearch::run(RecomputationResult& result) {
  Words start(layout_.word_count(), 0);
  for (Index s = 0; s < problem_.storage_count(); ++s) {
    const RecomputationStorage& storage = problem_.storages[static_cast<std::size_t>(s)];
    if (storage.creator < 0 && (!storage.users.empty() || storage.is_output || storage.is_pinned)) layout_.set_live(start, s, true);
  }
  result = {};
  offer(start, 0, -1, -1, 0);
  while (!queue_.empty()) {
    control_.check_now();
    std::ranges::pop_heap(queue_, [this](const Entry& a, const Entry& b) { return is_later(a, b); });
    const Entry entry = queue_.back();
    queue_.pop_back();
    const Node& node = nodes_[static_cast<std::size_t>(entry.node)];
    if (entry.extra_cost != node.extra_cost) continue;  // a better one came since
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
    if (question_.goal == RecomputationGoal::kOnDemand) {
      expand_on_demand(entry.node);
    } else {
      expand(entry.node);
    }
  }
  if (!has_given_up_ && question_.goal != RecomputationGoal::kOnDemand) result.status = RecomputationStatus::kExhausted;
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

void RecomputationSearch::expand_on_demand(Index node) {
  here_ = nodes_[static_cast<std::size_t>(node)].state;
  outlook_.look_at(here_);
  control_.check(static_cast<std::uint32_t>(problem_.ops.size()));
  demanded_ = demanded_ops();
  for (Index op : demanded_) {
    if (is_ready(here_, op)) try_op(node, op, Take::kAlways);
  }
}

// The next first run if it is ready; else what has to run again for it, directly or not; in the end, what the caller still lacks.
std::vector<Index> RecomputationSearch::demanded_ops() const {
  std::vector<Index> waiting;
  std::vector<std::uint8_t> is_demanded(problem_.ops.size(), 0);
  auto demand = [&](Index op) {
    if (is_demanded[static_cast<std::size_t>(op)] != 0) return;
    is_demanded[static_cast<std::size_t>(op)] = 1;
    waiting.push_back(op);
  };
  auto demand_storage = [&](Index storage) {
    const Index creator = problem_.storages[static_cast<std::size_t>(storage)].creator;
    if (!layout_.is_live(here_, storage) && creator >= 0) demand(creator);
  };
  auto demand_edits = [&](const std::vector<Index>& edits) {
    for (Index edit : edits) {
      if (layout_.is_made(here_, edit)) continue;
      for (Index op = 0; op < problem_.op_count(); ++op) {
        if (std::ranges::find(problem_.ops[static_cast<std::size_t>(op)].makes_edits, edit) != problem_.ops[static_cast<std::size_t>(op)].makes_edits.end()) demand(op);
      }
    }
  };
  Index next = 0;
  while (next < problem_.op_count() && layout_.has_run(here_, next)) ++next;
  if (next < problem_.op_count()) {
    if (is_ready(here_, next)) return {next};
    demand(next);
  } else {
    for (Index s = 0; s < problem_.storage_count(); ++s) {
      const RecomputationStorage& storage = problem_.storages[static_cast<std::size_t>(s)];
      if (storage.is_output) demand_storage(s);
      demand_edits(storage.final_edits);
    }
  }
  for (std::size_t head = 0; head < waiting.size(); ++head) {
    const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(waiting[head])];
    for (Index storage : data.touches) demand_storage(storage);
    demand_edits(data.needed_edits);
  }
  std::erase_if(waiting, [&](Index op) { return op != next && !outlook_.may_run_again(op); });
  return waiting;
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

// With kIfSafe: whether the op was a safe commit, and then its move was offered. Otherwise all its moves are offered.
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
  Words during;
  set_running(here_, op, during);
  Words after = during;
  ahead_.look_at(after);
  control_.check(static_cast<std::uint32_t>(problem_.ops.size()));
  for (Index s = 0; s < problem_.storage_count(); ++s) {
    if (layout_.is_live(after, s) && (!ahead_.is_useful(s) || is_out_of_demand(s, op))) free_storage(after, s);
  }
  // What nobody reads any more is no longer there during the step, except what the op itself touches or creates.
  Bytes base = live_bytes(after) + data.workspace_bytes;
  for (const auto* own : {&data.touches, &data.creates}) {
    for (Index s : *own) {
      if (!layout_.is_live(after, s)) base += size_of(s);
    }
  }
  const Index first_runs = from.first_runs + (has_run ? 0 : 1);
  if (take == Take::kIfSafe) {
    if (base - saving(after, op) > question_.budget_bytes || !is_safe(op, here_, after) || ahead_.is_dead(after)) return false;
    offer(after, extra_cost, node, op, first_runs);
    return true;
  }
  const std::vector<Index> reusable = inputs_to_reuse(after, op);
  const std::vector<Index> idle = what_may_go(after, op);
  if (reusable.size() > 8) has_given_up_ = true;
  const std::uint32_t reuse_count = std::uint32_t{1} << std::min<std::size_t>(reusable.size(), 8);
  for (std::uint32_t reused = 0; reused < reuse_count; ++reused) {
    Words roomier = after;
    for (std::size_t i = 0; i < reusable.size(); ++i) {
      if ((reused >> i & 1) != 0) free_storage(roomier, reusable[i]);
    }
    std::vector<Bytes> sizes;
    for (Index s : idle) sizes.push_back(size_of(s));
    const SmallestCovers ways(std::move(sizes), base - saving(roomier, op) - question_.budget_bytes);
    if (!ways.is_complete()) has_given_up_ = true;
    // The last one offered is the first that a search deep first follows: the one with the largest storages.
    for (auto freed = ways.covers().rbegin(); freed != ways.covers().rend(); ++freed) {
      Words next = roomier;
      for (std::size_t i : *freed) free_storage(next, idle[i]);
      ahead_.look_at(next);
      control_.check(static_cast<std::uint32_t>(problem_.ops.size()));
      for (Index s = 0; s < problem_.storage_count(); ++s) {
        if (layout_.is_live(next, s) && !ahead_.is_useful(s)) free_storage(next, s);
      }
      if (!ahead_.is_dead(next)) offer(next, extra_cost, node, op, first_runs);
    }
    if (base - saving(after, op) <= question_.budget_bytes) break;  // it fits as it is
    ahead_.look_at(after);
  }
  return true;
}

// On demand, what no first run waits for is kept only for the runs that lead up to the next one, or if nobody can make it again.
bool RecomputationSearch::is_out_of_demand(Index storage, Index running) const {
  if (question_.goal != RecomputationGoal::kOnDemand || ahead_.is_needed(storage) || !ahead_.can_be_created(storage)) return false;
  return std::ranges::none_of(demanded_, [&](Index op) {
    const auto& touches = problem_.ops[static_cast<std::size_t>(op)].touches;
    return op != running && std::ranges::find(touches, storage) != touches.end();
  });
}

// Idle storages that can be made again or that nobody has to have, the largest first.
std::vector<Index> RecomputationSearch::what_may_go(const Words& during, Index op) const {
  const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(op)];
  std::vector<Index> found;
  for (Index s = 0; s < problem_.storage_count(); ++s) {
    if (!layout_.is_live(during, s) || problem_.storages[static_cast<std::size_t>(s)].is_pinned || size_of(s) == 0) continue;
    if (std::ranges::find(data.touches, s) != data.touches.end() || std::ranges::find(data.creates, s) != data.creates.end()) continue;
    if (ahead_.can_be_created(s) || !ahead_.is_needed(s)) found.push_back(s);
  }
  std::ranges::stable_sort(found, std::greater<>(), [this](Index s) { return size_of(s); });
  return found;
}

// Inputs that would be kept, but whose memory an output can take over if they are not.
std::vector<Index> RecomputationSearch::inputs_to_reuse(const Words& during, Index op) const {
  std::vector<Index> found;
  for (const auto& mode : problem_.ops[static_cast<std::size_t>(op)].modes) {
    for (const InPlaceSaving& pair : mode) {
      const bool may_go = ahead_.can_be_created(pair.input) || !ahead_.is_needed(pair.input);
      const bool is_known = std::ranges::find(found, pair.input) != found.end();
      if (layout_.is_live(during, pair.input) && may_go && !is_known) found.push_back(pair.input);
    }
  }
  return found;
}

// A first run that only frees what stays until it runs anyway: inputs of which it is the last possible reader and which nobody can make again.
// Any plan from here keeps those until that run; moving the run to this point replaces them by what it creates, which is no larger
// (docs/recomputation.md, "Safe commits").
bool RecomputationSearch::is_safe(Index op, const Words& before, const Words& after) const {
  const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(op)];
  if (!data.makes_edits.empty()) return false;
  Bytes growth = 0;
  for (Index s : data.creates) {
    if (layout_.is_live(after, s)) growth += size_of(s);
  }
  for (Index s : data.touches) {
    if (layout_.is_live(before, s) && !layout_.is_live(after, s) && !outlook_.can_be_created(s)) {
      growth -= size_of(s);
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
    if (layout_.is_live(state, s)) live += size_of(s);
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
