#include <algorithm>
#include <stdexcept>

#include "trap.hpp"

namespace lowtide {

namespace {

// Everything reachable from `from`, without it, marked with `stamp`.
std::vector<Index> reachable(const Rows& rows, Index from, std::vector<Index>& seen, Index stamp) {
  std::vector<Index> found;
  auto visit = [&](Index at) {
    for (Index next : rows[at]) {
      if (seen[next] == stamp) continue;
      seen[next] = stamp;
      found.push_back(next);
    }
  };
  visit(from);
  for (std::size_t head = 0; head < found.size(); ++head) visit(found[head]);
  return found;
}

}  // namespace

// Unlike the closures this uses the whole interval of docs/memory-model.md, so that a checker needs no contraction argument.
std::vector<ExitFlow> exit_flows(const Problem& problem, std::span<const Index> trap, bool forward, Bytes bound,
                                 Control& control) {
  std::vector<Side> side(problem.op_count(), forward ? Side::kOutside : Side::kLower);
  for (Index op : trap) side[op] = Side::kFree;
  std::vector<Index> always_sources;  // what exists at L for every exit: the inputs, and before a reverse trap what the ops outside it create
  for (Index storage = 0; storage < problem.storage_count(); ++storage) {
    const Index creator = problem.creator(storage);
    if (creator < 0 || side[creator] == Side::kLower) always_sources.push_back(storage);
  }
  MinCut cut(problem);
  std::vector<Index> seen(problem.op_count(), kNoOp);
  std::vector<ExitFlow> result;
  for (Index exit = 0; exit < problem.op_count(); ++exit) {
    if (side[exit] == Side::kFree) continue;
    const auto neighbours = forward ? problem.predecessors()[exit] : problem.successors()[exit];
    if (!std::ranges::all_of(neighbours, [&](Index op) { return side[op] == Side::kFree; })) continue;
    const std::vector<Index> related = reachable(forward ? problem.predecessors() : problem.successors(), exit, seen, exit);
    control.check(static_cast<std::uint32_t>(related.size()));
    const Side exit_side = side[exit];
    std::vector<Index> sources = always_sources;
    for (Index op : related) {
      side[op] = forward ? Side::kLower : Side::kOutside;
      if (forward) sources.insert(sources.end(), problem.creates()[op].begin(), problem.creates()[op].end());
    }
    side[exit] = Side::kOutside;
    for (Index mode = 0; mode < static_cast<Index>(problem.modes(exit).size()); ++mode) {
      const Bytes needed = std::max<Bytes>(bound - problem.working_set(exit, problem.modes(exit)[mode]), 0);
      ExitFlow flow{exit, mode, {}, {}};
      if (needed > 0) {
        const Bytes value = cut.least_idle_bytes(side, exit, problem.modes(exit)[mode], sources, needed, false, control);
        if (value < needed) throw std::logic_error("a trap bound does not hold: this is a fault of the kernel");
        cut.flows(flow.storage_flows, flow.order_flows);
      }
      result.push_back(std::move(flow));
    }
    for (Index op : related) side[op] = Side::kFree;
    side[exit] = exit_side;
  }
  return result;
}

}  // namespace lowtide
