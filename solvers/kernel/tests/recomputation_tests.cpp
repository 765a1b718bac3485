// The recomputation search on graphs that can be followed by hand.
#include <doctest/doctest.h>

#include <stdexcept>

#include "control.hpp"
#include "recomputation_search.hpp"

using namespace lowtide;

namespace {

RecomputationOp op(std::int64_t cost, std::int64_t cap, std::vector<Index> touches, std::vector<Index> creates, std::vector<Index> predecessors) {
  RecomputationOp made;
  made.cost = cost;
  made.cap = cap;
  made.touches = std::move(touches);
  made.creates = std::move(creates);
  made.predecessors = std::move(predecessors);
  made.modes = {{}};
  return made;
}

RecomputationStorage storage(Bytes size_bytes, Index creator, bool is_output, std::vector<Index> users) {
  RecomputationStorage made;
  made.size_bytes = size_bytes;
  made.creator = creator;
  made.is_output = is_output;
  made.users = std::move(users);
  return made;
}

// x -> stem -> big -> big -> small, and join reads stem and small: the stem waits while the two big ones run.
RecomputationProblem held_stem(std::int64_t cap) {
  RecomputationProblem problem;
  problem.ops = {op(3, cap, {0}, {1}, {}), op(50, cap, {1}, {2}, {0}), op(50, cap, {2}, {3}, {1}), op(5, cap, {3}, {4}, {2}),
                 op(7, cap, {1, 4}, {5}, {0, 3})};
  problem.storages = {storage(1, -1, false, {0}),   storage(40, 0, false, {1, 4}), storage(100, 1, false, {2}),
                      storage(100, 2, false, {3}), storage(10, 3, false, {4}),    storage(10, 4, true, {})};
  check(problem);
  return problem;
}

RecomputationResult search(const RecomputationProblem& problem, RecomputationQuestion question, double seconds = 60) {
  Control control(nullptr, seconds);
  RecomputationResult result;
  RecomputationSearch(problem, question, control).run(result);
  return result;
}

}  // namespace

TEST_CASE("a value is made again where it does not fit") {
  for (const auto goal : {RecomputationGoal::kCheapest, RecomputationGoal::kAny, RecomputationGoal::kOnDemand}) {
    for (const bool keeps_order : {false, true}) {
      const auto found = search(held_stem(2), {201, std::nullopt, goal, keeps_order, 1000});
      REQUIRE(found.status == RecomputationStatus::kFound);
      CHECK(found.extra_cost == 3);
      CHECK(found.runs.size() == 6);
      CHECK(found.is_least == (goal == RecomputationGoal::kCheapest));
    }
  }
}

TEST_CASE("what fits as it is costs nothing") {
  const auto found = search(held_stem(2), {240, std::nullopt, RecomputationGoal::kCheapest, false, 1000});
  CHECK(found.status == RecomputationStatus::kFound);
  CHECK(found.runs == std::vector<Index>{0, 1, 2, 3, 4});
}

TEST_CASE("no plan: a budget, a cap, a limit on cost, a limit on states") {
  CHECK(search(held_stem(2), {200, std::nullopt, RecomputationGoal::kCheapest, false, 1000}).status == RecomputationStatus::kExhausted);
  CHECK(search(held_stem(1), {239, std::nullopt, RecomputationGoal::kAny, false, 1000}).status == RecomputationStatus::kExhausted);
  CHECK(search(held_stem(2), {201, 2, RecomputationGoal::kCheapest, false, 1000}).status == RecomputationStatus::kExhausted);
  CHECK(search(held_stem(0), {201, std::nullopt, RecomputationGoal::kCheapest, false, 1}).status == RecomputationStatus::kStateLimit);
  // On demand proves nothing.
  CHECK(search(held_stem(2), {200, std::nullopt, RecomputationGoal::kOnDemand, false, 1000}).status == RecomputationStatus::kStateLimit);
}

TEST_CASE("a deadline and a cancellation interrupt it") {
  CHECK_THROWS_AS(search(held_stem(2), {201, std::nullopt, RecomputationGoal::kCheapest, false, 1000}, 0.0), Interrupted);
  CancelToken token;
  token.cancel();
  Control control(&token, 60);
  RecomputationResult result;
  const RecomputationProblem problem = held_stem(2);
  CHECK_THROWS_AS(RecomputationSearch(problem, {201, std::nullopt, RecomputationGoal::kAny, false, 1000}, control).run(result), Interrupted);
}

TEST_CASE("wrong problems are refused") {
  RecomputationProblem problem = held_stem(2);
  problem.ops[1].touches = {9};
  CHECK_THROWS_AS(check(problem), std::invalid_argument);
  problem = held_stem(2);
  problem.ops[0].predecessors = {1};
  CHECK_THROWS_AS(check(problem), std::invalid_argument);
  problem = held_stem(2);
  problem.storages[1].creator = 2;
  CHECK_THROWS_AS(check(problem), std::invalid_argument);
}
