// A state of a recomputation plan, packed into words: which ops ran, how often they ran again, which storages are there, which edits were made.
#pragma once

#include <cstdint>
#include <vector>

#include "recomputation_problem.hpp"

namespace lowtide {

using Words = std::vector<std::uint64_t>;

// Where everything stands in the words.
class StateLayout {
 public:
  explicit StateLayout(const RecomputationProblem& problem);

  std::size_t word_count() const { return word_count_; }
  bool has_run(const Words& state, Index op) const { return bit(state, static_cast<std::size_t>(op)); }
  bool is_live(const Words& state, Index storage) const { return bit(state, first_storage_ + static_cast<std::size_t>(storage)); }
  bool is_made(const Words& state, Index edit) const { return bit(state, first_edit_ + static_cast<std::size_t>(edit)); }
  void set_run(Words& state, Index op) const { set(state, static_cast<std::size_t>(op), true); }
  void set_live(Words& state, Index storage, bool value) const { set(state, first_storage_ + static_cast<std::size_t>(storage), value); }
  void set_made(Words& state, Index edit, bool value) const { set(state, first_edit_ + static_cast<std::size_t>(edit), value); }

  // How often a capped op ran again; ops without a cap are not counted.
  std::int64_t reruns(const Words& state, Index op) const;
  void count_rerun(Words& state, Index op) const;

 private:
  static bool bit(const Words& state, std::size_t at) { return (state[at >> 6] >> (at & 63) & 1) != 0; }
  static void set(Words& state, std::size_t at, bool value) {
    const std::uint64_t mask = std::uint64_t{1} << (at & 63);
    state[at >> 6] = value ? state[at >> 6] | mask : state[at >> 6] & ~mask;
  }

  std::size_t first_storage_ = 0;
  std::size_t first_edit_ = 0;
  std::vector<std::size_t> first_counter_bit_;
  std::vector<unsigned> counter_bits_;
  std::size_t word_count_ = 0;
};

struct WordsHash {
  std::size_t operator()(const Words& words) const;
};

}  // namespace lowtide
