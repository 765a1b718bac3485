// One minimum cut over the downsets between L and U (docs/memory-model.md, "The cut for an exit").
//
// The caller paints every op: kLower (in L), kFree (in U but not in L) or kOutside. Nothing outside the free region is
// walked, so a cut costs what its region costs, not what the graph costs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control.hpp"
#include "problem.hpp"

namespace lowtide {

enum class Side : std::uint8_t { kLower, kFree, kOutside };

inline constexpr Index kNoOp = -1;
inline constexpr Index kEndOfProgram = -1;

struct StorageFlow {
  Index storage;
  Index user;  // kEndOfProgram for what the caller keeps
  Bytes amount;
};

struct OrderFlow {
  Index op;
  Index predecessor;
  Bytes amount;
};

class MinCut {
 public:
  explicit MinCut(const Problem& problem);

  // The least live idle bytes, over L <= S <= U, while `exit` runs in `mode`; savings lost because an input is not dying count too.
  // With exit == kNoOp the least live bytes, pinned inputs left out. Stops early and returns a value >= `enough` once that is certain.
  // `sources` must list every storage that exists at L and is live there (others are skipped). With `only_decide` a value below `enough`
  // may be anything between the least and `enough`, and no minimiser may be asked for.
  Bytes least_idle_bytes(std::span<const Side> side, Index exit, std::span<const InPlaceSaving> mode,
                         std::span<const Index> sources, Bytes enough, bool only_decide, Control& control);

  // After a call that was not stopped early: the free ops of the largest, or of the smallest, downset that attains the least.
  std::vector<Index> largest_minimiser(std::span<const Index> free_ops);
  std::vector<Index> smallest_minimiser(std::span<const Index> free_ops);

  // After any call: ops outside U that receive flow; creators in L of storages that carry flow (`into` gets each once per call); the flow itself.
  // No minimiser may be asked for any more.
  void sink_ops(std::vector<Index>& into);
  void source_creators(std::vector<Index>& into);
  void flows(std::vector<StorageFlow>& storage_flows, std::vector<OrderFlow>& order_flows) const;

 private:
  // Nodes of the residual network: storages first, then ops.
  Index node_of_op(Index op) const { return problem_.storage_count() + op; }
  void open_storage(Index storage, Bytes capacity);
  void open_op(Index op);
  bool is_open(Index storage) const { return storage_epoch_[storage] == epoch_; }
  bool augment(Bytes enough, Control& control);
  bool push_to_sink(Index storage, Control& control);
  void add_once(Index op, std::vector<Index>& into);
  template <typename Visit>
  void residual_arcs_from(Index node, Visit&& visit);

  struct Arc {
    enum class Kind : std::uint8_t { kNone, kToUser, kBackFromUser, kToPredecessor, kBackFromPredecessor, kFeed, kBackFeed };
    Kind kind = Kind::kNone;
    Index from = -1;
    Index slot = -1;  // in users(), predecessors(), or a storage
  };
  void push(const Arc& arc, Bytes amount);
  Bytes room(const Arc& arc) const;

  const Problem& problem_;
  std::span<const Side> side_;
  Index exit_ = kNoOp;
  std::uint64_t epoch_ = 0;
  std::vector<std::uint64_t> storage_epoch_;
  std::vector<std::uint64_t> op_epoch_;
  std::vector<Bytes> capacity_;
  std::vector<Bytes> fed_;             // flow into a storage
  std::vector<Bytes> to_user_;         // flow per slot of users()
  std::vector<Bytes> to_end_;          // flow from an output to the end of the program
  std::vector<Bytes> to_predecessor_;  // flow per slot of predecessors()
  std::vector<Index> open_storages_;
  std::vector<Index> open_ops_;
  std::vector<Index> live_sources_;
  std::uint64_t visit_epoch_ = 0;
  std::vector<std::uint64_t> visited_;
  std::vector<Arc> reached_by_;
  std::vector<Index> queue_;
  Bytes value_ = 0;
};

}  // namespace lowtide
