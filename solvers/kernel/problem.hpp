// The reduced graph as flat arrays: what every part of the kernel reads and nothing changes.
// The memory model is docs/memory-model.md; op indices are a topological order (the given one).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lowtide {

using Bytes = std::int64_t;
using Index = std::int32_t;

// Rows of indices stored back to back ("compressed sparse rows").
class Rows {
 public:
  Rows() = default;
  // `offsets` has one entry more than there are rows. Throws std::invalid_argument when it is not ascending.
  Rows(std::vector<Index> offsets, std::vector<Index> items);

  std::span<const Index> operator[](Index row) const {
    return {items_.data() + offsets_[row], static_cast<std::size_t>(offsets_[row + 1] - offsets_[row])};
  }
  Index begin_of(Index row) const { return offsets_[row]; }
  Index item_count() const { return static_cast<Index>(items_.size()); }
  Index row_count() const { return static_cast<Index>(offsets_.size()) - 1; }
  Index item(Index slot) const { return items_[slot]; }

  // Row y of the transpose lists every x whose row holds y, ascending; `slot_of` gives, for each item of the
  // transpose, the slot of the same pair in *this.
  Rows transposed(Index row_count, std::vector<Index>& slot_of) const;

 private:
  std::vector<Index> offsets_{0};
  std::vector<Index> items_;
};

// In mode m an op saves `saving` bytes for every `input` that dies at it.
struct InPlaceSaving {
  Index output;
  Index input;
  Bytes saving;
};

struct ProblemData {
  std::vector<Bytes> storage_bytes;
  std::vector<Index> storage_creator;         // -1: a graph input
  std::vector<std::uint8_t> storage_is_output;
  std::vector<std::uint8_t> storage_is_pinned;
  Rows storage_users;                         // ascending, without the creator
  Rows op_predecessors;                       // ascending, each smaller than the op
  std::vector<Bytes> op_workspace_bytes;
  // Per op its in-place modes; ops without in-place pairs have one empty mode.
  std::vector<std::vector<std::vector<InPlaceSaving>>> op_modes;
};

class Problem {
 public:
  // Throws std::invalid_argument when the arrays do not fit together. O(ops + storages + edges).
  explicit Problem(ProblemData data);

  Index op_count() const { return static_cast<Index>(data_.op_workspace_bytes.size()); }
  Index storage_count() const { return static_cast<Index>(data_.storage_bytes.size()); }

  Bytes bytes(Index storage) const { return data_.storage_bytes[storage]; }
  Index creator(Index storage) const { return data_.storage_creator[storage]; }
  bool is_output(Index storage) const { return data_.storage_is_output[storage] != 0; }
  bool is_pinned(Index storage) const { return data_.storage_is_pinned[storage] != 0; }
  // Never freed once it exists.
  bool is_held(Index storage) const { return is_output(storage) || is_pinned(storage); }

  const Rows& users() const { return data_.storage_users; }
  const Rows& predecessors() const { return data_.op_predecessors; }
  const Rows& successors() const { return successors_; }
  const Rows& touches() const { return touches_; }    // storages an op uses without creating them
  const Rows& creates() const { return creates_; }
  // Slot in users() of item i of touches(), and slot in predecessors() of item i of successors().
  Index user_slot(Index touch_slot) const { return user_slot_[touch_slot]; }
  Index predecessor_slot(Index successor_slot) const { return predecessor_slot_[successor_slot]; }

  std::span<const std::vector<InPlaceSaving>> modes(Index op) const { return data_.op_modes[op]; }
  // What running the op adds to the live bytes while it runs, before in-place savings.
  Bytes step_extra(Index op) const { return step_extra_[op]; }
  // Bytes of the storages it touches.
  Bytes touched_bytes(Index op) const { return touched_bytes_[op]; }
  Bytes pinned_bytes() const { return pinned_bytes_; }
  // Pinned inputs the op does not touch.
  Bytes untouched_pinned_bytes(Index op) const { return pinned_bytes_ - touched_pinned_bytes_[op]; }
  // The working set in one mode (docs/memory-model.md).
  Bytes working_set(Index op, std::span<const InPlaceSaving> mode) const;
  // The least working set over the op's modes.
  Bytes working_set(Index op) const;

 private:
  ProblemData data_;
  Rows successors_;
  Rows touches_;
  Rows creates_;
  std::vector<Index> user_slot_;
  std::vector<Index> predecessor_slot_;
  std::vector<Bytes> step_extra_;
  std::vector<Bytes> touched_bytes_;
  std::vector<Bytes> touched_pinned_bytes_;
  Bytes pinned_bytes_ = 0;
};

}  // namespace lowtide
