// Small random problems, and the plainest possible oracle for them: a dynamic programme over all downsets.
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "problem.hpp"

namespace lowtide::testing {

inline Rows rows_of(const std::vector<std::vector<Index>>& lists) {
  std::vector<Index> offsets{0};
  std::vector<Index> items;
  for (const auto& list : lists) {
    items.insert(items.end(), list.begin(), list.end());
    offsets.push_back(static_cast<Index>(items.size()));
  }
  return {std::move(offsets), std::move(items)};
}

// Up to `max_ops` ops with one or two created storages each, inputs (some pinned), outputs, workspace, extra dependencies and in-place pairs.
inline ProblemData random_data(unsigned seed, Index max_ops) {
  std::mt19937 random(seed);
  auto below = [&random](Index limit) { return static_cast<Index>(random() % static_cast<unsigned>(limit)); };
  const Index ops = 1 + below(max_ops);
  ProblemData data;
  std::vector<std::vector<Index>> users;
  std::vector<std::vector<Index>> predecessors(ops);
  auto add_storage = [&](Index creator) {
    data.storage_bytes.push_back(below(4) == 0 ? 0 : 1 + below(8));
    data.storage_creator.push_back(creator);
    data.storage_is_output.push_back(below(6) == 0);
    data.storage_is_pinned.push_back(creator < 0 && below(3) == 0);
    users.emplace_back();
  };
  for (Index input = below(3); input >= 0; --input) add_storage(-1);
  for (Index op = 0; op < ops; ++op) {
    const Index known = static_cast<Index>(users.size());
    std::vector<Index> reads;
    for (Index reader = 1 + below(3); reader > 0; --reader) reads.push_back(below(known));
    std::ranges::sort(reads);
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    for (Index storage : reads) {
      users[storage].push_back(op);
      if (data.storage_creator[storage] >= 0) predecessors[op].push_back(data.storage_creator[storage]);
    }
    if (op > 0 && below(5) == 0) predecessors[op].push_back(below(op));
    std::ranges::sort(predecessors[op]);
    predecessors[op].erase(std::unique(predecessors[op].begin(), predecessors[op].end()), predecessors[op].end());
    const Index first_created = known;
    for (Index created = 1 + (below(4) == 0); created > 0; --created) add_storage(op);
    data.op_workspace_bytes.push_back(below(4) == 0 ? below(6) : 0);
    std::vector<std::vector<InPlaceSaving>> modes;
    for (Index storage : reads) {
      const bool is_held = data.storage_is_output[storage] != 0 || data.storage_is_pinned[storage] != 0;
      if (is_held || below(3) != 0) continue;
      const Bytes saving = std::min(data.storage_bytes[storage], data.storage_bytes[first_created]);
      modes.push_back({{first_created, storage, saving}});  // one output, several inputs: one pair per mode
    }
    if (modes.empty()) modes.emplace_back();
    data.op_modes.push_back(std::move(modes));
  }
  data.storage_users = rows_of(users);
  data.op_predecessors = rows_of(predecessors);
  return data;
}

class Oracle {
 public:
  explicit Oracle(const Problem& problem) : problem_(problem) {}

  Bytes live(unsigned done) const {
    Bytes total = 0;
    for (Index storage = 0; storage < problem_.storage_count(); ++storage) {
      const Index creator = problem_.creator(storage);
      if (creator >= 0 && !has(done, creator)) continue;
      const auto users = problem_.users()[storage];
      const bool is_needed = std::ranges::any_of(users, [&](Index user) { return !has(done, user); });
      if (is_needed || problem_.is_held(storage)) total += problem_.bytes(storage);
    }
    return total;
  }

  Bytes step_cost(unsigned done, Index op) const {
    Bytes best = 0;
    for (const auto& mode : problem_.modes(op)) {
      Bytes saving = 0;
      for (const InPlaceSaving& pair : mode) {
        const auto users = problem_.users()[pair.input];
        if (std::ranges::all_of(users, [&](Index user) { return user == op || has(done, user); })) saving += pair.saving;
      }
      best = std::max(best, saving);
    }
    return live(done) + problem_.step_extra(op) - best;
  }

  bool is_ready(unsigned done, Index op) const {
    return !has(done, op) &&
           std::ranges::all_of(problem_.predecessors()[op], [&](Index before) { return has(done, before); });
  }

  Bytes optimal_peak() const {
    const unsigned all = (1U << problem_.op_count()) - 1;
    std::vector<Bytes> best(static_cast<std::size_t>(all) + 1, std::numeric_limits<Bytes>::max());
    best[0] = 0;
    for (unsigned done = 0; done < all; ++done) {
      if (best[done] == std::numeric_limits<Bytes>::max()) continue;
      for (Index op = 0; op < problem_.op_count(); ++op) {
        if (!is_ready(done, op)) continue;
        Bytes& next = best[done | 1U << op];
        next = std::min(next, std::max(best[done], step_cost(done, op)));
      }
    }
    return best[all];
  }

 private:
  static bool has(unsigned set, Index op) { return (set >> op & 1U) != 0; }
  const Problem& problem_;
};

}  // namespace lowtide::testing
