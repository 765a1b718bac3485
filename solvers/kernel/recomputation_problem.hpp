// Recomputation as the search sees it (design, section 5): ops that may run several times, storages, and what happens to an instance of a
// storage after it is created ("edits": views taken of it, ops that overwrite it).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "problem.hpp"

namespace lowtide {

struct RecomputationOp {
  std::int64_t cost = 0;
  std::int64_t cap = 1;  // 0: no cap
  Bytes workspace_bytes = 0;
  std::vector<Index> predecessors;     // have run at least once before the first run
  std::vector<Index> creates;          // storages
  std::vector<Index> touches;          // storages, all of them there when the op runs
  std::vector<Index> needed_edits;     // made on the instance that is there
  std::vector<Index> forbidden_edits;  // not made on it: the op reads what it held before
  std::vector<Index> makes_edits;
  std::vector<std::vector<InPlaceSaving>> modes;  // at least one, each a matching
};

struct RecomputationStorage {
  Bytes size_bytes = 0;
  Index creator = -1;  // -1: a graph input
  bool is_output = false;
  bool is_pinned = false;
  std::vector<Index> users;        // ops that touch it, ascending
  std::vector<Index> edits;        // all edits that can be made on it
  std::vector<Index> final_edits;  // made on the instance that is there at the end; outputs only
};

// Op indices are a topological order.
struct RecomputationProblem {
  std::vector<RecomputationOp> ops;
  std::vector<RecomputationStorage> storages;
  Index edit_count = 0;

  Index op_count() const { return static_cast<Index>(ops.size()); }
  Index storage_count() const { return static_cast<Index>(storages.size()); }
};

// Throws std::invalid_argument when an index is out of range or the ops are not in a topological order.
void check(const RecomputationProblem& problem);

}  // namespace lowtide
