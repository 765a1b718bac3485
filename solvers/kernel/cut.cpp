#include "cut.hpp"

#include <algorithm>
#include <limits>

namespace lowtide {

namespace {
constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max();
}

MinCut::MinCut(const Problem& problem)
    : problem_(problem),
      storage_epoch_(problem.storage_count(), 0),
      op_epoch_(problem.op_count(), 0),
      capacity_(problem.storage_count(), 0),
      fed_(problem.storage_count(), 0),
      to_user_(problem.users().item_count(), 0),
      to_end_(problem.storage_count(), 0),
      to_predecessor_(problem.predecessors().item_count(), 0),
      visited_(problem.storage_count() + problem.op_count(), 0),
      reached_by_(problem.storage_count() + problem.op_count()) {}

void MinCut::open_storage(Index storage, Bytes capacity) {
  if (!is_open(storage)) open_storages_.push_back(storage);
  storage_epoch_[storage] = epoch_;
  capacity_[storage] = capacity;
  fed_[storage] = 0;
  to_end_[storage] = 0;
  const Index begin = problem_.users().begin_of(storage);
  std::fill_n(to_user_.begin() + begin, problem_.users()[storage].size(), Bytes{0});
}

void MinCut::open_op(Index op) {
  op_epoch_[op] = epoch_;
  open_ops_.push_back(op);
  const Index begin = problem_.predecessors().begin_of(op);
  std::fill_n(to_predecessor_.begin() + begin, problem_.predecessors()[op].size(), Bytes{0});
}

// Every storage and op is opened when it is first reached: the arrays are never cleared as a whole.
// A storage that the exit touches or creates is part of its working set and takes no part here, unless it is an in-place input
// of the mode; pinned inputs are constant.
Bytes MinCut::least_idle_bytes(std::span<const Side> side, Index exit, std::span<const InPlaceSaving> mode,
                               std::span<const Index> sources, Bytes enough, bool only_decide, Control& control) {
  side_ = side;
  exit_ = exit;
  ++epoch_;
  open_storages_.clear();
  open_ops_.clear();
  live_sources_.clear();
  value_ = 0;
  control.check(static_cast<std::uint32_t>(sources.size()));

  auto add_source = [&](Index storage, Bytes capacity) {
    open_storage(storage, capacity);
    if (capacity == 0) return;
    const Index begin = problem_.users().begin_of(storage);
    const auto users = problem_.users()[storage];
    bool is_free = false;
    if (problem_.is_output(storage)) {
      to_end_[storage] = capacity;
      fed_[storage] = capacity;
      value_ += capacity;
      return;
    }
    // The latest user outside takes it all: of them it is the least likely to come inside soon and spoil the flow.
    for (std::size_t i = users.size(); i-- > 0;) {
      if (users[i] == exit_) continue;
      if (side_[users[i]] == Side::kOutside) {
        to_user_[begin + i] = capacity;
        fed_[storage] = capacity;
        value_ += capacity;
        return;
      }
      is_free |= side_[users[i]] == Side::kFree;
    }
    if (is_free) live_sources_.push_back(storage);
  };

  if (exit != kNoOp) {
    for (Index storage : problem_.touches()[exit]) open_storage(storage, 0);
    for (Index storage : problem_.creates()[exit]) open_storage(storage, 0);
    for (const InPlaceSaving& pair : mode) add_source(pair.input, pair.saving);
  }
  for (Index storage : sources) {
    if (!is_open(storage) && !problem_.is_pinned(storage)) add_source(storage, problem_.bytes(storage));
  }
  if (only_decide) {
    // What is live at L is the most the cut can be.
    Bytes possible = value_;
    for (Index storage : live_sources_) possible += capacity_[storage];
    if (possible < enough) return possible;
  }
  while (value_ < enough && augment(enough, control)) {
  }
  return value_;
}

Bytes MinCut::room(const Arc& arc) const {
  switch (arc.kind) {
    case Arc::Kind::kToUser:
    case Arc::Kind::kToPredecessor:
    case Arc::Kind::kNone: return kUnlimited;
    case Arc::Kind::kBackFromUser: return to_user_[arc.slot];
    case Arc::Kind::kBackFromPredecessor: return to_predecessor_[arc.slot];
    case Arc::Kind::kFeed: return capacity_[arc.slot] - fed_[arc.slot];
    case Arc::Kind::kBackFeed: return fed_[arc.slot];
  }
  return 0;
}

void MinCut::push(const Arc& arc, Bytes amount) {
  switch (arc.kind) {
    case Arc::Kind::kNone: break;
    case Arc::Kind::kToUser: to_user_[arc.slot] += amount; break;
    case Arc::Kind::kBackFromUser: to_user_[arc.slot] -= amount; break;
    case Arc::Kind::kToPredecessor: to_predecessor_[arc.slot] += amount; break;
    case Arc::Kind::kBackFromPredecessor: to_predecessor_[arc.slot] -= amount; break;
    case Arc::Kind::kFeed: fed_[arc.slot] += amount; break;
    case Arc::Kind::kBackFeed: fed_[arc.slot] -= amount; break;
  }
}

// Calls visit(to_node, arc) for every residual arc between storages and free ops; arcs into the sink are for the caller.
template <typename Visit>
void MinCut::residual_arcs_from(Index node, Visit&& visit) {
  using Kind = Arc::Kind;
  if (node < problem_.storage_count()) {
    const Index storage = node;
    const Index begin = problem_.users().begin_of(storage);
    const auto users = problem_.users()[storage];
    for (std::size_t i = 0; i < users.size(); ++i) {
      if (users[i] != exit_ && side_[users[i]] == Side::kFree) {
        visit(node_of_op(users[i]), Arc{Kind::kToUser, node, static_cast<Index>(begin + i)});
      }
    }
    const Index creator = problem_.creator(storage);
    if (creator >= 0 && side_[creator] == Side::kFree && fed_[storage] > 0) {
      visit(node_of_op(creator), Arc{Kind::kBackFeed, node, storage});
    }
    return;
  }
  const Index op = node - problem_.storage_count();
  if (op_epoch_[op] != epoch_) open_op(op);
  for (Index storage : problem_.creates()[op]) {
    if (!is_open(storage)) open_storage(storage, problem_.bytes(storage));
    if (capacity_[storage] > fed_[storage]) visit(storage, Arc{Kind::kFeed, node, storage});
  }
  const Index predecessor_begin = problem_.predecessors().begin_of(op);
  const auto predecessors = problem_.predecessors()[op];
  for (std::size_t i = 0; i < predecessors.size(); ++i) {
    if (side_[predecessors[i]] == Side::kFree) {
      visit(node_of_op(predecessors[i]), Arc{Kind::kToPredecessor, node, static_cast<Index>(predecessor_begin + i)});
    }
  }
  const Index touch_begin = problem_.touches().begin_of(op);
  const auto touches = problem_.touches()[op];
  for (std::size_t i = 0; i < touches.size(); ++i) {
    const Index slot = problem_.user_slot(static_cast<Index>(touch_begin + i));
    if (is_open(touches[i]) && to_user_[slot] > 0) visit(touches[i], Arc{Kind::kBackFromUser, node, slot});
  }
  const Index successor_begin = problem_.successors().begin_of(op);
  const auto successors = problem_.successors()[op];
  for (std::size_t i = 0; i < successors.size(); ++i) {
    const Index slot = problem_.predecessor_slot(static_cast<Index>(successor_begin + i));
    if (op_epoch_[successors[i]] == epoch_ && to_predecessor_[slot] > 0) {
      visit(node_of_op(successors[i]), Arc{Kind::kBackFromPredecessor, node, slot});
    }
  }
}

// One breadth-first pass from all sources with room. Every node next to the sink pushes what its tree path still has room for, so one pass does
// the work of many shortest augmenting paths. The first such path always has room: a pass that pushes nothing proves the flow to be largest.
bool MinCut::augment(Bytes enough, Control& control) {
  ++visit_epoch_;
  queue_.clear();
  bool pushed = false;
  for (Index storage : live_sources_) {
    if (fed_[storage] < capacity_[storage]) {
      visited_[storage] = visit_epoch_;
      reached_by_[storage] = Arc{};
      queue_.push_back(storage);
    }
  }
  for (std::size_t head = 0; head < queue_.size() && value_ < enough; ++head) {
    const Index node = queue_[head];
    if (node < problem_.storage_count()) pushed |= push_to_sink(node, control);
    residual_arcs_from(node, [this](Index to, const Arc& arc) {
      if (visited_[to] == visit_epoch_) return;
      visited_[to] = visit_epoch_;
      reached_by_[to] = arc;
      queue_.push_back(to);
    });
  }
  control.check(static_cast<std::uint32_t>(queue_.size()));
  return pushed;
}

// A storage with a user outside, or kept by the caller, is next to the sink.
bool MinCut::push_to_sink(Index storage, Control& control) {
  Index sink_slot = -1;
  if (!problem_.is_output(storage)) {
    const Index begin = problem_.users().begin_of(storage);
    const auto users = problem_.users()[storage];
    for (std::size_t i = users.size(); i-- > 0 && sink_slot < 0;) {
      if (users[i] != exit_ && side_[users[i]] == Side::kOutside) sink_slot = static_cast<Index>(begin + i);
    }
    if (sink_slot < 0) return false;
  }
  Bytes amount = kUnlimited;
  Index root = storage;
  std::uint32_t path_length = 0;
  for (; reached_by_[root].kind != Arc::Kind::kNone; root = reached_by_[root].from) {
    amount = std::min(amount, room(reached_by_[root]));
    ++path_length;
  }
  control.check(path_length);
  amount = std::min(amount, capacity_[root] - fed_[root]);
  if (amount == 0) return false;
  fed_[root] += amount;
  for (Index at = storage; reached_by_[at].kind != Arc::Kind::kNone; at = reached_by_[at].from) push(reached_by_[at], amount);
  (sink_slot < 0 ? to_end_[storage] : to_user_[sink_slot]) += amount;
  value_ += amount;
  return true;
}

// The source side of the cut that the last, failed, augmentation found: everything it reached.
std::vector<Index> MinCut::smallest_minimiser(std::span<const Index> free_ops) {
  std::vector<Index> inside;
  for (Index op : free_ops) {
    if (visited_[node_of_op(op)] == visit_epoch_) inside.push_back(op);
  }
  return inside;
}

// The complement of everything that reaches the sink in the residual network, found by walking its arcs backwards from the sink.
std::vector<Index> MinCut::largest_minimiser(std::span<const Index> free_ops) {
  ++visit_epoch_;
  queue_.clear();
  auto mark = [this](Index node) {
    if (visited_[node] == visit_epoch_) return;
    visited_[node] = visit_epoch_;
    queue_.push_back(node);
  };
  auto open_all = [this](Index op) {
    if (op_epoch_[op] != epoch_) open_op(op);
    for (Index storage : problem_.creates()[op]) {
      if (!is_open(storage)) open_storage(storage, problem_.bytes(storage));
    }
  };
  for (Index op : free_ops) open_all(op);
  for (Index storage : open_storages_) {
    if (problem_.is_output(storage) && capacity_[storage] > 0) mark(storage);
    for (Index user : problem_.users()[storage]) {
      if (user != exit_ && side_[user] == Side::kOutside && capacity_[storage] > 0) mark(storage);
    }
  }
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const Index node = queue_[head];
    if (node < problem_.storage_count()) {
      const Index creator = problem_.creator(node);
      if (creator >= 0 && side_[creator] == Side::kFree && capacity_[node] > fed_[node]) mark(node_of_op(creator));
      const Index begin = problem_.users().begin_of(node);
      const auto users = problem_.users()[node];
      for (std::size_t i = 0; i < users.size(); ++i) {
        if (side_[users[i]] == Side::kFree && to_user_[begin + i] > 0) mark(node_of_op(users[i]));
      }
      continue;
    }
    const Index op = node - problem_.storage_count();
    for (Index storage : problem_.touches()[op]) {
      if (is_open(storage) && capacity_[storage] > 0) mark(storage);
    }
    for (Index storage : problem_.creates()[op]) {
      if (fed_[storage] > 0) mark(storage);
    }
    for (Index successor : problem_.successors()[op]) {
      if (side_[successor] == Side::kFree) mark(node_of_op(successor));
    }
    const Index predecessor_begin = problem_.predecessors().begin_of(op);
    const auto predecessors = problem_.predecessors()[op];
    for (std::size_t i = 0; i < predecessors.size(); ++i) {
      if (side_[predecessors[i]] == Side::kFree && to_predecessor_[predecessor_begin + i] > 0) {
        mark(node_of_op(predecessors[i]));
      }
    }
  }
  std::vector<Index> inside;
  for (Index op : free_ops) {
    if (visited_[node_of_op(op)] != visit_epoch_) inside.push_back(op);
  }
  return inside;
}

