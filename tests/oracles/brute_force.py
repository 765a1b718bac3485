"""The memory model by brute force, straight from the wire format (docs/memory-model.md).

Nothing here comes from the library, and nothing is clever: the library is measured against it.
Op indices follow the listing. A set of ops is an integer with bit v for op v.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

Pair = tuple[int, int]
Mode = frozenset[Pair]


@dataclass
class Block:
    """A storage. `creator` is None for a graph input, `users` a set of ops without the creator."""

    name: str
    size: int
    creator: int | None
    users: int
    is_output: bool
    is_pinned: bool

    @property
    def is_held(self) -> bool:
        return self.is_output or self.is_pinned


class Oracle:
    """One graph, given as the dict that its JSON stands for. It has to be valid.

    Attributes:
        op_count: number of ops.
        blocks: the storages, in listing order of their roots, roots that nobody makes left out.
        predecessors: per op the set of ops that must run before it; every pair of hazards is in it.
        creates, touches: per op the indices of blocks it creates; reads, views or overwrites.
        pairs: per op its in-place pairs (created block, taken block) that can ever apply.
    """

    def __init__(self, wire: dict[str, Any]) -> None:
        self.wire = wire
        self.ops: list[dict[str, Any]] = wire["ops"]
        self.op_count = len(self.ops)
        self.everything = (1 << self.op_count) - 1
        self._view_of = {t["name"]: t.get("view_of") for t in wire["tensors"]}
        self._producer = {name: v for v, op in enumerate(self.ops) for name in op["outputs"]}
        self._graph_inputs = set(wire["inputs"])
        self._number: dict[str, int] = {}
        self.blocks: list[Block] = []
        self.creates: list[set[int]] = []
        self.touches: list[set[int]] = []
        self.pairs: list[set[Pair]] = []
        self._build_blocks()
        self._build_ops()
        self.predecessors = [self._predecessors_of(v) for v in range(self.op_count)]
        self._live: dict[int, int] = {}

    # Names and dependencies.

    def block_of(self, name: str) -> int:
        """The block a tensor name stands for."""
        return self._number[self._root(name)]

    def _root(self, name: str) -> str:
        while self._view_of[name] is not None:
            name = self._view_of[name]
        return name

    def _maker(self, name: str | None) -> int | None:
        """The op that makes a tensor, None for a graph input; a view made by nobody is its base."""
        while name is not None:
            if name in self._producer:
                return self._producer[name]
            if name in self._graph_inputs:
                return None
            name = self._view_of[name]
        raise AssertionError("a tensor that nobody makes is read")

    def _build_blocks(self) -> None:
        outputs = {self._root(name) for name in self.wire["outputs"]}
        pinned = {self._root(name) for name in self.wire.get("pinned", [])}
        for tensor in self.wire["tensors"]:
            name = tensor["name"]
            if self._view_of[name] is not None:
                continue
            if name not in self._producer and name not in self._graph_inputs:
                continue
            self._number[name] = len(self.blocks)
            creator = self._producer.get(name)
            self.blocks.append(
                Block(name, tensor["bytes"], creator, 0, name in outputs, name in pinned)
            )

    def _build_ops(self) -> None:
        for v, op in enumerate(self.ops):
            names = [*op["inputs"], *op["outputs"], *op.get("mutates", [])]
            named = {self.block_of(name) for name in names}
            creates = {b for b in named if self.blocks[b].creator == v}
            self.creates.append(creates)
            self.touches.append(named - creates)
            for b in named - creates:
                self.blocks[b].users |= 1 << v
            pairs = {(self.block_of(y), self.block_of(x)) for y, x in op.get("in_place", [])}
            self.pairs.append({(y, x) for y, x in pairs if not self.blocks[x].is_held})

    def _predecessors_of(self, v: int) -> int:
        op = self.ops[v]
        before = {self._maker(name) for name in op["inputs"]}
        for name in op["outputs"]:
            if self._view_of[name] is not None:
                before.add(self._maker(self._view_of[name]))
        index_of = {other["name"]: u for u, other in enumerate(self.ops)}
        before |= {index_of[name] for name in op.get("after", [])}
        for u in range(v):
            if self._overwritten(u) & self._named(v) or self._overwritten(v) & self._named(u):
                before.add(u)
        return sum(1 << u for u in before if u is not None and u != v)

    def _overwritten(self, v: int) -> set[int]:
        return {self.block_of(name) for name in self.ops[v].get("mutates", [])}

    def _named(self, v: int) -> set[int]:
        return self.creates[v] | self.touches[v]

    # Sets of ops.

    def is_downset(self, ops: int) -> bool:
        """Whether every predecessor of every op of the set is in it."""
        return all(self.predecessors[v] & ~ops == 0 for v in members(ops))

    def ready(self, done: int) -> list[int]:
        """The ops that can run next."""
        return [
            v
            for v in range(self.op_count)
            if not done >> v & 1 and self.predecessors[v] & ~done == 0
        ]

    def downsets(self, lower: int = 0, upper: int | None = None) -> list[int]:
        """All downsets between two downsets, smaller ones first."""
        allowed = self.everything if upper is None else upper
        layers = [{lower}]
        while layers[-1]:
            layers.append(
                {done | 1 << v for done in layers[-1] for v in self.ready(done) if allowed >> v & 1}
            )
        return [done for layer in layers for done in sorted(layer)]

    def ancestors(self, v: int) -> int:
        """Every op that has to run before op v, directly or not."""
        found = 0
        waiting = self.predecessors[v]
        while waiting:
            found |= waiting
            waiting = _union(self.predecessors[u] for u in members(waiting)) & ~found
        return found

    # Memory.

    def is_live(self, b: int, done: int) -> bool:
        """Whether a block is live at a downset."""
        block = self.blocks[b]
        exists = block.creator is None or bool(done >> block.creator & 1)
        return exists and (block.is_held or block.users & ~done != 0)

    def live(self, done: int) -> int:
        """Bytes live at a downset."""
        if done not in self._live:
            self._live[done] = sum(
                block.size for b, block in enumerate(self.blocks) if self.is_live(b, done)
            )
        return self._live[done]

    def saving(self, done: int, v: int) -> int:
        """What op v saves in place at a downset: the best matching of the pairs that apply."""
        return self._best_matching([p for p in self.pairs[v] if self.applies(p, done, v)])

    def applies(self, pair: Pair, done: int, v: int) -> bool:
        """Whether the input of an in-place pair of op v dies when v runs at a downset."""
        taken = self.blocks[pair[1]]
        return not taken.is_held and taken.users & ~done == 1 << v

    def pair_saving(self, pair: Pair) -> int:
        """What one pair saves when it applies."""
        return min(self.blocks[pair[0]].size, self.blocks[pair[1]].size)

    def _best_matching(self, pairs: list[Pair]) -> int:
        if not pairs:
            return 0
        first, rest = pairs[0], pairs[1:]
        compatible = [p for p in rest if p[0] != first[0] and p[1] != first[1]]
        used = self.pair_saving(first) + self._best_matching(compatible)
        return max(used, self._best_matching(rest))

    def own_bytes(self, v: int) -> int:
        """Bytes of the blocks op v creates, and its workspace."""
        created = sum(self.blocks[b].size for b in self.creates[v])
        workspace: int = self.ops[v].get("workspace_bytes", 0)
        return created + workspace

    def step_cost(self, done: int, v: int) -> int:
        """Bytes held while op v runs at a downset."""
        return self.live(done) + self.own_bytes(v) - self.saving(done, v)

    # In-place modes.

    def modes(self, v: int) -> set[Mode]:
        """The inclusion-maximal matchings of op v's in-place pairs, by trying every subset."""
        pairs = sorted(self.pairs[v])
        matchings = [
            frozenset(chosen)
            for size in range(len(pairs) + 1)
            for chosen in combinations(pairs, size)
            if len({y for y, _ in chosen}) == size and len({x for _, x in chosen}) == size
        ]
        return {m for m in matchings if not any(m < other for other in matchings)}

    def step_cost_in_mode(self, done: int, v: int, mode: Mode) -> int:
        """Bytes held while op v runs at a downset when only the pairs of a mode may apply."""
        saved = sum(self.pair_saving(pair) for pair in mode if self.applies(pair, done, v))
        return self.live(done) + self.own_bytes(v) - saved

    def working_set_in_mode(self, v: int, mode: Mode) -> int:
        """Bytes that are held in every state from which op v can run in this mode."""
        pinned = {b for b, block in enumerate(self.blocks) if block.is_pinned}
        held = self.touches[v] | self.creates[v] | pinned
        workspace: int = self.ops[v].get("workspace_bytes", 0)
        saved = sum(self.pair_saving(pair) for pair in mode)
        return sum(self.blocks[b].size for b in held) + workspace - saved

    def working_set(self, v: int) -> int:
        """The least working set of op v over its modes."""
        return min(self.working_set_in_mode(v, mode) for mode in self.modes(v))

    def min_step_cost(self, v: int, lower: int, upper: int, mode: Mode | None = None) -> int | None:
        """The cheapest step of op v from any downset between two (`mode`: in that mode only).

        None when v can run from none of them.
        """
        costs = [
            self.step_cost(done, v) if mode is None else self.step_cost_in_mode(done, v, mode)
            for done in self.downsets(lower, upper)
            if not done >> v & 1 and self.predecessors[v] & ~done == 0
        ]
        return min(costs, default=None)

    # Orders.

    def profile(self, order: Sequence[int]) -> list[tuple[int, int, int]]:
        """Per step: bytes live before it, while it runs, and after it."""
        steps = []
        done = 0
        for v in order:
            assert v in self.ready(done), f"op {v} cannot run here"
            after = done | 1 << v
            steps.append((self.live(done), self.step_cost(done, v), self.live(after)))
            done = after
        assert done == self.everything, "some op does not run"
        return steps

    def order_peak(self, order: Sequence[int]) -> int:
        """The largest step cost of an order; 0 for a graph without ops."""
        return max((step for _, step, _ in self.profile(order)), default=0)

    def best_completion_peak(self, done: int) -> int:
        """The least peak over all ways to run the ops outside a downset; 0 when none is left."""
        return self._completions(done)[done]

    def optimal_peak(self) -> int:
        """The least peak over all orders: a dynamic programme over all downsets."""
        return self.best_completion_peak(0)

    def optimal_order(self) -> list[int]:
        """An order with the least peak."""
        best = self._completions(0)
        order: list[int] = []
        done = 0
        while done != self.everything:
            v = min(
                self.ready(done),
                key=lambda u: max(self.step_cost(done, u), best[done | 1 << u]),
            )
            order.append(v)
            done |= 1 << v
        return order

    def _completions(self, lower: int) -> dict[int, int]:
        best: dict[int, int] = {}
        for done in reversed(self.downsets(lower)):
            best[done] = min(
                (max(self.step_cost(done, v), best[done | 1 << v]) for v in self.ready(done)),
                default=0,
            )
        return best

    def random_order(self, rng: random.Random) -> list[int]:
        """A random valid order (not uniformly so)."""
        order: list[int] = []
        done = 0
        while done != self.everything:
            v = rng.choice(self.ready(done))
            order.append(v)
            done |= 1 << v
        return order


def members(ops: int) -> Iterator[int]:
    """The ops of a set, ascending."""
    while ops:
        lowest = ops & -ops
        yield lowest.bit_length() - 1
        ops ^= lowest


def as_set(ops: Sequence[int]) -> int:
    """The set of these ops."""
    return _union(1 << v for v in ops)


def _union(sets: Iterable[int]) -> int:
    union = 0
    for each in sets:
        union |= each
    return union
