#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <stdexcept>

#include "control.hpp"
#include "cut.hpp"
#include "orders.hpp"
#include "random_problems.hpp"
#include "search.hpp"
#include "state.hpp"
#include "trap.hpp"

using namespace lowtide;
using lowtide::testing::Oracle;
using lowtide::testing::random_data;
using lowtide::testing::rows_of;

namespace {

constexpr unsigned kProblems = 1500;
constexpr double kPatience = 60.0;
constexpr SearchLimits kRoomy{1'000'000, std::int64_t{1} << 28};

Bytes floor_of(const Problem& problem) {
  Bytes floor = 0;
  for (Index op = 0; op < problem.op_count(); ++op) floor = std::max(floor, problem.working_set(op));
  return floor;
}

// A graph too wide to search to the end: `width` independent pairs whose sizes leave no easy commits.
ProblemData wide_data(Index width) {
  ProblemData data;
  std::vector<std::vector<Index>> users;
  std::vector<std::vector<Index>> predecessors;
  std::mt19937 random(7);
  const Index ops = width * 3;
  for (Index op = 0; op < ops; ++op) {
    data.storage_bytes.push_back(1000 + static_cast<Bytes>(random() % 1000));
    data.storage_creator.push_back(op);
    data.storage_is_output.push_back(op >= 2 * width);
    data.storage_is_pinned.push_back(0);
    users.emplace_back();
    predecessors.emplace_back();
    data.op_workspace_bytes.push_back(static_cast<Bytes>(random() % 3000));
    data.op_modes.push_back({{}});
    if (op < width) continue;
    for (int reader = 0; reader < 3; ++reader) {
      const Index from = (op / width - 1) * width + static_cast<Index>(random() % static_cast<unsigned>(width));
      if (!users[from].empty() && users[from].back() == op) continue;
      if (std::ranges::count(predecessors[op], from) > 0) continue;
      users[from].push_back(op);
      predecessors[op].push_back(from);
    }
    std::ranges::sort(predecessors[op]);
  }
  data.storage_users = rows_of(users);
  data.op_predecessors = rows_of(predecessors);
  return data;
}

// Conservation, capacities and worth of a flow, from the rules of docs/memory-model.md alone.
Bytes worth_of_flow(const Problem& problem, const ExitFlow& flow, const std::vector<Side>& side) {
  const auto& mode = problem.modes(flow.op)[flow.mode];
  std::vector<Bytes> through(problem.storage_count(), 0);
  std::vector<Bytes> balance(problem.op_count(), 0);
  Bytes worth = 0;
  for (const StorageFlow& arc : flow.storage_flows) {
    CHECK(arc.amount > 0);
    through[arc.storage] += arc.amount;
    if (arc.user == kEndOfProgram) {
      CHECK(problem.is_output(arc.storage));
      worth += arc.amount;
      continue;
    }
    CHECK(arc.user != flow.op);
    CHECK(std::ranges::count(problem.users()[arc.storage], arc.user) == 1);
    CHECK(side[arc.user] != Side::kLower);
    (side[arc.user] == Side::kFree ? balance[arc.user] : worth) += arc.amount;
  }
  for (const OrderFlow& arc : flow.order_flows) {
    CHECK(std::ranges::count(problem.predecessors()[arc.op], arc.predecessor) == 1);
    CHECK(side[arc.op] == Side::kFree);
    CHECK(side[arc.predecessor] == Side::kFree);
    balance[arc.op] -= arc.amount;
    balance[arc.predecessor] += arc.amount;
  }
  for (Index storage = 0; storage < problem.storage_count(); ++storage) {
    if (through[storage] == 0) continue;
    const auto pair = std::ranges::find_if(mode, [&](const InPlaceSaving& each) { return each.input == storage; });
    const bool is_idle = std::ranges::count(problem.touches()[flow.op], storage) == 0 &&
                         std::ranges::count(problem.creates()[flow.op], storage) == 0 && !problem.is_pinned(storage);
    CHECK((is_idle || pair != mode.end()));
    CHECK(through[storage] <= (pair != mode.end() ? pair->saving : problem.bytes(storage)));
    const Index creator = problem.creator(storage);
    if (creator >= 0 && side[creator] == Side::kFree) balance[creator] -= through[storage];
    CHECK((creator < 0 || side[creator] != Side::kOutside));
  }
  for (Index op = 0; op < problem.op_count(); ++op) CHECK(balance[op] == 0);
  return problem.working_set(flow.op, mode) + worth;
}

std::vector<Side> sides_of(const Problem& problem, std::span<const Index> trap, bool forward, Index exit) {
  std::vector<Side> side(problem.op_count());
  std::vector<std::uint8_t> in_trap(problem.op_count(), 0);
  std::vector<std::uint8_t> related(problem.op_count(), 0);
  for (Index op : trap) in_trap[op] = 1;
  related[exit] = 1;
  if (forward) {
    for (Index op = exit; op >= 0; --op) {
      if (related[op] != 0) for (Index before : problem.predecessors()[op]) related[before] = 1;
    }
  } else {
    for (Index op = exit; op < problem.op_count(); ++op) {
      if (related[op] != 0) for (Index after : problem.successors()[op]) related[after] = 1;
    }
  }
  for (Index op = 0; op < problem.op_count(); ++op) {
    if (forward) side[op] = in_trap[op] == 0 ? Side::kOutside : related[op] != 0 ? Side::kLower : Side::kFree;
    else side[op] = in_trap[op] == 0 ? Side::kLower : related[op] != 0 ? Side::kOutside : Side::kFree;
  }
  side[exit] = Side::kOutside;
  return side;
}

}  // namespace

