"""From a WireGraph to the checker's model: names become storages, hazards become dependencies.

The rules are those of docs/memory-model.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lowtide.checker.model import GRAPH_INPUT, Mode, Model, Saving
from lowtide.checker.modes import maximal_matchings
from lowtide.wire import WireGraph, WireOp


def derive_model(wire: WireGraph) -> Model:
    """The model of a valid graph. Linear, apart from sorting and the modes of single ops."""
    names = _Names(wire)
    creates = [names.created_by(op) for op in wire.ops]
    touches = [names.named_by(op) - own for op, own in zip(wire.ops, creates, strict=True)]
    creator = [GRAPH_INPUT] * names.storage_count
    users: list[list[int]] = [[] for _ in range(names.storage_count)]
    for v, own in enumerate(creates):
        for storage in own:
            creator[storage] = v
        for storage in touches[v]:
            users[storage].append(v)
    predecessors = _predecessors(wire, names, touches)
    successors: list[list[int]] = [[] for _ in wire.ops]
    for v, before in enumerate(predecessors):
        for u in before:
            successors[u].append(v)
    sizes = names.sizes
    outputs = {names.storage_of[name] for name in wire.outputs}
    pinned = {names.storage_of[name] for name in wire.pinned}
    return Model(
        op_names=tuple(op.name for op in wire.ops),
        storage_names=tuple(names.roots),
        size_bytes=tuple(sizes),
        creator=tuple(creator),
        users=tuple(tuple(each) for each in users),
        is_output=tuple(s in outputs for s in range(names.storage_count)),
        is_pinned=tuple(s in pinned for s in range(names.storage_count)),
        predecessors=tuple(predecessors),
        successors=tuple(tuple(each) for each in successors),
        creates=tuple(tuple(sorted(each)) for each in creates),
        touches=tuple(tuple(sorted(each)) for each in touches),
        workspace_bytes=tuple(op.workspace_bytes for op in wire.ops),
        modes=tuple(_modes(op, names, outputs | pinned) for op in wire.ops),
        pinned_bytes=sum(sizes[s] for s in pinned),
    )


class _Names:
    """What each tensor name stands for.

    Attributes:
        roots: name of the root tensor per storage, in listing order; roots that nobody makes are
            left out.
        sizes: bytes per storage.
        storage_of: tensor name to storage; names of left-out storages are missing.
        maker: tensor name to the op after which it can be read, or GRAPH_INPUT.
    """

    def __init__(self, wire: WireGraph) -> None:
        self._base = {t.name: t.view_of for t in wire.tensors if t.view_of is not None}
        producer = {name: v for v, op in enumerate(wire.ops) for name in op.outputs}
        producer.update((name, GRAPH_INPUT) for name in wire.inputs)
        self.roots: list[str] = []
        self.sizes: list[int] = []
        self.storage_of: dict[str, int] = {}
        self.maker: dict[str, int] = {}
        for tensor in wire.tensors:
            if tensor.name not in self._base and tensor.name in producer:
                self.storage_of[tensor.name] = len(self.roots)
                self.maker[tensor.name] = producer[tensor.name]
                self.roots.append(tensor.name)
                self.sizes.append(tensor.bytes)
        resolved = {t.name for t in wire.tensors if t.name not in self._base}
        for tensor in wire.tensors:
            chain = []
            name = tensor.name
            while name not in resolved:
                chain.append(name)
                name = self._base[name]
            for view in reversed(chain):
                self._resolve_view(view, producer)
                resolved.add(view)

    def _resolve_view(self, view: str, producer: dict[str, int]) -> None:
        base = self._base[view]
        if base in self.storage_of:
            self.storage_of[view] = self.storage_of[base]
            self.maker[view] = producer.get(view, self.maker[base])

    @property
    def storage_count(self) -> int:
        return len(self.roots)

    def created_by(self, op: WireOp) -> set[int]:
        return {self.storage_of[name] for name in op.outputs if name not in self._base}

    def named_by(self, op: WireOp) -> set[int]:
        return {self.storage_of[name] for names in (op.inputs, op.outputs) for name in names}

    def makers_for(self, op: WireOp) -> set[int]:
        """The ops (and GRAPH_INPUT) that make what it reads and the bases of the views it makes."""
        bases = [self._base[name] for name in op.outputs if name in self._base]
        return {self.maker[name] for names in (op.inputs, bases) for name in names}


def _predecessors(
    wire: WireGraph, names: _Names, touches: Sequence[set[int]]
) -> list[tuple[int, ...]]:
    """Per op the ops it waits for.

    A hazard that follows from two others by way of the overwriting op between them is left out, or
    a storage overwritten k times with m readers would have k times m of them. Creators come before
    all users anyway.
    """
    index_of = {op.name: v for v, op in enumerate(wire.ops)}
    overwritten = [{names.storage_of[name] for name in op.mutates} for op in wire.ops]
    readers_since: dict[int, list[int]] = {s: [] for each in overwritten for s in each}
    last_overwriter: dict[int, int] = {}
    predecessors = []
    for v, op in enumerate(wire.ops):
        before = names.makers_for(op) | {index_of[name] for name in op.after}
        for storage in touches[v] & readers_since.keys():
            if storage in last_overwriter:
                before.add(last_overwriter[storage])
            if storage in overwritten[v]:
                before.update(readers_since[storage])
                readers_since[storage] = []
                last_overwriter[storage] = v
            else:
                readers_since[storage].append(v)
        predecessors.append(tuple(sorted(before - {v, GRAPH_INPUT})))
    return predecessors


def _modes(op: WireOp, names: _Names, held: Iterable[int]) -> tuple[Mode, ...]:
    if not op.in_place:
        return ((),)
    pairs = {(names.storage_of[y], names.storage_of[x]) for y, x in op.in_place}
    possible = [(y, x) for y, x in pairs if x not in held]
    sizes = names.sizes
    return tuple(
        tuple(Saving(y, x, min(sizes[y], sizes[x])) for y, x in matching)
        for matching in maximal_matchings(possible)
    )
