"""Certificates for small graphs, made by enumeration: what the checker has to accept.

Everything rests on the brute-force oracle; flows come from plain augmenting paths. Nothing here is
the solver's.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from typing import Any

from lowtide.certificate import (
    END_OF_PROGRAM,
    Certificate,
    Exit,
    FamilyState,
    SearchWitness,
    TrapWitness,
    Witness,
    WorkingSetWitness,
    family_digest,
)

from tests.oracles.brute_force import Mode, Oracle, members
from tests.oracles.canonical_positions import CanonicalPositions, canonical_positions

_Node = tuple[str, int]
_SOURCE: _Node = ("source", 0)
_SINK: _Node = ("sink", 0)


class CertificateMaker:
    """Makes certificates for one graph. `rng` picks among what would do as well.

    Attributes:
        oracle: the graph.
        names: canonical positions of its ops and storages.
    """

    def __init__(self, wire: dict[str, Any], rng: random.Random) -> None:
        self.oracle = Oracle(wire)
        self.names: CanonicalPositions = canonical_positions(wire)
        self._rng = rng

    # Whole certificates.

    def certificate(
        self, witness: Witness, bound_bytes: int, order: list[int] | None = None
    ) -> Certificate:
        """With this witness, for an order with the least peak unless another is given."""
        chosen = self.oracle.optimal_order() if order is None else order
        peak = self.oracle.order_peak(chosen)
        return Certificate(
            graph_hash=self.names.graph_hash,
            status="OPTIMAL" if peak == bound_bytes else "FEASIBLE",
            peak_bytes=peak,
            lower_bound_bytes=bound_bytes,
            order=self._ops(chosen),
            witness=witness,
        )

    def working_set(self) -> Certificate:
        """By the op with the largest working set."""
        oracle = self.oracle
        op = max(range(oracle.op_count), key=oracle.working_set)
        witness = WorkingSetWitness(op=self.names.op_position[op])
        return self.certificate(witness, oracle.working_set(op))

    def forward_trap(self) -> Certificate:
        """By the best of the traps that absorbing the cheapest exit leads to."""
        return self._best_trap(forward=True)

    def reverse_trap(self) -> Certificate:
        """The mirror image."""
        return self._best_trap(forward=False)

    def random_trap(self, forward: bool) -> Certificate:
        """By any downset (or the complement of one)."""
        return self._trap_certificate(self.any_trap(forward), forward)

    def any_trap(self, forward: bool) -> int:
        """A random downset or upset that is not everything."""
        downsets = self.oracle.downsets()
        if forward:
            return self._rng.choice(downsets[:-1])
        return self.oracle.everything & ~self._rng.choice(downsets[1:])

    def family(self) -> Certificate:
        """By a closed family of states that shows the optimum."""
        optimum = self.oracle.optimal_peak()
        states = tuple(_FamilyMaker(self, optimum - 1, self._rng).states())
        witness = SearchWitness(count=len(states), digest=family_digest(states), states=states)
        return self.certificate(witness, optimum)

    def recomputation(self) -> Certificate:
        """By a family that is left out: only its count and digest remain."""
        certificate = self.family()
        assert isinstance(certificate.witness, SearchWitness)
        witness = certificate.witness.model_copy(update={"states": None})
        return certificate.model_copy(update={"witness": witness})

    # Traps.

    def _best_trap(self, forward: bool) -> Certificate:
        trap, best, bound = 0, 0, -1
        while trap != self.oracle.everything:
            costs = {v: self._exit_cost(trap, v, forward) for v in self._exits(trap, forward)}
            cheapest = min(costs, key=lambda v: (costs[v], v))
            if costs[cheapest] > bound:
                best, bound = trap, costs[cheapest]
            trap |= 1 << cheapest
        return self._trap_certificate(best, forward)

    def _trap_certificate(self, trap: int, forward: bool) -> Certificate:
        bound = self.trap_bound(trap, forward)
        return self.certificate(self.trap_witness(trap, forward, bound), bound)

    def trap_bound(self, trap: int, forward: bool) -> int:
        """The least cost of any exit of a trap."""
        exits = self._exits(trap, forward)
        return min(self._exit_cost(trap, v, forward) for v in exits)

    def trap_witness(self, trap: int, forward: bool, bound_bytes: int) -> TrapWitness:
        """All exits of a trap in all modes, with flows for a bound as far as there are any."""
        listed = [
            self._exit(v, mode, *self._interval(trap, v, forward), bound_bytes)
            for v in self._exits(trap, forward)
            for mode in sorted(self.oracle.modes(v), key=sorted)
        ]
        self._rng.shuffle(listed)
        return TrapWitness(
            kind="trap-forward" if forward else "trap-reverse",
            trap=self._ops(members(trap)),
            exits=tuple(listed),
        )

    def _exits(self, trap: int, forward: bool) -> list[int]:
        if forward:
            return self.oracle.ready(trap)
        outside = self.oracle.everything & ~trap
        return [v for v in members(outside) if not self._successors(v) & outside]

    def _interval(self, trap: int, v: int, forward: bool) -> tuple[int, int]:
        """The least and the largest downset that the exit can run from."""
        everything = self.oracle.everything
        if forward:
            return self.oracle.ancestors(v), trap
        after = sum(1 << u for u in members(trap) if self.oracle.ancestors(u) >> v & 1)
        return everything & ~trap & ~(1 << v), everything & ~(1 << v) & ~after

    def _exit_cost(self, trap: int, v: int, forward: bool) -> int:
        cost = self.oracle.min_step_cost(v, *self._interval(trap, v, forward))
        assert cost is not None
        return cost

    def _successors(self, v: int) -> int:
        predecessors = self.oracle.predecessors
        return sum(1 << u for u in range(self.oracle.op_count) if predecessors[u] >> v & 1)

    def _exit(self, v: int, mode: Mode, lower: int, upper: int, bound_bytes: int) -> Exit:
        """An exit with a flow that is enough for the bound, if any is, and sometimes more."""
        needed = max(0, bound_bytes - self.oracle.working_set_in_mode(v, mode))
        wanted = needed if self._rng.random() < 0.5 else 2**62
        flow = self._flow(v, mode, lower, upper, wanted)
        op_at, storage_at = self.names.op_position, self.names.storage_position
        position = {END_OF_PROGRAM: END_OF_PROGRAM, **dict(enumerate(op_at))}
        return Exit(
            op=op_at[v],
            in_place=tuple(sorted((storage_at[y], storage_at[x]) for y, x in mode)),
            storage_flow=tuple(
                (storage_at[b], position[user[1]], amount)
                for ((kind, b), user), amount in flow.items()
                if kind == "storage"
            ),
            order_flow=tuple(
                (op_at[u], op_at[other[1]], amount)
                for ((kind, u), other), amount in flow.items()
                if kind == "op" and other[0] == "op"
            ),
        )

    def _flow(
        self, v: int, mode: Mode, lower: int, upper: int, wanted: int
    ) -> dict[tuple[_Node, _Node], int]:
        """What flows on each arc; users beyond `upper` are sinks of their own until the end."""
        oracle = self.oracle
        free = upper & ~lower
        savings = {pair[1]: oracle.pair_saving(pair) for pair in mode}
        network = _Network()
        for b, block in enumerate(oracle.blocks):
            storage: _Node = ("storage", b)
            if b in savings:
                capacity, fed, users = savings[b], _SOURCE, block.users & ~(1 << v)
            elif b in oracle.touches[v] | oracle.creates[v] or block.is_pinned:
                continue
            elif block.creator is None or lower >> block.creator & 1:
                capacity, fed, users = block.size, _SOURCE, block.users
            elif free >> block.creator & 1:
                capacity, fed, users = block.size, ("op", block.creator), block.users
            else:
                continue
            network.add(fed, storage, capacity)
            if block.is_output:
                network.add(storage, ("op", END_OF_PROGRAM), None)
            for user in members(users & ~lower):
                network.add(storage, ("op", user), None)
        for u in members(free):
            for before in self.names.predecessors[u]:
                if free >> before & 1:
                    network.add(("op", u), ("op", before), None)
        for u in (END_OF_PROGRAM, *members(oracle.everything & ~upper)):
            network.add(("op", u), _SINK, None)
        return network.send(wanted)

    def _ops(self, ops: Iterable[int]) -> tuple[int, ...]:
        return tuple(self.names.op_position[v] for v in ops)


class _Network:
    """Arcs with a capacity (None: unlimited) and the flow on them."""

    def __init__(self) -> None:
        self._capacity: dict[tuple[_Node, _Node], int | None] = {}
        self._flow: dict[tuple[_Node, _Node], int] = {}
        self._neighbours: dict[_Node, dict[_Node, None]] = {}

    def add(self, tail: _Node, head: _Node, capacity: int | None) -> None:
        self._capacity[tail, head] = capacity
        self._neighbours.setdefault(tail, {})[head] = None
        self._neighbours.setdefault(head, {})[tail] = None

    def send(self, wanted: int) -> dict[tuple[_Node, _Node], int]:
        """Sends up to `wanted` from source to sink along shortest paths."""
        while wanted > 0:
            path = self._path()
            if path is None:
                break
            amount = min([wanted, *(self._room(arc) for arc in path)])
            wanted -= amount
            for tail, head in path:
                back = min(amount, self._flow.get((head, tail), 0))
                if back:
                    self._flow[head, tail] -= back
                if amount > back:
                    self._flow[tail, head] = self._flow.get((tail, head), 0) + amount - back
        return {arc: amount for arc, amount in self._flow.items() if amount}

    def _room(self, arc: tuple[_Node, _Node]) -> int:
        tail, head = arc
        room = self._flow.get((head, tail), 0)
        if arc in self._capacity:
            capacity = self._capacity[arc]
            room += 2**62 if capacity is None else capacity - self._flow.get(arc, 0)
        return room

    def _path(self) -> list[tuple[_Node, _Node]] | None:
        came_from: dict[_Node, _Node] = {_SOURCE: _SOURCE}
        waiting = deque([_SOURCE])
        while waiting and _SINK not in came_from:
            node = waiting.popleft()
            for other in self._neighbours.get(node, ()):
                if other not in came_from and self._room((node, other)) > 0:
                    came_from[other] = node
                    waiting.append(other)
        if _SINK not in came_from:
            return None
        path = []
        node = _SINK
        while node != _SOURCE:
            path.append((came_from[node], node))
            node = came_from[node]
        return path


class _FamilyMaker:
    """A closed family for a threshold below the optimum, by continuations chosen at random."""

    def __init__(self, maker: CertificateMaker, threshold: int, rng: random.Random) -> None:
        self._oracle = maker.oracle
        self._position = maker.names.op_position
        self._threshold = threshold
        self._rng = rng
        self._number: dict[int, int] = {}
        self._found: list[tuple[int, int | None, list[int]]] = []

    def states(self) -> list[FamilyState]:
        self._visit(0, None, [])
        listed = []
        index = 0
        while index < len(self._found):
            done, parent, run = self._found[index]
            then, then_run = self._continuation(done, index)
            listed.append(
                FamilyState(
                    parent=parent,
                    run=tuple(self._position[v] for v in run),
                    then=then,
                    then_run=tuple(self._position[v] for v in then_run),
                )
            )
            index += 1
        return listed

    def _visit(self, done: int, parent: int | None, run: list[int]) -> None:
        assert done != self._oracle.everything, "the threshold is not below the optimum"
        if done not in self._number:
            self._number[done] = len(self._found)
            self._found.append((done, parent, run))

    def _continuation(self, done: int, index: int) -> tuple[Any, list[int]]:
        if self._rng.random() < 0.6:
            dead = self._dead_run(done)
            if dead is not None:
                return "dead", dead
        if self._rng.random() < 0.6:
            commit = self._commit_run(done)
            if commit is not None:
                self._visit(done | sum(1 << v for v in commit), index, commit)
                return "commit", commit
        for v in self._affordable(done):
            self._visit(done | 1 << v, index, [v])
        return "branch", []

    def _affordable(self, done: int) -> list[int]:
        return [
            v
            for v in self._oracle.ready(done)
            if self._oracle.step_cost(done, v) <= self._threshold
        ]

    def _dead_run(self, done: int) -> list[int] | None:
        """How to run from a state to a trap of it that nothing leaves within the threshold."""
        oracle = self._oracle
        traps = oracle.downsets(done)[:-1]
        for trap in self._rng.sample(traps, min(len(traps), 6)):
            costs = [
                oracle.min_step_cost(v, done | oracle.ancestors(v), trap)
                for v in oracle.ready(trap)
            ]
            if all(cost is not None and cost > self._threshold for cost in costs):
                return self._run_up(done, trap)
        return None

    def _commit_run(self, done: int) -> list[int] | None:
        """An affordable run to a state with no more live bytes than any state between."""
        oracle = self._oracle
        reached: dict[int, list[int]] = {done: []}
        waiting = [done]
        safe = []
        while waiting:
            state = waiting.pop()
            for v in self._affordable(state):
                after = state | 1 << v
                if after not in reached and after != oracle.everything:
                    reached[after] = [*reached[state], v]
                    waiting.append(after)
                    between = oracle.downsets(done, after)
                    if all(oracle.live(after) <= oracle.live(x) for x in between):
                        safe.append(after)
        return reached[self._rng.choice(safe)] if safe else None

    def _run_up(self, done: int, upper: int) -> list[int]:
        run = []
        while done != upper:
            v = self._rng.choice([u for u in self._oracle.ready(done) if upper >> u & 1])
            run.append(v)
            done |= 1 << v
        return run
