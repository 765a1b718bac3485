"""Every recomputation plan of a tiny graph, tried out on symbolic contents.

Shares nothing with the library but the wire format. An op run on contents makes new contents, named
after the op and all it read; a plan is right when every run reads what the op reads in the given
order, and the outputs end as they do there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple, TypeVar

from lowtide.wire import WireGraph, WireOp


class _Instance(NamedTuple):
    """What a storage holds, and the views taken of it."""

    contents: object
    views: frozenset[str]


Item = TypeVar("Item")
_Memory = tuple[_Instance | None, ...]


class _State(NamedTuple):
    counts: tuple[int, ...]
    memory: _Memory


Front = list[tuple[int, int]]


def plans_front(wire: WireGraph, caps: Mapping[str, int], *, keeps_given_order: bool) -> Front:
    """The Pareto front (peak, extra cost), from the highest peak to the lowest."""
    return _Plans(wire, caps, keeps_given_order).front()


class _Plans:
    def __init__(self, wire: WireGraph, caps: Mapping[str, int], keeps_given_order: bool) -> None:
        self.wire = wire
        self.caps = [caps[op.name] for op in wire.ops]
        self.keeps_given_order = keeps_given_order
        self.base = {t.name: t.view_of for t in wire.tensors}
        self.size = {t.name: t.bytes for t in wire.tensors}
        self.maker = {name: v for v, op in enumerate(wire.ops) for name in op.outputs}
        made = {*self.maker, *wire.inputs}
        self.roots = [t.name for t in wire.tensors if t.view_of is None and t.name in made]
        self.index = {name: s for s, name in enumerate(self.roots)}
        self.outputs = {self.storage(name) for name in wire.outputs}
        self.pinned = {self.storage(name) for name in wire.pinned}
        self.touched = [self._touched(op) for op in wire.ops]
        self.created = [
            [self.index[name] for name in op.outputs if self.base[name] is None] for op in wire.ops
        ]
        self.before = [self._before(v) for v in range(len(wire.ops))]
        used = {s for each in self.touched for s in each} | self.outputs | self.pinned
        self.start: _Memory = tuple(
            _Instance(("input", name), frozenset())
            if name in wire.inputs and self.index[name] in used
            else None
            for name in self.roots
        )
        self.expected: list[tuple[object, ...]] = []
        memory = self.start
        for v in range(len(wire.ops)):
            self.expected.append(self._reads(v, memory))
            memory = self._after(v, memory)
        self.final = {s: memory[s] for s in self.outputs}

    def storage(self, name: str) -> int:
        parent = self.base[name]
        return self.index[name] if parent is None else self.storage(parent)

    def views_behind(self, name: str) -> set[str]:
        parent = self.base[name]
        if parent is None:
            return set()
        own = {name} if name in self.maker else set()
        return own | self.views_behind(parent)

    def _touched(self, op: WireOp) -> list[int]:
        views = [name for name in op.outputs if self.base[name] is not None]
        own = {self.index[name] for name in op.outputs if self.base[name] is None}
        return sorted({self.storage(name) for name in (*op.inputs, *views)} - own)

    def _before(self, v: int) -> set[int]:
        """Ops that have run at least once before op v runs: `after`, data, hazards."""
        op = self.wire.ops[v]
        names = [other.name for other in self.wire.ops]
        found = {names.index(name) for name in op.after}
        for name in op.inputs:
            found |= {self.maker[view] for view in self.views_behind(name)}
        for u in range(v):
            for name in op.mutates:
                if self.storage(name) in self.touched[u]:
                    found.add(u)
            for name in self.wire.ops[u].mutates:
                if self.storage(name) in self.touched[v]:
                    found.add(u)
        return found

    def _reads(self, v: int, memory: _Memory) -> tuple[object, ...]:
        return tuple(
            None if (instance := memory[s]) is None else instance.contents for s in self.touched[v]
        )

    def _after(self, v: int, memory: _Memory) -> _Memory:
        op = self.wire.ops[v]
        after = list(memory)
        contents = (op.name, self._reads(v, memory))
        for s in self.created[v]:
            after[s] = _Instance((contents, s), frozenset())
        for name in op.mutates:
            s = self.storage(name)
            held = after[s]
            assert held is not None
            after[s] = held._replace(contents=(contents, "overwrites", s))
        for name in op.outputs:
            if self.base[name] is not None:
                s = self.storage(name)
                held = after[s]
                assert held is not None
                after[s] = held._replace(views=held.views | {name})
        return tuple(after)

    def _may_run(self, v: int, state: _State) -> bool:
        op = self.wire.ops[v]
        if state.counts[v] >= self.caps[v]:
            return False
        if any(not state.counts[u] for u in self.before[v]):
            return False
        if self.keeps_given_order and not state.counts[v] and not all(state.counts[:v]):
            return False
        if self._reads(v, state.memory) != self.expected[v]:
            return False
        read = [*op.inputs, *(b for n in op.outputs if (b := self.base[n]) is not None)]
        for name in read:
            s = self.storage(name)
            held = state.memory[s]
            if s not in self.created[v] and held is not None:
                views = {w for w in self.views_behind(name) if self.maker[w] != v}
                if not views <= held.views:
                    return False
        return all(state.memory[s] is not None for s in self.touched[v])

    def _moves(self, state: _State) -> Iterator[tuple[_State, int, int]]:
        """Each next state with the bytes of the step and what it costs extra."""
        for v, op in enumerate(self.wire.ops):
            if not self._may_run(v, state):
                continue
            memory = self._after(v, state.memory)
            live = sum(
                self.size[self.roots[s]] for s, held in enumerate(memory) if held is not None
            )
            counts = list(state.counts)
            counts[v] += 1
            extra = op.cost if counts[v] > 1 else 0
            own = sorted({*self.touched[v], *self.created[v]} - self.pinned)
            for dropped in _subsets(own):
                after = tuple(None if s in dropped else held for s, held in enumerate(memory))
                step = live + op.workspace_bytes - self._saving(op, dropped)
                yield _State(tuple(counts), after), step, extra

    def _saving(self, op: WireOp, dropped: tuple[int, ...]) -> int:
        pairs = {(self.storage(y), self.storage(x)) for y, x in op.in_place}
        pairs = {(y, x) for y, x in pairs if x in dropped and x not in self.outputs | self.pinned}
        best = 0
        for chosen in _subsets(sorted(pairs)):
            ends = [end for pair in chosen for end in pair]
            if len(set(ends)) == len(ends):
                sizes = [min(self.size[self.roots[y]], self.size[self.roots[x]]) for y, x in chosen]
                best = max(best, sum(sizes))
        return best

    def front(self) -> Front:
        """Labels (peak, cost) per state, improved until none improves any more."""
        start = _State((0,) * len(self.wire.ops), self.start)
        labels: dict[_State, set[tuple[int, int]]] = {start: {(0, 0)}}
        waiting = [(start, (0, 0))]
        ends: set[tuple[int, int]] = set()
        while waiting:
            state, label = waiting.pop()
            if label not in labels[state]:
                continue
            if all(state.counts) and all(state.memory[s] == self.final[s] for s in self.outputs):
                ends.add(label)
            for after, step, extra in self._moves(state):
                new = (max(label[0], step), label[1] + extra)
                known = labels.setdefault(after, set())
                if any(peak <= new[0] and cost <= new[1] for peak, cost in known):
                    continue
                known -= {old for old in known if new[0] <= old[0] and new[1] <= old[1]}
                known.add(new)
                waiting.append((after, new))
        best = [a for a in ends if not any(b != a and b[0] <= a[0] and b[1] <= a[1] for b in ends)]
        return sorted(best, reverse=True)


def _subsets(items: Iterable[Item]) -> Iterator[tuple[Item, ...]]:
    pool = list(items)
    for size in range(len(pool) + 1):
        yield from combinations(pool, size)
