"""Which storage a tensor name stands for, and which op has to run before the name can be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

GRAPH_INPUT = -1
NOBODY = -2
UNRESOLVED = -3
"""Instead of an op index as a tensor's maker.

UNRESOLVED: nobody makes it and its chain of views ends in an unknown name or in itself.
"""


class _Tensor(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def view_of(self) -> str | None: ...


class _Op(Protocol):
    @property
    def outputs(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Aliases:
    """Tensor names resolved. Lists run over tensors in listing order.

    Attributes:
        index_of: tensor name to index.
        base: index of the tensor this one is a view of, or None for a root or an unknown base.
        root: index of the tensor that owns the storage (the tensor itself when UNRESOLVED).
        own_maker: index of the op that outputs the tensor, GRAPH_INPUT, or NOBODY.
        maker: the same, where a view made by nobody counts as its base.
        on_view_cycle: tensors at which a cycle of views was met, one per cycle.
    """

    index_of: dict[str, int]
    base: list[int | None]
    root: list[int]
    own_maker: list[int]
    maker: list[int]
    on_view_cycle: list[int]


def resolve_aliases(
    tensors: Sequence[_Tensor], ops: Sequence[_Op], inputs: Sequence[str]
) -> Aliases:
    """Resolves every tensor name, also in a graph that is wrong; unknown names are passed over.

    Of several producers the graph input counts, then the first op listed. Linear time.
    """
    index_of = index_names([tensor.name for tensor in tensors])
    own_maker = [NOBODY] * len(tensors)
    for v, op in enumerate(ops):
        for name in op.outputs:
            index = index_of.get(name)
            if index is not None and own_maker[index] == NOBODY:
                own_maker[index] = v
    for name in inputs:
        index = index_of.get(name)
        if index is not None:
            own_maker[index] = GRAPH_INPUT
    base: list[int | None] = [None] * len(tensors)
    views = []
    for index, tensor in enumerate(tensors):
        if tensor.view_of is not None:
            views.append(index)
            base[index] = index_of.get(tensor.view_of)
    aliases = Aliases(index_of, base, list(range(len(tensors))), own_maker, own_maker.copy(), [])
    _follow_views(aliases, views)
    return aliases


def index_names(names: Sequence[str]) -> dict[str, int]:
    """Name to index; where a name comes twice, the first one counts."""
    index_of = dict(zip(names, range(len(names)), strict=True))
    if len(index_of) != len(names):
        index_of = dict(zip(reversed(names), reversed(range(len(names))), strict=True))
    return index_of


def _follow_views(aliases: Aliases, views: Sequence[int]) -> None:
    base, root, maker = aliases.base, aliases.root, aliases.maker
    unresolved = set(views)
    broken: set[int] = set()
    for view in views:
        chain: dict[int, None] = {}
        tensor = view
        while tensor in unresolved and tensor not in chain:
            chain[tensor] = None
            parent = base[tensor]
            if parent is None:
                broken.add(tensor)
                break
            tensor = parent
        if tensor in chain and tensor not in broken:
            aliases.on_view_cycle.append(tensor)
            broken.update(chain)
        for member in reversed(chain):
            unresolved.discard(member)
            parent = base[member]
            if parent is None or member in broken or parent in broken:
                broken.add(member)
                if maker[member] == NOBODY:
                    maker[member] = UNRESOLVED
                continue
            root[member] = root[parent]
            if maker[member] == NOBODY:
                maker[member] = maker[parent]
