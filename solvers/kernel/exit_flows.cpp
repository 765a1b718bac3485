#include <algorithm>
#include <stdexcept>

#include "trap.hpp"

namespace lowtide {

namespace {

void spread(const Rows& rows, Index from, std::vector<std::uint8_t>& reached) {
  std::vector<Index> stack{from};
  while (!stack.empty()) {
    const Index at = stack.back();
    stack.pop_back();
    for (Index next : rows[at]) {
      if (reached[next] != 0) continue;
      reached[next] = 1;
      stack.push_back(next);
    }
  }
}

}  // namespace

// Unlike the closures this uses the whole interval of docs/memory-model.md, so that a checker needs no contraction argument.
std::vector<ExitFlow> exit_flows(const Problem& problem, std::span<const Index> trap, bool forward, Bytes bound,
                                 Control& control) {
  const Index ops = problem.op_count();
  std::vector<std::uint8_t> in_trap(ops, 0);
  for (Index op : trap) in_trap[op] = 1;
  MinCut cut(problem);
  std::vector<Side> side(ops);
  std::vector<Index> sources;
  std::vector<ExitFlow> result;
  for (Index exit = 0; exit < ops; ++exit) {
    if (in_trap[exit] != 0) continue;
    const auto neighbours = forward ? problem.predecessors()[exit] : problem.successors()[exit];
    if (!std::ranges::all_of(neighbours, [&](Index op) { return in_trap[op] != 0; })) continue;
    control.check(static_cast<std::uint32_t>(ops));
    std::vector<std::uint8_t> related(ops, 0);
    spread(forward ? problem.predecessors() : problem.successors(), exit, related);
    for (Index op = 0; op < ops; ++op) {
      if (forward) {
        side[op] = in_trap[op] == 0 ? Side::kOutside : related[op] != 0 ? Side::kLower : Side::kFree;
      } else {
        side[op] = in_trap[op] == 0 ? Side::kLower : related[op] != 0 ? Side::kOutside : Side::kFree;
      }
    }
    side[exit] = Side::kOutside;
    sources.clear();
    for (Index storage = 0; storage < problem.storage_count(); ++storage) {
      const Index creator = problem.creator(storage);
      if (creator < 0 || side[creator] == Side::kLower) sources.push_back(storage);
    }
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
  }
  return result;
}

}  // namespace lowtide
