// A set of ops as a bit vector, hashable, for tables of states.
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace lowtide {

class OpSet {
 public:
  explicit OpSet(Index op_count = 0) : words_((static_cast<std::size_t>(op_count) + 63) / 64, 0) {}

  void insert(Index op) { words_[op >> 6] |= std::uint64_t{1} << (op & 63); }
  void erase(Index op) { words_[op >> 6] &= ~(std::uint64_t{1} << (op & 63)); }
  bool contains(Index op) const { return (words_[op >> 6] >> (op & 63) & 1) != 0; }
  bool operator==(const OpSet&) const = default;

  std::size_t hash() const {
    std::uint64_t value = 0x9e3779b97f4a7c15ULL;
    for (std::uint64_t word : words_) {
      value ^= word;
      value *= 0xff51afd7ed558ccdULL;
      value ^= value >> 32;
    }
    return static_cast<std::size_t>(value);
  }
  std::size_t bytes_held() const { return words_.size() * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> words_;
};

struct OpSetHash {
  std::size_t operator()(const OpSet& set) const { return set.hash(); }
};

}  // namespace lowtide
