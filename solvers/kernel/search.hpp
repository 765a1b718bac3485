// Exact search over downsets at one threshold (design, section 3): depth first, safe commits, backjumping, pruning by traps.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "bits.hpp"
#include "control.hpp"
#include "cut.hpp"
#include "problem.hpp"
#include "state.hpp"
#include "trap.hpp"

namespace lowtide {

enum class Continuation : std::uint8_t { kBranch, kCommit, kDead };

// One state of a closed family: the state of `parent` plus `run` (lowtide/certificate.py, FamilyState).
struct FamilyState {
  Index parent;
  std::vector<Index> run;
  Continuation then;
  std::vector<Index> then_run;
};

enum class SearchStatus : std::uint8_t { kFound, kExhausted, kStateLimit };

struct SearchResult {
  SearchStatus status;
  std::vector<Index> order;          // kFound: a complete order whose peak is at most the threshold
  Bytes lower_bound = 0;             // kExhausted: above the threshold; no order has a lower peak
  std::vector<FamilyState> family;   // kExhausted: the closed family that shows it
  std::int64_t states = 0;
};

struct SearchLimits {
  std::int64_t max_states;
  std::int64_t max_bytes;  // of what the search holds, about: states, milestones and the stack
};

class Search {
 public:
  Search(const Problem& problem, Bytes threshold, SearchLimits limits, Control& control);
  SearchResult run();

 private:
  struct Node {
    bool closed = false;  // nothing within the threshold continues from here
    Continuation then = Continuation::kBranch;
    std::vector<Index> then_run;                       // ops
    std::vector<std::pair<Index, Index>> next;         // (op, node) per branch; (kNoOp, node) for a commit
  };

  struct Frame {
    Index node;
    Index order_length;             // of the prefix that reaches this state
    Bytes live_bytes;
    std::vector<Index> committed;   // nodes that commit to this one
    std::vector<Index> branches;
    std::size_t next_branch = 0;
    bool is_checked = false;        // a trap closure from here has reached the end
  };

  static std::int64_t bytes_of(const Frame& frame);
  void push_frame(Frame frame);
  Frame take_frame();
  void drop_frames(std::size_t keep);
  void run_op(Index op);
  void undo_to(Index order_length);
  Index node_here();
  // Deals with the state just reached; pushes a frame when it has to be branched on.
  // `committed` are nodes that commit to it. Returns true when an order is complete.
  bool arrive(std::vector<Index> committed, Index order_length_before);
  std::vector<Index> run_safe_ops();
  std::optional<std::size_t> frame_to_jump_to() const;
  // Replaces the frame by a commit to the largest state of least live bytes between it and the current state.
  std::vector<Index> commit_run(const Frame& from);
  void close(Index node, const std::vector<Index>& committed);
  std::vector<Index> affordable_branches(Node& node);
  void sort_by_plan(std::span<Index> branches) const;
  // Trap closure from the state of a frame; true when it stalls. Otherwise the frame is checked and its plan is followed.
  bool is_dead(std::size_t frame);
  // The current state leads nowhere by its plan: closes the earliest frame that a trap shows to be dead, if there is one.
  void prune_by_traps();
  std::vector<FamilyState> family() const;

  const Problem& problem_;
  Bytes threshold_;
  SearchLimits limits_;
  Control& control_;
  State state_;
  OpSet set_;
  IndexSet ready_;
  std::vector<Index> order_;
  MinCut cut_;
  ForwardTrap trap_;
  Milestones milestones_;
  std::deque<Node> nodes_;  // grows without a second copy of all
  std::unordered_map<OpSet, Index, OpSetHash> node_of_;
  std::vector<Frame> stack_;
  Bytes least_rejected_;
  std::int64_t bytes_held_ = 0;
  std::vector<std::int64_t> rank_;   // by the latest plan that holds the op; smaller runs first
  std::int64_t plans_ = 0;
  std::vector<Index> dead_trap_;     // of the latest closure that stalled
  Bytes dead_bound_ = 0;
};

}  // namespace lowtide
