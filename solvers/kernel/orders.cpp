#include "orders.hpp"

#include <algorithm>
#include <memory>
#include <queue>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace lowtide {

namespace {

// Smaller runs first. `stamp` tells a current entry from one that a later change replaced.
struct Entry {
  Bytes first;
  Bytes second;
  Index tie;
  Index op;
  Index stamp;
  bool operator>(const Entry& other) const {
    return std::tie(first, second, tie, op) > std::tie(other.first, other.second, other.tie, other.op);
  }
};

using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

class Greedy {
 public:
  Greedy(const Problem& problem, GreedyRule rule, Bytes floor, Control& control)
      : problem_(problem), rule_(rule), peak_(floor), control_(control), state_(problem),
        stamp_(problem.op_count(), 0), arrival_(problem.op_count(), 0) {}

  std::vector<Index> run() {
    for (Index op = 0; op < problem_.op_count(); ++op) {
      if (state_.is_ready(op)) arrive(op);
    }
    while (!state_.is_complete()) {
      control_.check();
      run_op(next());
    }
    return std::move(order_);
  }

 private:
  void arrive(Index op) {
    arrival_[op] = ++arrivals_;
    push(op);
  }

  void push(Index op) {
    const Index stamp = ++stamp_[op];
    const Bytes growth = state_.growth(op);
    const Bytes extra = state_.extra(op);
    if (growth <= 0) shrinking_.push({extra, growth, op, op, stamp});
    switch (rule_) {
      case GreedyRule::kGiven: ready_.push({0, 0, op, op, stamp}); break;
      case GreedyRule::kLeastGrowth: ready_.push({growth, extra, -arrival_[op], op, stamp}); break;
      case GreedyRule::kLeastStep: ready_.push({extra, growth, -arrival_[op], op, stamp}); break;
      case GreedyRule::kNewest: ready_.push({-arrival_[op], growth, op, op, stamp}); break;
    }
  }

  bool is_current(const Entry& entry) const {
    return state_.is_ready(entry.op) && stamp_[entry.op] == entry.stamp;
  }

  Index next() {
    while (!shrinking_.empty()) {
      const Entry entry = shrinking_.top();
      if (is_current(entry) && state_.live_bytes() + entry.first > peak_) break;
      shrinking_.pop();
      if (is_current(entry)) return entry.op;
    }
    while (!is_current(ready_.top())) ready_.pop();
    const Index op = ready_.top().op;
    ready_.pop();
    return op;
  }

  void run_op(Index op) {
    peak_ = std::max(peak_, state_.step_cost(op));
    state_.run(op, [this](Index ready) { newly_ready_.push_back(ready); });
    order_.push_back(op);
    for (Index ready : newly_ready_) arrive(ready);
    newly_ready_.clear();
    // A storage with one user left makes that user cheaper.
    for (Index storage : problem_.touches()[op]) {
      if (state_.users_left(storage) != 1) continue;
      for (Index user : problem_.users()[storage]) {
        if (state_.is_ready(user)) push(user);
      }
    }
  }

  const Problem& problem_;
  GreedyRule rule_;
  Bytes peak_;
  Control& control_;
  State state_;
  std::vector<Index> stamp_;
  std::vector<Index> arrival_;
  std::vector<Index> newly_ready_;
  std::vector<Index> order_;
  Queue shrinking_;
  Queue ready_;
  Index arrivals_ = 0;
};

// Works on the state from above: an op may be taken back when all its successors have been.
class GreedyFromTheEnd {
 public:
  GreedyFromTheEnd(const Problem& problem, Control& control)
      : problem_(problem), control_(control), waiting_(problem.op_count()), stamp_(problem.op_count(), 0),
        users_back_(problem.storage_count(), 0), gone_(problem.op_count(), 0) {}

  std::vector<Index> run() {
    for (Index op = 0; op < problem_.op_count(); ++op) {
      waiting_[op] = static_cast<Index>(problem_.successors()[op].size());
      if (waiting_[op] == 0) push(op);
    }
    while (static_cast<Index>(order_.size()) < problem_.op_count()) {
      control_.check();
      while (gone_[ready_.top().op] != 0 || stamp_[ready_.top().op] != ready_.top().stamp) ready_.pop();
      take_back(ready_.top().op);
    }
    std::ranges::reverse(order_);
    return std::move(order_);
  }

 private:
  void push(Index op) {
    Bytes revived = 0;  // touched storages that are dead until the op is taken back
    for (Index storage : problem_.touches()[op]) {
      if (users_back_[storage] == 0 && !problem_.is_held(storage)) revived += problem_.bytes(storage);
    }
    Bytes dropped = 0;  // created storages that are live after the op
    for (Index storage : problem_.creates()[op]) {
      if (users_back_[storage] > 0 || problem_.is_held(storage)) dropped += problem_.bytes(storage);
    }
    const Bytes growth = revived - dropped;
    const Bytes step = growth + problem_.step_extra(op);
    ready_.push({growth <= 0 ? 0 : 1, growth <= 0 ? growth : step, -op, op, ++stamp_[op]});
  }

