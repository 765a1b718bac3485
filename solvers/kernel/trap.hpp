// Trap bounds (design, section 2): closures that absorb every exit cheaper than a threshold.
//
// Contraction (docs/proofs.md): let M be the largest downset of least live bytes between the start and D. Then for every exit w and every
// S between anc(w) and D, c(S u M, w) <= c(S, w): the cut may start from M, and the free region is only D \ M.
// The mirror image holds for the reverse trap with N, the smallest downset of least live bytes above V \ E.
#pragma once

#include <deque>
#include <unordered_set>
#include <vector>

#include "bits.hpp"
#include "control.hpp"
#include "cut.hpp"
#include "flow_ties.hpp"
#include "problem.hpp"
#include "state.hpp"

namespace lowtide {

struct TrapBound {
  Bytes bound = 0;            // no order has a lower peak
  std::vector<Index> trap;    // the downset or upset that shows it; empty when nothing beats the floor
};

// A set of indices below a limit with constant-time changes that can be walked.
class IndexSet {
 public:
  explicit IndexSet(Index limit) : place_(limit, -1) {}
  void clear();
  void insert(Index index);
  void erase(Index index);
  std::span<const Index> items() const { return items_; }

 private:
  std::vector<Index> items_;
  std::vector<Index> place_;
};

// States from which the forward closure at one threshold is known to reach the end.
using Milestones = std::unordered_set<OpSet, OpSetHash>;

class ForwardTrap {
 public:
  explicit ForwardTrap(const Problem& problem);

  // Whether the closure at `threshold` stalls before it holds every op: then every way on from `start` costs at least bound().
  // Looks up and extends `milestones` (of this same threshold) when given.
  bool stalls(const State& start, Bytes threshold, Milestones* milestones, Control& control);

  // After stalls() returned true: the least cut over all exits, the ops of D beyond the start.
  Bytes bound(Control& control);
  std::vector<Index> trap() const;
  // The ops absorbed, grouped by the steps in which M grew: a relaxed execution, which a search does well to follow.
  std::vector<Index> plan() const;

  // The best forward trap bound above `floor`; stops once it reaches `enough`.
  TrapBound best(Bytes floor, Bytes enough, Control& control);

 private:
  struct Exit {
    Bytes value = 0;  // a lower bound on its cost
    bool exact = false;
  };

  void start_at(const State& start);
  void open_exit(Index op);
  void look_again(Index exit);
  // Whether exits whose ties are not known were put back, after an absorption that may concern them.
  bool look_again_at_untracked();
  // Absorbs what is cheaper than the threshold; false when it stalls. True when D is everything or a milestone is met.
  bool close(Bytes threshold, Milestones* milestones, Control& control);
  bool is_cheap(Index op, Bytes threshold, bool exact, Control& control);
  void paint_ancestors(Index op);
  void unpaint();
  void absorb(Index op, Control& control);
  void advance_lower(std::span<const Index> ops);
  void run_lower(Index op);
  bool grow_lower_with(Index op, Control& control);
  bool grow_lower(Control& control);

  const Problem& problem_;
  MinCut cut_;
  State lower_;                 // M
  State upper_;                 // D
  std::vector<Side> side_;
  std::vector<Index> free_;     // D \ M, in the order of absorption
  IndexSet live_;               // live at M
  OpSet lower_set_;
  IndexSet open_exits_;
  std::vector<Exit> exits_;
  std::vector<std::uint8_t> is_queued_;
  std::deque<Index> fresh_;
  std::deque<Index> again_;
  FlowTies ties_;
  bool has_absorbed_ = false;  // since the exits without known ties were looked at
  std::vector<Index> painted_;
  std::vector<Index> flow_ends_;
  std::vector<Index> sources_;
  std::vector<Index> absorbed_;
  std::vector<Index> planned_;  // the ops of M beyond the start, in the order of the plan
  // Below this many free ops a larger M is looked for after every absorption.
  static constexpr std::size_t kAlwaysLook = 12;
  // Of one closure; fewer milestones only make later closures longer.
  static constexpr std::size_t kMilestoneBytes = std::size_t{16} << 20;
  std::size_t next_look_ = 0;
  bool has_skipped_ = false;
  std::vector<OpSet> met_;      // milestones to add if this closure reaches the end
};

class ReverseTrap {
 public:
  explicit ReverseTrap(const Problem& problem);

  // As ForwardTrap, from the end of the program.
  bool stalls(Bytes threshold, Control& control);
  TrapBound best(Bytes floor, Bytes enough, Control& control);
  Bytes bound(Control& control);
  std::vector<Index> trap() const;  // the ops of E

 private:
  struct Exit {
    Bytes value = 0;
    bool exact = false;
  };

  void start_at_the_end();
  void open_exit(Index op);
  void look_again(Index exit);
  // Whether exits whose ties are not known were put back, after an absorption that may concern them.
  bool look_again_at_untracked();
  bool close(Bytes threshold, Control& control);
  bool is_cheap(Index op, Bytes threshold, bool exact, Control& control);
  void paint_descendants(Index op);
  void unpaint();
  void absorb(Index op, Control& control);
  void take_back_lower(Index op);
  bool shrink_upper_without(Index op, Control& control);
  bool shrink_upper(Control& control);
  void keep_in_upper(std::span<const Index> inside);

  const Problem& problem_;
  MinCut cut_;
  State lower_;                 // V \ E
  State upper_;                 // N
  std::vector<Side> side_;
  std::vector<Index> free_;     // N \ (V \ E)
  IndexSet live_;               // live at V \ E
  IndexSet open_exits_;
  std::vector<Exit> exits_;
  std::vector<std::uint8_t> is_queued_;
  std::vector<Index> successors_left_;
  std::deque<Index> fresh_;
  std::deque<Index> again_;
  FlowTies ties_;
  bool has_absorbed_ = false;  // since the exits without known ties were looked at
  std::vector<Index> painted_;
  std::vector<Index> flow_ends_;
  static constexpr std::size_t kAlwaysLook = 12;
  std::size_t next_look_ = 0;
  bool has_skipped_ = false;
};

// One exit of a finished trap in one mode, with a flow that proves its price.
struct ExitFlow {
  Index op;
  Index mode;
  std::vector<StorageFlow> storage_flows;
  std::vector<OrderFlow> order_flows;
};

// Flows for every exit and mode of a forward (`trap` a downset) or reverse (`trap` an upset) trap, each worth at least `bound`.
// Throws std::logic_error when one cannot be found: the bound does not hold.
std::vector<ExitFlow> exit_flows(const Problem& problem, std::span<const Index> trap, bool forward, Bytes bound,
                                 Control& control);

}  // namespace lowtide
