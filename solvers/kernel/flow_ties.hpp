// Which blocked exits of a trap closure have to be looked at again once an op is absorbed (docs/proofs.md): those with a flow tied to the op.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem.hpp"

namespace lowtide {

class FlowTies {
 public:
  explicit FlowTies(Index op_count, std::size_t max_ties = kMaxTies);

  void clear();
  // The flow of `exit` is tied to these ops and to no others any more.
  void tie(Index exit, std::span<const Index> ops);
  void untie(Index exit);
  // Calls visit(exit) for every exit tied to `op`; an op is absorbed once, so its ties are forgotten.
  template <typename Visit>
  void take(Index op, Visit&& visit);
  // Exits with more ties than there was room for: any absorption may concern them. Forgets them.
  std::vector<Index> take_untracked();

 private:
  // Counts as long as the exit has the stamp it had then.
  struct Tie {
    Index exit;
    std::uint32_t stamp;
  };
  bool is_old(const Tie& tie) const { return stamp_[tie.exit] != tie.stamp; }
  void drop_old_ties();

  static constexpr std::size_t kMaxTies = std::size_t{1} << 21;  // 16 MiB
  static constexpr std::size_t kKeptCapacity = 16;
  std::size_t max_ties_;
  std::size_t count_ = 0;
  std::size_t old_count_ = 0;
  std::vector<std::vector<Tie>> of_op_;
  std::vector<std::size_t> ties_of_exit_;
  std::vector<std::uint32_t> stamp_;
  std::vector<Index> tied_ops_;
  std::vector<Tie> untracked_;
};

template <typename Visit>
void FlowTies::take(Index op, Visit&& visit) {
  count_ -= of_op_[op].size();
  for (const Tie& tie : of_op_[op]) {
    if (is_old(tie)) {
      --old_count_;
    } else {
      --ties_of_exit_[tie.exit];
      visit(tie.exit);
    }
  }
  of_op_[op].clear();
}

}  // namespace lowtide
