#include "recomputation_problem.hpp"

#include <span>
#include <stdexcept>

namespace lowtide {

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void require_indices(std::span<const Index> indices, Index count, const char* what) {
  for (Index index : indices) require(index >= 0 && index < count, what);
}

}  // namespace

void check(const RecomputationProblem& problem) {
  require(problem.edit_count >= 0, "edit_count is negative");
  for (Index v = 0; v < problem.op_count(); ++v) {
    const RecomputationOp& op = problem.ops[static_cast<std::size_t>(v)];
    require(op.cost >= 0 && op.cap >= 0 && op.workspace_bytes >= 0, "an op's cost, cap or workspace is negative");
    require_indices(op.predecessors, v, "a predecessor does not come before its op");
    require_indices(op.creates, problem.storage_count(), "an op creates an unknown storage");
    require_indices(op.touches, problem.storage_count(), "an op touches an unknown storage");
    for (const auto* edits : {&op.needed_edits, &op.forbidden_edits, &op.makes_edits}) {
      require_indices(*edits, problem.edit_count, "an op names an unknown edit");
    }
    require(!op.modes.empty(), "an op has no mode");
    for (const auto& mode : op.modes) {
      for (const InPlaceSaving& pair : mode) {
        require(pair.input >= 0 && pair.input < problem.storage_count(), "an in-place pair names an unknown storage");
      }
    }
    for (Index storage : op.creates) {
      require(problem.storages[static_cast<std::size_t>(storage)].creator == v, "a storage has another creator");
    }
    for (Index storage : op.touches) {
      require(problem.storages[static_cast<std::size_t>(storage)].creator < v, "an op touches a storage that is created later");
    }
  }
  for (const RecomputationStorage& storage : problem.storages) {
    require(storage.size_bytes >= 0, "a storage's size is negative");
    require(storage.creator >= -1 && storage.creator < problem.op_count(), "a storage has an unknown creator");
    require_indices(storage.users, problem.op_count(), "a storage has an unknown user");
    require_indices(storage.edits, problem.edit_count, "a storage has an unknown edit");
    require_indices(storage.final_edits, problem.edit_count, "a storage has an unknown final edit");
  }
}

}  // namespace lowtide
