#include "recomputation_state.hpp"

#include <bit>

namespace lowtide {

StateLayout::StateLayout(const RecomputationProblem& problem) {
  std::size_t next = problem.ops.size();
  first_storage_ = next;
  next += problem.storages.size();
  first_edit_ = next;
  next += static_cast<std::size_t>(problem.edit_count);
  for (const RecomputationOp& op : problem.ops) {
    first_counter_bit_.push_back(next);
    counter_bits_.push_back(op.cap > 1 ? static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(op.cap - 1))) : 0);
    next += counter_bits_.back();
  }
  word_count_ = (next + 63) / 64;
}

std::int64_t StateLayout::reruns(const Words& state, Index op) const {
  std::int64_t count = 0;
  const auto at = static_cast<std::size_t>(op);
  for (unsigned i = 0; i < counter_bits_[at]; ++i) {
    if (bit(state, first_counter_bit_[at] + i)) count |= std::int64_t{1} << i;
  }
  return count;
}

void StateLayout::count_rerun(Words& state, Index op) const {
  const auto at = static_cast<std::size_t>(op);
  const std::int64_t count = reruns(state, op) + 1;
  for (unsigned i = 0; i < counter_bits_[at]; ++i) set(state, first_counter_bit_[at] + i, (count >> i & 1) != 0);
}

std::size_t WordsHash::operator()(const Words& words) const {
  std::uint64_t value = 0x9e3779b97f4a7c15ULL;
  for (std::uint64_t word : words) {
    value ^= word;
    value *= 0xff51afd7ed558ccdULL;
    value ^= value >> 32;
  }
  return static_cast<std::size_t>(value);
}

}  // namespace lowtide
