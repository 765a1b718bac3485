"""What a plan may do: how often each op may run, and which contents it has to find.

Contents decide: a run reads the newest instance of a storage, which has to hold what the
program's op reads there. So each op names the *edits* (views taken, overwrites) that must have been
made on the instance, and those that must not (docs/recomputation.md, "Contents").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lowtide.aliases import Aliases, resolve_aliases
from lowtide.graph import Graph
from lowtide.wire import MAX_RUNS, WireGraph
from lowtide.wire_errors import GraphError, Problem, pointer_to, quoted


@dataclass(frozen=True, slots=True)
class Caps:
    """How often ops may run: `default` for those not in `of` (by op name); None is no cap."""

    default: int | None = 2
    of: Mapping[str, int | None] | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """What op `op` does to an instance of `storage`: takes a view of it, or overwrites it."""

    storage: int
    op: int
    overwrites: bool


@dataclass(frozen=True, slots=True)
class RecomputationModel:
    """A graph with what its plans may do. Edits are referred to by index.

    Attributes:
        graph: ops and storages.
        caps: per op, how often it may run; None is no cap.
        edits: all of them, ascending by op.
        needed_edits, forbidden_edits: per op: made, not made, on the instances it touches.
        makes_edits: per op.
        final_edits: per storage: made on an output's instance at the end.
    """

    graph: Graph
    caps: tuple[int | None, ...]
    edits: tuple[Edit, ...]
    needed_edits: tuple[tuple[int, ...], ...]
    forbidden_edits: tuple[tuple[int, ...], ...]
    makes_edits: tuple[tuple[int, ...], ...]
    final_edits: tuple[tuple[int, ...], ...]

    @property
    def total_cost(self) -> int:
        """The cost of running every op once."""
        return sum(op.cost for op in self.graph.ops)


def recomputation_model(wire: WireGraph, graph: Graph, caps: Caps) -> RecomputationModel:
    """The model of a graph under caps. Linear in the graph, apart from long chains of views.

    An op's cap is its entry in `caps.of`, else `caps.default`, and never more than the graph's own
    `max_runs`. Ops that overwrite anything run once. An op that only takes views runs again with
    what it views, as often as that does, unless `caps.of` or `max_runs` names a cap for it.

    Args:
        wire, graph: the same graph in both forms.

    Raises:
        GraphError: a cap for an op that is not in the graph, or a cap out of range.
    """
    named_caps = _checked_caps(wire, caps)
    reader = _ContentsReader(wire, graph)
    edits = reader.edits
    makes: list[list[int]] = [[] for _ in wire.ops]
    overwriters: list[list[int]] = [[] for _ in graph.storages]
    for index, edit in enumerate(edits):
        makes[edit.op].append(index)
        if edit.overwrites:
            overwriters[edit.storage].append(index)
    needed, forbidden = [], []
    for v, op in enumerate(graph.ops):
        views = reader.views_read_by(v)
        before = [e for s in op.touches for e in overwriters[s] if edits[e].op < v]
        after = [e for s in op.touches for e in overwriters[s] if edits[e].op > v]
        needed.append(tuple(sorted({*views, *before})))
        forbidden.append(tuple(sorted(after)))
    final: list[set[int]] = [set() for _ in graph.storages]
    for name in wire.outputs:
        storage = reader.storage_of[name]
        final[storage].update(reader.views_behind(name), overwriters[storage])
    return RecomputationModel(
        graph=graph,
        caps=tuple(_cap(graph, v, caps, named_caps, edits, makes[v]) for v in range(len(wire.ops))),
        edits=edits,
        needed_edits=tuple(needed),
        forbidden_edits=tuple(forbidden),
        makes_edits=tuple(tuple(each) for each in makes),
        final_edits=tuple(tuple(sorted(each)) for each in final),
    )


def _checked_caps(wire: WireGraph, caps: Caps) -> Mapping[str, int | None]:
    named = caps.of or {}
    names = {op.name for op in wire.ops}
    problems = []
    for name, cap in [("", caps.default), *named.items()]:
        pointer = pointer_to("caps", name) if name in named else pointer_to("cap")
        if name in named and name not in names:
            message = f"caps: {quoted(name)} is not an op of the graph; correct the name"
            problems.append(Problem("unknown_op", message, pointer, name))
        if cap is not None and not 1 <= cap <= MAX_RUNS:
            of = f" of op {quoted(name)}" if name in named else ""
            message = f"the cap{of} is {cap}; give a number from 1 to {MAX_RUNS}, or none at all"
            problems.append(Problem("out_of_range", message, pointer, name or None))
    if problems:
        raise GraphError(problems)
    return named


def _cap(
    graph: Graph,
    v: int,
    caps: Caps,
    named: Mapping[str, int | None],
    edits: tuple[Edit, ...],
    makes: list[int],
) -> int | None:
    op = graph.ops[v]
    overwrites = any(edits[e].overwrites for e in makes)
    if overwrites or not (op.creates or makes):
        return 1
    only_views = not op.creates
    asked = named.get(op.name, None if only_views else caps.default)
    known = [cap for cap in (asked, op.max_runs) if cap is not None]
    return min(known) if known else None


class _ContentsReader:
    """Tensor names as contents: which views and overwrites lie behind each."""

    def __init__(self, wire: WireGraph, graph: Graph) -> None:
        self._wire = wire
        self._aliases: Aliases = resolve_aliases(wire.tensors, wire.ops, wire.inputs)
        self.storage_of = {
            name: s for s, storage in enumerate(graph.storages) for name in storage.tensors
        }
        found: dict[tuple[int, int], bool] = {}
        for v, op in enumerate(wire.ops):
            for name in op.outputs:
                if self._aliases.base[self._aliases.index_of[name]] is not None:
                    found.setdefault((v, self.storage_of[name]), False)
            for name in op.mutates:
                if graph.storages[self.storage_of[name]].creator != v:
                    found[v, self.storage_of[name]] = True
        self.edits = tuple(
            Edit(storage=s, op=v, overwrites=overwrites)
            for (v, s), overwrites in sorted(found.items())
        )
        self._edit_of = {(edit.op, edit.storage): e for e, edit in enumerate(self.edits)}

    def views_behind(self, name: str) -> set[int]:
        """The views that must have been taken before the tensor can be read."""
        aliases = self._aliases
        views = set()
        tensor: int | None = aliases.index_of[name]
        while tensor is not None and aliases.base[tensor] is not None:
            maker = aliases.own_maker[tensor]
            if maker >= 0:
                views.add(self._edit_of[maker, self.storage_of[name]])
            tensor = aliases.base[tensor]
        return views

    def views_read_by(self, v: int) -> set[int]:
        """The views that op v finds on the instances it touches."""
        op = self._wire.ops[v]
        views = set()
        for name in op.inputs:
            views |= self.views_behind(name)
        for name in op.outputs:
            base = self._aliases.base[self._aliases.index_of[name]]
            if base is not None:
                views |= self.views_behind(self._wire.tensors[base].name)
        # What it makes itself in the same run (a view of a storage it creates, a view of a view).
        return {e for e in views if self.edits[e].op != v}
