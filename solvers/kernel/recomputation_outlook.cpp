#include "recomputation_outlook.hpp"

#include <algorithm>

namespace lowtide {

RecomputationOutlook::RecomputationOutlook(const RecomputationProblem& problem, const StateLayout& layout)
    : problem_(problem),
      layout_(layout),
      relevant_(problem.ops.size()),
      useful_(problem.storages.size()),
      useful_edit_(static_cast<std::size_t>(problem.edit_count)),
      needed_(problem.storages.size()),
      can_run_(problem.ops.size()) {}

bool RecomputationOutlook::may_run_again(Index op) const {
  const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(op)];
  if (data.cap == 1 || !layout_.has_run(*state_, op)) return false;
  return data.cap == 0 || layout_.reruns(*state_, op) < data.cap - 1;
}

bool RecomputationOutlook::can_be_created(Index storage) const {
  const Index creator = problem_.storages[static_cast<std::size_t>(storage)].creator;
  return creator >= 0 && (!layout_.has_run(*state_, creator) || may_run_again(creator));
}

// Users come after creators, so one pass from the last op to the first settles everything.
void RecomputationOutlook::look_at(const Words& state) {
  state_ = &state;
  std::ranges::fill(useful_edit_, std::uint8_t{0});
  for (std::size_t s = 0; s < problem_.storages.size(); ++s) {
    const RecomputationStorage& storage = problem_.storages[s];
    useful_[s] = needed_[s] = storage.is_output || storage.is_pinned ? 1 : 0;
    for (Index edit : storage.final_edits) useful_edit_[static_cast<std::size_t>(edit)] = 1;
  }
  for (Index op = problem_.op_count() - 1; op >= 0; --op) {
    const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(op)];
    const bool never_ran = !layout_.has_run(state, op);
    auto is_useful_storage = [this](Index s) { return useful_[static_cast<std::size_t>(s)] != 0; };
    auto is_useful_mark = [this](Index e) { return useful_edit_[static_cast<std::size_t>(e)] != 0; };
    const bool relevant = never_ran || (may_run_again(op) && (std::ranges::any_of(data.creates, is_useful_storage) ||
                                                              std::ranges::any_of(data.makes_edits, is_useful_mark)));
    relevant_[static_cast<std::size_t>(op)] = relevant ? 1 : 0;
    if (!relevant) continue;
    for (Index storage : data.touches) {
      useful_[static_cast<std::size_t>(storage)] = 1;
      if (never_ran) needed_[static_cast<std::size_t>(storage)] = 1;
    }
    for (Index edit : data.needed_edits) useful_edit_[static_cast<std::size_t>(edit)] = 1;
  }
}

bool RecomputationOutlook::is_available(const Words& state, Index storage) const {
  if (layout_.is_live(state, storage)) return true;
  const Index creator = problem_.storages[static_cast<std::size_t>(storage)].creator;
  return creator >= 0 && can_run_[static_cast<std::size_t>(creator)] != 0;
}

bool RecomputationOutlook::is_dead(const Words& state) {
  for (Index op = 0; op < problem_.op_count(); ++op) {
    const RecomputationOp& data = problem_.ops[static_cast<std::size_t>(op)];
    const bool never_ran = !layout_.has_run(state, op);
    bool can_run = never_ran || may_run_again(op);
    for (Index storage : data.touches) can_run = can_run && is_available(state, storage);
    for (Index edit : data.forbidden_edits) {
      // An op reads what the storage held before the edit: on an edited instance it never can.
      if (!layout_.is_made(state, edit)) continue;
      for (Index storage : data.touches) {
        if (std::ranges::find(problem_.storages[static_cast<std::size_t>(storage)].edits, edit) ==
            problem_.storages[static_cast<std::size_t>(storage)].edits.end())
          continue;
        const Index creator = problem_.storages[static_cast<std::size_t>(storage)].creator;
        can_run = can_run && creator >= 0 && can_run_[static_cast<std::size_t>(creator)] != 0;
      }
    }
    can_run_[static_cast<std::size_t>(op)] = can_run ? 1 : 0;
    if (never_ran && !can_run) return true;
  }
  for (Index s = 0; s < problem_.storage_count(); ++s) {
    if (problem_.storages[static_cast<std::size_t>(s)].is_output && !is_available(state, s)) return true;
  }
  return false;
}

}  // namespace lowtide