TEST_CASE("orders are valid and never below the optimum; a run and its undoing cancel out") {
  for (unsigned seed = 0; seed < kProblems; ++seed) {
    const Problem problem(random_data(seed, 9));
    Control control(nullptr, kPatience);
    const Bytes optimum = Oracle(problem).optimal_peak();
    for (GreedyRule rule : {GreedyRule::kGiven, GreedyRule::kLeastGrowth, GreedyRule::kLeastStep, GreedyRule::kNewest}) {
      CHECK(peak_of(problem, greedy_order(problem, rule, floor_of(problem), control)) >= optimum);
    }
    const auto order = greedy_order_from_the_end(problem, control);
    CHECK(peak_of(problem, order) >= optimum);
    const BeamResult beam = beam_order(problem, 3, std::numeric_limits<Bytes>::max(), control);
    CHECK(peak_of(problem, beam.order) >= optimum);
    State state(problem);
    const Bytes live = state.live_bytes();
    for (Index op : order) state.run(op);
    for (std::size_t at = order.size(); at > 0; --at) state.undo(order[at - 1]);
    CHECK(state.live_bytes() == live);
    CHECK(state.done_count() == 0);
  }
}

TEST_CASE("trap bounds never pass the optimum and come with flows that prove them") {
  for (unsigned seed = 0; seed < kProblems; ++seed) {
    CAPTURE(seed);
    const Problem problem(random_data(seed, 9));
    Control control(nullptr, kPatience);
    const Bytes optimum = Oracle(problem).optimal_peak();
    const Bytes floor = floor_of(problem);
    CHECK(floor <= optimum);
    for (bool forward : {true, false}) {
      const TrapBound best = forward ? ForwardTrap(problem).best(floor, optimum, control)
                                     : ReverseTrap(problem).best(floor, optimum, control);
      CHECK(best.bound <= optimum);
      if (best.bound == floor) continue;
      for (const ExitFlow& flow : exit_flows(problem, best.trap, forward, best.bound, control)) {
        CHECK(worth_of_flow(problem, flow, sides_of(problem, best.trap, forward, flow.op)) >= best.bound);
      }
      CHECK_THROWS_AS(exit_flows(problem, best.trap, forward, optimum + 1, control), std::logic_error);
    }
    CHECK_FALSE(ForwardTrap(problem).stalls(State(problem), optimum + 1, nullptr, control));
    CHECK_FALSE(ReverseTrap(problem).stalls(optimum + 1, control));
  }
}

TEST_CASE("search finds the optimum and refutes one byte less") {
  for (unsigned seed = 0; seed < kProblems; ++seed) {
    CAPTURE(seed);
    const Problem problem(random_data(seed, 10));
    Control control(nullptr, kPatience);
    const Bytes optimum = Oracle(problem).optimal_peak();
    const SearchResult found = Search(problem, optimum, kRoomy, control).run();
    REQUIRE(found.status == SearchStatus::kFound);
    CHECK(peak_of(problem, found.order) == optimum);
    const SearchResult refuted = Search(problem, optimum - 1, kRoomy, control).run();
    REQUIRE(refuted.status == SearchStatus::kExhausted);
    CHECK(refuted.lower_bound > optimum - 1);
    CHECK(refuted.lower_bound <= optimum);
    CHECK(refuted.family.at(0).parent == -1);
  }
}

TEST_CASE("a limit on states, a deadline and a cancellation end a search") {
  const Problem problem(wide_data(40));
  Control control(nullptr, kPatience);
  const auto greedy = greedy_order(problem, GreedyRule::kLeastStep, floor_of(problem), control);
  const Bytes threshold = peak_of(problem, greedy) * 9 / 10;
  CHECK(Search(problem, threshold, {50, std::int64_t{1} << 28}, control).run().status == SearchStatus::kStateLimit);
  Control late(nullptr, 0.0);
  CHECK_THROWS_AS(Search(problem, threshold, kRoomy, late).run(), Interrupted);
  CancelToken token;
  token.cancel();
  Control cancelled(&token, kPatience);
  try {
    Search(problem, threshold, kRoomy, cancelled).run();
    FAIL("a cancelled search went on");
  } catch (const Interrupted& interrupted) {
    CHECK(interrupted.cancelled);
  }
}

TEST_CASE("arrays that do not fit together are refused") {
  ProblemData short_flags = random_data(1, 9);
  short_flags.storage_is_output.pop_back();
  CHECK_THROWS_AS(Problem{std::move(short_flags)}, std::invalid_argument);
  ProblemData wild_creator = random_data(1, 9);
  wild_creator.storage_creator[0] = 1000;
  CHECK_THROWS_AS(Problem{std::move(wild_creator)}, std::invalid_argument);
  ProblemData negative = random_data(1, 9);
  negative.storage_bytes[0] = -1;
  CHECK_THROWS_AS(Problem{std::move(negative)}, std::invalid_argument);
  CHECK_THROWS_AS(Rows({0, 2}, {1}), std::invalid_argument);
  const Problem problem(random_data(3, 9));
  std::vector<Index> order(problem.op_count(), 0);
  if (problem.op_count() > 1) CHECK_THROWS_AS(peak_of(problem, order), std::invalid_argument);
}
