#include "flow_ties.hpp"

#include <algorithm>

namespace lowtide {

FlowTies::FlowTies(Index op_count, std::size_t max_ties)
    : max_ties_(max_ties), of_op_(op_count), ties_of_exit_(op_count, 0), stamp_(op_count, 0) {}

void FlowTies::clear() {
  for (Index op : tied_ops_) {
    of_op_[op].clear();
    if (of_op_[op].capacity() > kKeptCapacity) of_op_[op].shrink_to_fit();
  }
  tied_ops_.clear();
  untracked_.clear();
  count_ = 0;
  old_count_ = 0;
  std::ranges::fill(ties_of_exit_, 0);
  std::ranges::fill(stamp_, 0);
}

void FlowTies::untie(Index exit) {
  ++stamp_[exit];
  old_count_ += ties_of_exit_[exit];
  ties_of_exit_[exit] = 0;
}

void FlowTies::tie(Index exit, std::span<const Index> ops) {
  untie(exit);
  if (count_ + ops.size() > max_ties_ && old_count_ >= max_ties_ / 2) drop_old_ties();
  if (count_ + ops.size() > max_ties_) {
    untracked_.push_back({exit, stamp_[exit]});
    return;
  }
  for (Index op : ops) {
    if (of_op_[op].empty()) tied_ops_.push_back(op);
    of_op_[op].push_back({exit, stamp_[exit]});
  }
  ties_of_exit_[exit] = ops.size();
  count_ += ops.size();
}

std::vector<Index> FlowTies::take_untracked() {
  std::vector<Index> exits;
  for (const Tie& tie : untracked_) {
    if (!is_old(tie)) exits.push_back(tie.exit);
  }
  untracked_.clear();
  return exits;
}

void FlowTies::drop_old_ties() {
  for (Index op : tied_ops_) std::erase_if(of_op_[op], [this](const Tie& tie) { return is_old(tie); });
  std::erase_if(tied_ops_, [this](Index op) { return of_op_[op].empty(); });
  count_ -= old_count_;
  old_count_ = 0;
}

}  // namespace lowtide
