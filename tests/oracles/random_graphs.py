"""Random graphs in the wire format: small, valid, with every feature of the format in play."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

_SIZES: dict[str, Callable[[random.Random], int]] = {
    "ties": lambda rng: rng.choice((1, 2)),
    "small": lambda rng: rng.randrange(5),
    "spread": lambda rng: rng.randrange(1, 1000),
    "powers": lambda rng: 1 << rng.randrange(10),
}
_NAME_STYLES = ("{}{}", "{}/scope:{}", "{}~{}/0", "{} \N{GREEK SMALL LETTER LAMDA} {}")


def random_wire(seed: int, max_ops: int = 12) -> dict[str, Any]:
    """A valid graph of 1 to `max_ops` ops as a dict in the wire format; a function of `seed`."""
    return _Maker(random.Random(seed), max_ops).wire()


class _Maker:
    """Draws one graph; features are switched per graph, so plain and crowded ones both come up."""

    def __init__(self, rng: random.Random, max_ops: int) -> None:
        self.rng = rng
        self.size = _SIZES[rng.choice(sorted(_SIZES))]
        self.views = rng.choice((0.0, 0.0, 0.2, 0.5))
        self.in_place = rng.choice((0.0, 0.3, 0.7, 1.0))
        self.mutation = rng.choice((0.0, 0.0, 0.15, 0.4))
        self.extra_edges = rng.choice((0.0, 0.0, 0.2))
        self.workspace = rng.choice((0.0, 0.3))
        self.several_outputs = rng.choice((0.0, 0.2, 0.6))
        self.name_style = rng.choice(_NAME_STYLES)
        self.tensors: list[dict[str, Any]] = []
        self.ops: list[dict[str, Any]] = []
        self.inputs: list[str] = []
        self.names_from: list[
            list[str]
        ] = []  # per op: the names a later op may read to depend on it
        self.parents = _random_dag(rng, rng.randint(1, max_ops))

    def wire(self) -> dict[str, Any]:
        self._add_graph_inputs()
        for v, parents in enumerate(self.parents):
            self._add_op(v, parents)
        outputs = self._graph_outputs()
        pinned = [name for name in self.inputs if self._chance(0.15)]
        self._add_ignored_tensors()
        self.rng.shuffle(self.tensors)
        graph: dict[str, Any] = {
            "format": "lowtide.graph/1",
            "name": "random",
            "tensors": self.tensors,
            "ops": self.ops,
            "inputs": self.inputs,
            "outputs": outputs,
        }
        if pinned:
            graph["pinned"] = pinned
        return graph

    def _chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def _add_tensor(self, view_of: str | None = None) -> str:
        name = self.name_style.format("t", len(self.tensors))
        tensor = {"name": name, "bytes": self.size(self.rng)}
        if view_of is not None:
            tensor["view_of"] = view_of
        self.tensors.append(tensor)
        return name

    def _root(self, name: str) -> str:
        bases = {t["name"]: t.get("view_of") for t in self.tensors}
        while (base := bases[name]) is not None:
            name = base
        return name

    def _add_graph_inputs(self) -> None:
        for _ in range(self.rng.randint(0, 3)):
            name = self._add_tensor()
            self.inputs.append(name)
            if self._chance(self.views / 2):
                self.inputs.append(self._add_tensor(view_of=name))
        # Views that nobody makes, some of views.
        self.input_names = list(self.inputs)
        if self.input_names and self._chance(self.views):
            self.input_names.append(self._add_tensor(view_of=self.rng.choice(self.input_names)))

    def _add_op(self, v: int, parents: list[int]) -> None:
        inputs: list[str] = []
        after: list[str] = []
        for parent in parents:
            if self.names_from[parent]:
                inputs.append(self.rng.choice(self.names_from[parent]))
            else:
                after.append(self.ops[parent]["name"])
        if self.input_names and (not parents or self._chance(0.2)):
            inputs.extend(self.rng.choices(self.input_names, k=self.rng.randint(1, 2)))
        if inputs and self._chance(0.1):
            inputs.append(self.rng.choice(inputs))
        if v and self._chance(self.extra_edges):
            after.append(self.ops[self.rng.randrange(v)]["name"])
        outputs = self._new_outputs(inputs, v)
        made = [*outputs]
        if made and self._chance(self.views):
            made.append(self._add_tensor(view_of=self.rng.choice(made)))
        self.names_from.append(made)
        op: dict[str, Any] = {
            "name": self.name_style.format(self.rng.choice("to"), v),
            "kind": self.rng.choice(("Conv", "Add", "Reshape")),
            "inputs": inputs,
            "outputs": outputs,
        }
        optional = {
            "cost": self.rng.randrange(4),
            "workspace_bytes": self.size(self.rng) if self._chance(self.workspace) else 0,
            "in_place": self._in_place_pairs(inputs, outputs),
            "mutates": [name for name in dict.fromkeys(inputs) if self._chance(self.mutation)],
            "after": list(dict.fromkeys(after)),
            "max_runs": self.rng.choice((None, None, None, 1, 2)),
        }
        op.update((field, value) for field, value in optional.items() if value)
        self.ops.append(op)

    def _new_outputs(self, inputs: list[str], v: int) -> list[str]:
        if self._chance(0.05):
            return []  # an op run for its effects
        outputs: list[str] = []
        if inputs and self._chance(self.views):
            # A view of something read; its base may be any name this op depends on.
            outputs.append(self._add_tensor(view_of=self.rng.choice(inputs)))
            if self._chance(0.7):
                return outputs
        elif v and self._chance(self.views / 3):
            # A view of something that the op does not list among its inputs.
            readable = [name for names in self.names_from for name in names] + self.input_names
            if readable:
                outputs.append(self._add_tensor(view_of=self.rng.choice(readable)))
        outputs.append(self._add_tensor())
        while self._chance(self.several_outputs) and len(outputs) < 3:
            outputs.append(self._add_tensor())
        if self._chance(self.views / 3):
            outputs.append(self._add_tensor(view_of=self.rng.choice(outputs)))
        self.rng.shuffle(outputs)
        return outputs

    def _in_place_pairs(self, inputs: list[str], outputs: list[str]) -> list[list[str]]:
        if not self._chance(self.in_place):
            return []
        roots = [name for name in outputs if self._root(name) == name]
        possible = [
            [output, taken]
            for output in roots
            for taken in dict.fromkeys(inputs)
            if self._root(taken) != output
        ]
        self.rng.shuffle(possible)
        return possible[: self.rng.choice((1, 2, 3, 6))]

    def _graph_outputs(self) -> list[str]:
        read = {name for op in self.ops for name in op["inputs"]}
        made = [name for names in self.names_from for name in names]
        unread = [name for name in made if name not in read]
        outputs = [name for name in unread if self._chance(0.7)]
        outputs += [name for name in made if name not in outputs and self._chance(0.08)]
        outputs += [name for name in self.input_names if self._chance(0.05)]
        self.rng.shuffle(outputs)
        return outputs

    def _add_ignored_tensors(self) -> None:
        if self._chance(0.1):
            ignored = self._add_tensor()
            if self._chance(0.5):
                self._add_tensor(view_of=ignored)


def _random_dag(rng: random.Random, count: int) -> list[list[int]]:
    """Per op the ops it depends on, all earlier in the listing."""
    shape = rng.choice((_chain, _wide, _series_parallel, _tree, _branches, _sparse, _dense))
    return _relisted(rng, shape(rng, count))


def _chain(rng: random.Random, count: int) -> list[list[int]]:
    skips = [rng.random() < 0.3 and v > 1 for v in range(count)]
    return [
        ([v - 1] if v else []) + ([rng.randrange(v - 1)] if skips[v] else []) for v in range(count)
    ]


def _wide(rng: random.Random, count: int) -> list[list[int]]:
    middle = [[0] if rng.random() < 0.8 else [] for _ in range(1, count - 1)]
    last = [list(range(1, count - 1))] if count > 1 else []
    return [[], *middle, *last]


def _series_parallel(rng: random.Random, count: int) -> list[list[int]]:
    parents: list[list[int]] = [[]]
    while len(parents) < count:
        split = len(parents) - 1
        ends = []
        for _ in range(rng.randint(2, 4)):
            end = split
            for _ in range(rng.randint(1, 3)):
                if len(parents) < count:
                    parents.append([end])
                    end = len(parents) - 1
            ends.append(end)
        if len(parents) < count:
            parents.append(sorted(set(ends)))
    return parents


def _tree(rng: random.Random, count: int) -> list[list[int]]:
    unread: list[int] = []
    parents: list[list[int]] = []
    for v in range(count):
        taken = rng.sample(unread, min(len(unread), rng.choice((0, 0, 2, 2, 3))))
        unread = [u for u in unread if u not in taken] + [v]
        parents.append(taken)
    return parents


def _branches(rng: random.Random, count: int) -> list[list[int]]:
    ends: list[int | None] = [None] * rng.randint(2, 3)
    parents: list[list[int]] = []
    for v in range(count):
        branch = rng.randrange(len(ends))
        end = ends[branch]
        parents.append([] if end is None else [end])
        ends[branch] = v
    return parents


def _sparse(rng: random.Random, count: int) -> list[list[int]]:
    return [[u for u in range(v) if rng.random() < 0.2] for v in range(count)]


def _dense(rng: random.Random, count: int) -> list[list[int]]:
    return [[u for u in range(v) if rng.random() < 0.5] for v in range(count)]


def _relisted(rng: random.Random, parents: list[list[int]]) -> list[list[int]]:
    """The same dependencies, listed in a random order in which they can run."""
    position: dict[int, int] = {}
    relisted: list[list[int]] = []
    while len(position) < len(parents):
        ready = [
            v
            for v in range(len(parents))
            if v not in position and all(u in position for u in parents[v])
        ]
        v = rng.choice(ready)
        relisted.append([position[u] for u in parents[v]])
        position[v] = len(position)
    return relisted
