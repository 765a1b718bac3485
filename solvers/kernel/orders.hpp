// Good orders, fast: greedy rules, forwards and backwards, and a beam.
#pragma once

#include <vector>

#include "control.hpp"
#include "problem.hpp"
#include "state.hpp"

namespace lowtide {

enum class GreedyRule {
  kGiven,         // first listed, first run
  kLeastGrowth,   // least growth of the live bytes, then the cheapest step
  kLeastStep,     // the cheapest step, then the least growth
  kNewest,        // depth first: what became ready last
};

// A complete valid order. Whatever the rule, an op that does not grow the live bytes and fits under the peak so far
// (or under `floor`, a lower bound on every order's peak) runs at once: a safe commit, docs/proofs.md.
// O((ops + edges) log ops).
std::vector<Index> greedy_order(const Problem& problem, GreedyRule rule, Bytes floor, Control& control);

// The mirror image of kLeastStep: chooses the last op first.
std::vector<Index> greedy_order_from_the_end(const Problem& problem, Control& control);

struct BeamResult {
  std::vector<Index> order;  // empty when no order with a peak below the cutoff was met
  Bytes peak = 0;
};

// Breadth-first over downsets of equal size, keeping the `width` with the least (peak so far, live bytes).
// Only orders with a peak below `cutoff` are followed. Graphs too large for `width` states in 128 MiB get fewer.
// O(ops * width * (ops + edges)).
BeamResult beam_order(const Problem& problem, Index width, Bytes cutoff, Control& control);

}  // namespace lowtide
