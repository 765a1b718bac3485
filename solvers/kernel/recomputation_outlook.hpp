// What can still matter in a state: which ops some completion may run, which storages some completion may read, and whether any exists at all.
#pragma once

#include <cstdint>
#include <vector>

#include "recomputation_problem.hpp"
#include "recomputation_state.hpp"

namespace lowtide {

class RecomputationOutlook {
 public:
  RecomputationOutlook(const RecomputationProblem& problem, const StateLayout& layout);

  // Looks at a state; O(graph). What the functions below say holds of it until the next look.
  void look_at(const Words& state);

  // A never-run op, or one that may run again and makes something that is useful. Others may be left out of any completion.
  bool is_relevant(Index op) const { return relevant_[static_cast<std::size_t>(op)] != 0; }
  // An output, or touched by a relevant op: others may be freed.
  bool is_useful(Index storage) const { return useful_[static_cast<std::size_t>(storage)] != 0; }
  bool is_useful_edit(Index edit) const { return useful_edit_[static_cast<std::size_t>(edit)] != 0; }
  // Its creator may run again or has not run yet.
  bool can_be_created(Index storage) const;
  bool may_run_again(Index op) const;
  // A never-run op needs it, or the caller does.
  bool is_needed(Index storage) const { return needed_[static_cast<std::size_t>(storage)] != 0; }

  // True only if no completion exists: something needed is neither there nor can be made any more. O(graph).
  bool is_dead(const Words& state);

 private:
  bool is_available(const Words& state, Index storage) const;

  const RecomputationProblem& problem_;
  const StateLayout& layout_;
  const Words* state_ = nullptr;
  std::vector<std::uint8_t> relevant_;
  std::vector<std::uint8_t> useful_;
  std::vector<std::uint8_t> useful_edit_;
  std::vector<std::uint8_t> needed_;
  std::vector<std::uint8_t> can_run_;
};

}  // namespace lowtide
