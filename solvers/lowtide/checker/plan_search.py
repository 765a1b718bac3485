"""Is there a plan within a budget? An exact search of the checker's own (docs/certificates.md).

A move runs one op and chooses freely which of the storages it touched or made stay. Nothing else
ever goes: an instance is freed right after its last reader, or where it is made if it has none.
States are taken by least extra cost (Dijkstra).

Left out, because some plan at least as good does without:
- keeping what no op that may still run uses and the caller does not want;
- freeing what cannot be made again while an op that has not run yet uses it, or the caller wants
  it: no completion is left;
- running an op again without keeping anything it makes: without that run, instances go earlier
  and all that is kept is the same.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import product

from lowtide.checker.plan_contents import Contents
from lowtide.checker.plan_model import PlanModel
from lowtide.checker.refusal import Deadline, Refusal

MAX_STATES = 200_000

_Held = tuple[int, frozenset[str]]
"""The symbol of what is in a storage, and the views taken of it."""
_Store = tuple[_Held | None, ...]
_Counts = tuple[int, ...]
_State = tuple[_Counts, _Store]


def has_plan(
    plan: PlanModel,
    first_runs: tuple[int, ...] | None,
    budget_bytes: int,
    max_extra_cost: int | None,
    deadline: Deadline,
    max_states: int = MAX_STATES,
) -> bool:
    """Whether some plan takes at most so many bytes and costs at most so much.

    Exponential in the graph, so bounded by states and time.

    Args:
        first_runs: the order first runs keep; None for any.
        max_extra_cost: None for no limit.

    Raises:
        Refusal: `undecided`.
    """
    search = _Search(plan, first_runs, budget_bytes, deadline.named("undecided"))
    start = search.start()
    best = {start: 0}
    # Among equally cheap states the one with most runs first: it is nearer to the end.
    waiting = [(0, 0, 0, start)]
    pushed = 0
    while waiting:
        cost, less_steps, _, state = heapq.heappop(waiting)
        if cost > best[state]:
            continue
        if search.is_end(state):
            return True
        for extra, after in search.moves(state):
            total = cost + extra
            known = best.get(after)
            if (max_extra_cost is not None and total > max_extra_cost) or (
                known is not None and known <= total
            ):
                continue
            if len(best) >= max_states:
                text = f"not decided within {max_states} states of the checker's own search"
                raise Refusal("undecided", text)
            best[after] = total
            pushed += 1
            heapq.heappush(waiting, (total, less_steps - 1, pushed, after))
    return False


class _Search:
    def __init__(
        self,
        plan: PlanModel,
        first_runs: tuple[int, ...] | None,
        budget_bytes: int,
        deadline: Deadline,
    ) -> None:
        self._plan = plan
        self._model = plan.model
        self._first_runs = first_runs
        self._budget = budget_bytes
        self._deadline = deadline

    def start(self) -> _State:
        """Graph inputs are there if anybody ever uses or wants them."""
        store: list[_Held | None] = [None] * len(self._model.creator)
        for given in self._plan.program.at_start:
            s = given.storage
            if self._model.users[s] or self._model.is_held(s):
                store[s] = (given.symbol, given.views)
        return (0,) * self._model.op_count, tuple(store)

    def is_end(self, state: _State) -> bool:
        """Whether every op ran and the outputs hold what they should."""
        counts, store = state
        return all(counts) and all(_holds(store, c) for c in self._plan.program.at_end)

    def moves(self, state: _State) -> Iterator[tuple[int, _State]]:
        """The states one run away, each with the cost of the run if it is no first one."""
        counts, store = state
        live = sum(size for size, held in zip(self._model.size_bytes, store, strict=True) if held)
        for op in range(self._model.op_count):
            self._deadline.check()
            if self._can_run(counts, store, op):
                extra = self._plan.cost[op] if counts[op] else 0
                for after in self._runs(counts, store, live, op):
                    yield extra, after

    def _can_run(self, counts: _Counts, store: _Store, op: int) -> bool:
        effects = self._plan.program.effects[op]
        if not self._plan.may_run_again(op, counts[op]):
            return False
        if not counts[op]:
            if self._first_runs is not None:
                if self._first_runs[sum(map(bool, counts))] != op:
                    return False
            elif not all(counts[u] for u in self._model.predecessors[op]):
                return False
        # An instance that is there when another is made was kept for nothing.
        return all(_holds(store, read) for read in effects.reads) and all(
            store[made.storage] is None for made in effects.creates
        )

    def _runs(self, counts: _Counts, store: _Store, live: int, op: int) -> Iterator[_State]:
        model, effects = self._model, self._plan.program.effects[op]
        after_counts = self._counted(counts, op)
        full = list(store)
        fresh = {made.storage for made in effects.creates}
        for change in effects.changes:
            held = full[change.storage]
            views = held[1] if held else frozenset()
            if change.views - views:
                fresh.add(change.storage)
            full[change.storage] = (change.symbol, views | change.views)
        for made in effects.creates:
            full[made.storage] = (made.symbol, made.views)
        concerned = (*model.touches[op], *model.creates[op])
        choices = [self._choices(after_counts, s) for s in concerned]
        cost = live + model.added_bytes(op)
        for keeps in product(*choices):
            self._deadline.check()
            gone = {s for s, keep in zip(concerned, keeps, strict=True) if not keep}
            if counts[op] and fresh <= gone:
                continue
            if cost - self._saving(op, gone) <= self._budget:
                yield after_counts, tuple(None if s in gone else h for s, h in enumerate(full))

    def _counted(self, counts: _Counts, op: int) -> _Counts:
        """How often ops ran, as far as it matters: without a cap, whether they did."""
        count = 1 if self._plan.caps[op] is None else counts[op] + 1
        return (*counts[:op], count, *counts[op + 1 :])

    def _choices(self, counts: _Counts, storage: int) -> tuple[bool, ...]:
        """Whether a storage may stay (True), may go (False), or both, after a run."""
        model = self._model
        creator, users = model.creator[storage], model.users[storage]
        can_be_made = creator >= 0 and self._plan.may_run_again(creator, counts[creator])
        is_wanted = model.is_held(storage) or not all(counts[u] for u in users)
        if is_wanted and not can_be_made:
            return (True,)
        if is_wanted or any(self._plan.may_run_again(u, counts[u]) for u in users):
            return True, False
        return (False,)

    def _saving(self, op: int, gone: set[int]) -> int:
        return max(
            sum(pair.size_bytes for pair in mode if pair.input in gone)
            for mode in self._model.modes[op]
        )


def _holds(store: _Store, wanted: Contents) -> bool:
    held = store[wanted.storage]
    return held is not None and held[0] == wanted.symbol and wanted.views <= held[1]