  void take_back(Index op) {
    gone_[op] = 1;
    order_.push_back(op);
    for (Index storage : problem_.touches()[op]) {
      if (++users_back_[storage] != 1) continue;
      for (Index user : problem_.users()[storage]) {
        if (gone_[user] == 0 && waiting_[user] == 0) push(user);
      }
      const Index creator = problem_.creator(storage);
      if (creator >= 0 && waiting_[creator] == 0 && gone_[creator] == 0) push(creator);
    }
    for (Index predecessor : problem_.predecessors()[op]) {
      if (--waiting_[predecessor] == 0) push(predecessor);
    }
  }

  const Problem& problem_;
  Control& control_;
  std::vector<Index> waiting_;
  std::vector<Index> stamp_;
  std::vector<Index> users_back_;  // users that have been taken back
  std::vector<std::uint8_t> gone_;
  std::vector<Index> order_;
  Queue ready_;
};

// How a beam state was reached, shared between its descendants.
struct Step {
  Index op;
  std::shared_ptr<const Step> before;
};

struct BeamState {
  State state;
  std::shared_ptr<const Step> last;
  std::vector<Index> ready;
  Bytes peak;
  std::uint64_t fingerprint;  // only merges duplicates, so a collision costs quality, never correctness
};

std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

void run_in_beam(BeamState& beam, Index op) {
  beam.peak = std::max(beam.peak, beam.state.step_cost(op));
  std::erase(beam.ready, op);
  beam.state.run(op, [&beam](Index ready) { beam.ready.push_back(ready); });
  beam.last = std::make_shared<const Step>(op, beam.last);
  beam.fingerprint ^= mixed(static_cast<std::uint64_t>(op));
}

void run_safe_commits(BeamState& beam, Control& control) {
  for (bool moved = true; moved;) {
    moved = false;
    control.check(static_cast<std::uint32_t>(beam.ready.size()));
    for (Index op : beam.ready) {
      if (beam.state.growth(op) > 0 || beam.state.step_cost(op) > beam.peak) continue;
      run_in_beam(beam, op);
      moved = true;
      break;
    }
  }
}

// Unlinks a long chain without recursion.
void release(std::shared_ptr<const Step> step) {
  while (step && step.use_count() == 1) {
    std::shared_ptr<const Step> before = step->before;
    step = std::move(before);
  }
}

constexpr std::int64_t kBeamBytes = std::int64_t{128} << 20;

struct Candidate {
  Bytes peak;
  Bytes live;
  Index parent;
  Index op;
  auto operator<=>(const Candidate&) const = default;
};

}  // namespace

std::vector<Index> greedy_order(const Problem& problem, GreedyRule rule, Bytes floor, Control& control) {
  return Greedy(problem, rule, floor, control).run();
}

std::vector<Index> greedy_order_from_the_end(const Problem& problem, Control& control) {
  return GreedyFromTheEnd(problem, control).run();
}

BeamResult beam_order(const Problem& problem, Index width, Bytes cutoff, Control& control) {
  BeamState start{State(problem), nullptr, {}, 0, 0};
  for (Index op = 0; op < problem.op_count(); ++op) {
    if (start.state.is_ready(op)) start.ready.push_back(op);
    start.peak = std::max(start.peak, problem.working_set(op));
  }
  run_safe_commits(start, control);
  // Per state its arrays, and in the worst case a chain of steps of its own; twice, for the beam and the next one.
  const std::int64_t state_bytes = 2 * (std::int64_t{64} * problem.op_count() + std::int64_t{4} * problem.storage_count());
  width = static_cast<Index>(std::clamp<std::int64_t>(kBeamBytes / std::max<std::int64_t>(state_bytes, 1), 1, width));
  std::vector<BeamState> beam;
  beam.push_back(std::move(start));
  BeamResult result;
  std::vector<Candidate> candidates;
  while (!beam.empty() && result.order.empty()) {
    candidates.clear();
    for (std::size_t at = 0; at < beam.size(); ++at) {
      const BeamState& from = beam[at];
      if (from.state.is_complete()) {
        result.peak = from.peak;
        for (const Step* step = from.last.get(); step != nullptr; step = step->before.get()) {
          result.order.push_back(step->op);
        }
        std::ranges::reverse(result.order);
        break;
      }
      control.check(static_cast<std::uint32_t>(from.ready.size()));
      for (Index op : from.ready) {
        const Bytes peak = std::max(from.peak, from.state.step_cost(op));
        if (peak < cutoff) {
          candidates.push_back({peak, from.state.live_bytes() + from.state.growth(op), static_cast<Index>(at), op});
        }
      }
    }
    if (!result.order.empty()) break;
    // Enough to fill the beam unless most are duplicates; sorting all would take too long where many ops are ready.
    const auto wanted = std::min(candidates.size(), static_cast<std::size_t>(width) * 8);
    std::ranges::nth_element(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(wanted));
    candidates.resize(wanted);
    std::ranges::sort(candidates);
    std::vector<BeamState> next;
    std::unordered_set<std::uint64_t> seen;
    for (const Candidate& candidate : candidates) {
      if (static_cast<Index>(next.size()) >= width) break;
      control.check_now();
      const BeamState& from = beam[candidate.parent];
      if (!seen.insert(from.fingerprint ^ mixed(static_cast<std::uint64_t>(candidate.op))).second) continue;
      BeamState child = from;
      run_in_beam(child, candidate.op);
      run_safe_commits(child, control);
      next.push_back(std::move(child));
    }
    for (BeamState& old : beam) release(std::move(old.last));
    beam = std::move(next);
  }
  for (BeamState& old : beam) release(std::move(old.last));
  return result;
}

}  // namespace lowtide
