"""`WireGraph` -> `Graph`: aliases resolved, hazards turned into edges (docs/memory-model.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lowtide.aliases import GRAPH_INPUT, NOBODY, Aliases, resolve_aliases
from lowtide.graph import Graph, InPlacePair, Op, Storage
from lowtide.wire import WireGraph, WireOp


def build_graph(wire: WireGraph) -> Graph:
    """The graph as the solvers see it; storages follow the listing of their roots.

    Roots that nobody makes are left out. Predecessors are the dependencies of the memory model,
    with hazards thinned to what implies the rest: an overwriting op follows the storage's last
    overwriting op and its users since then, any other user follows the last overwriting op.
    Linear time in the graph, apart from sorting each op's few entries.
    """
    aliases = resolve_aliases(wire.tensors, wire.ops, wire.inputs)
    storage_of = _storage_of_each_tensor(aliases)
    names = _names_of_each_storage(wire, aliases, storage_of)
    index_of, base, maker = aliases.index_of, aliases.base, aliases.maker
    is_output = [False] * len(names)
    for name in wire.outputs:
        is_output[storage_of[index_of[name]]] = True
    is_pinned = [False] * len(names)
    for name in wire.pinned:
        is_pinned[storage_of[index_of[name]]] = True
    op_index_of = {op.name: v for v, op in enumerate(wire.ops)}
    hazards = _Hazards(wire, aliases)
    creator: list[int | None] = [None] * len(names)
    users: list[list[int]] = [[] for _ in names]
    ops = []
    for v, op in enumerate(wire.ops):
        touches: set[int] = set()
        before: set[int] = set()
        creates = []
        for name in op.inputs:
            tensor = index_of[name]
            touches.add(storage_of[tensor])
            before.add(maker[tensor])
        for name in op.outputs:
            tensor = index_of[name]
            storage = storage_of[tensor]
            parent = base[tensor]
            if parent is None:
                creates.append(storage)
                creator[storage] = v
            else:
                touches.add(storage)
                before.add(maker[parent])
        touches.difference_update(creates)
        for storage in touches:
            users[storage].append(v)
        for name in op.after:
            before.add(op_index_of[name])
        if hazards.exist:
            hazards.add_predecessors(v, op, before)
        before -= {v, GRAPH_INPUT}
        pairs = op.in_place
        ops.append(
            Op(
                name=op.name,
                kind=op.kind,
                predecessors=tuple(sorted(before)),
                creates=tuple(sorted(creates)),
                touches=tuple(sorted(touches)),
                workspace_bytes=op.workspace_bytes,
                in_place=_pairs(pairs, aliases, storage_of, is_output, is_pinned) if pairs else (),
                cost=op.cost,
                max_runs=op.max_runs,
            )
        )
    storages = tuple(
        Storage(
            name=tensors[0],
            size_bytes=wire.tensors[index_of[tensors[0]]].bytes,
            creator=creator[s],
            users=tuple(users[s]),
            is_output=is_output[s],
            is_pinned=is_pinned[s],
            tensors=tuple(tensors),
        )
        for s, tensors in enumerate(names)
    )
    return Graph(name=wire.name, ops=tuple(ops), storages=storages)


class _Hazards:
    """Orders the users of a storage around the ops that overwrite it, in one pass over the listing.

    The creator needs no edge: whoever touches the storage depends on it through the data.
    """

    def __init__(self, wire: WireGraph, aliases: Aliases) -> None:
        self._aliases = aliases
        self._last_overwriter: dict[int, int] = {}
        self._users_since: dict[int, list[int]] = {
            root: [] for op in wire.ops if op.mutates for root in self._roots(op.mutates)
        }

    @property
    def exist(self) -> bool:
        """Whether any storage is overwritten at all."""
        return bool(self._users_since)

    def add_predecessors(self, v: int, op: WireOp, predecessors: set[int]) -> None:
        """Adds the ops that op v has to wait for. To be called for every op, in listing order."""
        overwritten = self._roots(op.mutates)
        touched = self._roots((*op.inputs, *op.outputs)) & self._users_since.keys()
        for root in touched:
            if self._aliases.own_maker[root] == v:
                continue
            if root in self._last_overwriter:
                predecessors.add(self._last_overwriter[root])
            if root in overwritten:
                predecessors.update(self._users_since[root])
                self._last_overwriter[root] = v
                self._users_since[root] = []
            else:
                self._users_since[root].append(v)

    def _roots(self, names: Iterable[str]) -> set[int]:
        return {self._aliases.root[self._aliases.index_of[name]] for name in names}


def _storage_of_each_tensor(aliases: Aliases) -> list[int]:
    """Storage index per tensor; -1 for roots that nobody makes and for their views."""
    count = 0
    storage_of_root = [-1] * len(aliases.root)
    for tensor, root in enumerate(aliases.root):
        if tensor == root and aliases.maker[tensor] != NOBODY:
            storage_of_root[tensor] = count
            count += 1
    return [storage_of_root[root] for root in aliases.root]


def _names_of_each_storage(
    wire: WireGraph, aliases: Aliases, storage_of: Sequence[int]
) -> list[list[str]]:
    """Every tensor name of every storage, the root first, then in listing order."""
    names = []
    views = []
    for tensor, storage in enumerate(storage_of):
        if storage >= 0:
            if aliases.base[tensor] is None:
                names.append([wire.tensors[tensor].name])
            else:
                views.append(tensor)
    for tensor in views:
        names[storage_of[tensor]].append(wire.tensors[tensor].name)
    return names


def _pairs(
    named: Iterable[tuple[str, str]],
    aliases: Aliases,
    storage_of: Sequence[int],
    is_output: Sequence[bool],
    is_pinned: Sequence[bool],
) -> tuple[InPlacePair, ...]:
    """In-place pairs as storages, ascending, once each, none whose input is never freed."""
    index_of = aliases.index_of
    pairs = {(storage_of[index_of[y]], storage_of[index_of[x]]) for y, x in named}
    return tuple(
        InPlacePair(y, x) for y, x in sorted(pairs) if not is_output[x] and not is_pinned[x]
    )