void MinCut::sink_ops(std::vector<Index>& into) {
  ++visit_epoch_;
  for (Index storage : open_storages_) {
    const Index begin = problem_.users().begin_of(storage);
    const auto users = problem_.users()[storage];
    for (std::size_t i = 0; i < users.size(); ++i) {
      if (side_[users[i]] == Side::kOutside && to_user_[begin + i] > 0) add_once(users[i], into);
    }
  }
}

void MinCut::source_creators(std::vector<Index>& into) {
  ++visit_epoch_;
  for (Index storage : open_storages_) {
    const Index creator = problem_.creator(storage);
    if (creator >= 0 && side_[creator] == Side::kLower && fed_[storage] > 0) add_once(creator, into);
  }
}

void MinCut::add_once(Index op, std::vector<Index>& into) {
  std::uint64_t& visited = visited_[node_of_op(op)];
  if (visited == visit_epoch_) return;
  visited = visit_epoch_;
  into.push_back(op);
}

void MinCut::flows(std::vector<StorageFlow>& storage_flows, std::vector<OrderFlow>& order_flows) const {
  for (Index storage : open_storages_) {
    const Index begin = problem_.users().begin_of(storage);
    const auto users = problem_.users()[storage];
    for (std::size_t i = 0; i < users.size(); ++i) {
      if (to_user_[begin + i] > 0) storage_flows.push_back({storage, users[i], to_user_[begin + i]});
    }
    if (to_end_[storage] > 0) storage_flows.push_back({storage, kEndOfProgram, to_end_[storage]});
  }
  for (Index op : open_ops_) {
    const Index begin = problem_.predecessors().begin_of(op);
    const auto predecessors = problem_.predecessors()[op];
    for (std::size_t i = 0; i < predecessors.size(); ++i) {
      if (to_predecessor_[begin + i] > 0) order_flows.push_back({op, predecessors[i], to_predecessor_[begin + i]});
    }
  }
}

}  // namespace lowtide
