#include "problem.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace lowtide {

namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

void require_indices(const Rows& rows, Index limit, const char* what) {
  for (Index slot = 0; slot < rows.item_count(); ++slot) {
    require(rows.item(slot) >= 0 && rows.item(slot) < limit, what);
  }
}

}  // namespace

Rows::Rows(std::vector<Index> offsets, std::vector<Index> items)
    : offsets_(std::move(offsets)), items_(std::move(items)) {
  require(!offsets_.empty() && offsets_.front() == 0, "row offsets must start at 0");
  require(std::ranges::is_sorted(offsets_), "row offsets must ascend");
  require(static_cast<std::size_t>(offsets_.back()) == items_.size(), "row offsets must end at the item count");
}

Rows Rows::transposed(Index row_count, std::vector<Index>& slot_of) const {
  std::vector<Index> offsets(static_cast<std::size_t>(row_count) + 1, 0);
  for (Index item : items_) ++offsets[item + 1];
  for (Index row = 0; row < row_count; ++row) offsets[row + 1] += offsets[row];
  std::vector<Index> next(offsets.begin(), offsets.end() - 1);
  std::vector<Index> items(items_.size());
  slot_of.assign(items_.size(), 0);
  for (Index row = 0; row < this->row_count(); ++row) {
    for (Index slot = offsets_[row]; slot < offsets_[row + 1]; ++slot) {
      const Index place = next[items_[slot]]++;
      items[place] = row;
      slot_of[place] = slot;
    }
  }
  return {std::move(offsets), std::move(items)};
}

Problem::Problem(ProblemData data) : data_(std::move(data)) {
  const std::size_t ops = data_.op_workspace_bytes.size();
  const std::size_t storages = data_.storage_bytes.size();
  require(ops < std::numeric_limits<Index>::max() / 2, "too many ops");
  require(storages < std::numeric_limits<Index>::max() / 2, "too many storages");
  require(data_.storage_creator.size() == storages, "one creator per storage");
  require(data_.storage_is_output.size() == storages, "one output flag per storage");
  require(data_.storage_is_pinned.size() == storages, "one pinned flag per storage");
  require(data_.op_modes.size() == ops, "one list of modes per op");
  require(data_.storage_users.row_count() == storage_count(), "one row of users per storage");
  require(data_.op_predecessors.row_count() == op_count(), "one row of predecessors per op");
  require_indices(data_.storage_users, op_count(), "user out of range");
  require_indices(data_.op_predecessors, op_count(), "predecessor out of range");

  std::vector<Index> create_offsets(ops + 1, 0);
  for (Index creator : data_.storage_creator) {
    require(creator >= -1 && creator < op_count(), "creator out of range");
    if (creator >= 0) ++create_offsets[creator + 1];
  }
  for (std::size_t op = 0; op < ops; ++op) create_offsets[op + 1] += create_offsets[op];
  std::vector<Index> next(create_offsets.begin(), create_offsets.end() - 1);
  std::vector<Index> created(create_offsets.back());
  for (Index storage = 0; storage < storage_count(); ++storage) {
    if (creator(storage) >= 0) created[next[creator(storage)]++] = storage;
  }
  creates_ = Rows(std::move(create_offsets), std::move(created));

  touches_ = data_.storage_users.transposed(op_count(), user_slot_);
  successors_ = data_.op_predecessors.transposed(op_count(), predecessor_slot_);

  step_extra_.assign(ops, 0);
  touched_bytes_.assign(ops, 0);
  touched_pinned_bytes_.assign(ops, 0);
  for (Index storage = 0; storage < storage_count(); ++storage) {
    require(bytes(storage) >= 0, "negative storage size");
    require(!is_pinned(storage) || creator(storage) < 0, "only graph inputs are pinned");
    if (is_pinned(storage)) pinned_bytes_ += bytes(storage);
    for (Index user : users()[storage]) require(creator(storage) < user, "a storage is used before it is created");
  }
  for (Index op = 0; op < op_count(); ++op) {
    require(data_.op_workspace_bytes[op] >= 0, "negative workspace");
    require(!data_.op_modes[op].empty(), "every op has at least one mode");
    step_extra_[op] = data_.op_workspace_bytes[op];
    for (Index storage : creates()[op]) step_extra_[op] += bytes(storage);
    for (Index storage : touches()[op]) {
      touched_bytes_[op] += bytes(storage);
      if (is_pinned(storage)) touched_pinned_bytes_[op] += bytes(storage);
    }
    for (Index predecessor : predecessors()[op]) require(predecessor < op, "ops must be listed in a valid order");
    for (const auto& mode : modes(op)) {
      for (const InPlaceSaving& pair : mode) {
        require(pair.input >= 0 && pair.input < storage_count() && std::ranges::count(touches()[op], pair.input) == 1,
                "an in-place input must be one the op touches");
        require(!is_held(pair.input), "an output or a pinned input is never taken over");
        require(pair.saving >= 0 && pair.saving <= bytes(pair.input), "an in-place saving exceeds its input");
      }
    }
  }
}

Bytes Problem::working_set(Index op, std::span<const InPlaceSaving> mode) const {
  Bytes total = touched_bytes(op) + step_extra(op) + untouched_pinned_bytes(op);
  for (const InPlaceSaving& pair : mode) total -= pair.saving;
  return total;
}

Bytes Problem::working_set(Index op) const {
  Bytes least = std::numeric_limits<Bytes>::max();
  for (const auto& mode : modes(op)) least = std::min(least, working_set(op, mode));
  return least;
}

}  // namespace lowtide
