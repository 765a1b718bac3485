"""What the program's ops read and write, by running the given order on symbolic contents.

Every write leaves a symbol of its own: two ops never write the same, and two runs of one op do
exactly if they read the same. A plan is refused as soon as a run reads anything else than the
program's op does, so in what is left each run of an op writes what the program's op writes: one
symbol per op and storage is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

from lowtide.checker.model import GRAPH_INPUT, Model
from lowtide.wire import WireGraph, WireOp


@dataclass(frozen=True, slots=True)
class Contents:
    """Of a storage: the symbol of what is in it, and the names taken of it so far that ops make.

    As something read or held at the end, `views` are the names needed; as something written, those
    added.
    """

    storage: int
    symbol: int
    views: frozenset[str]


@dataclass(frozen=True, slots=True)
class Effects:
    """What one op does: `reads` one entry per storage it touches, `creates` one per storage it
    creates, `changes` one per touched storage that it overwrites or takes a view of.
    """

    reads: tuple[Contents, ...]
    creates: tuple[Contents, ...]
    changes: tuple[Contents, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """Attributes: effects: per op.

    at_start: graph inputs. at_end: what the program's outputs hold.
    """

    effects: tuple[Effects, ...]
    at_start: tuple[Contents, ...]
    at_end: tuple[Contents, ...]


def program_contents(wire: WireGraph, model: Model) -> Program:
    """Runs the given order. Linear in the graph."""
    names = _Names(wire, model)
    symbol = {s: s for s, creator in enumerate(model.creator) if creator == GRAPH_INPUT}
    at_start = tuple(Contents(s, s, frozenset()) for s in symbol)
    next_symbol = len(model.creator)
    effects = []
    for op, touches, creates in zip(wire.ops, model.touches, model.creates, strict=True):
        needed = names.needed_views(op)
        reads = tuple(Contents(s, symbol[s], frozenset(needed.get(s, ()))) for s in touches)
        overwritten = {names.storage_of(name) for name in op.mutates}
        for storage in (*creates, *overwritten):
            symbol[storage] = next_symbol
            next_symbol += 1
        taken = names.taken_views(op)
        effects.append(
            Effects(
                reads=reads,
                creates=tuple(Contents(s, symbol[s], frozenset(taken.get(s, ()))) for s in creates),
                changes=tuple(
                    Contents(s, symbol[s], frozenset(taken.get(s, ())))
                    for s in touches
                    if s in overwritten or s in taken
                ),
            )
        )
    kept: dict[int, set[str]] = {}
    for name in wire.outputs:
        kept.setdefault(names.storage_of(name), set()).update(names.made_name(name))
    return Program(
        effects=tuple(effects),
        at_start=at_start,
        at_end=tuple(Contents(s, symbol[s], frozenset(kept[s])) for s in sorted(kept)),
    )


class _Names:
    """Which storage a name stands for, and which op has to take the view first."""

    def __init__(self, wire: WireGraph, model: Model) -> None:
        self._base = {t.name: t.view_of for t in wire.tensors if t.view_of is not None}
        self._made = {name for op in wire.ops for name in op.outputs if name in self._base}
        self._given = set(wire.inputs)
        self._storage = {name: s for s, name in enumerate(model.storage_names)}
        self._view: dict[str, str | None] = {}

    def storage_of(self, name: str) -> int:
        path = []
        while name not in self._storage:
            path.append(name)
            name = self._base[name]
        for view in path:
            self._storage[view] = self._storage[name]
        return self._storage[name]

    def made_name(self, name: str) -> tuple[str, ...]:
        """The view an op has to have taken for the name to be readable; none for a root."""
        path = []
        while name not in self._view and self._passes_on(name):
            path.append(name)
            name = self._base[name]
        made = self._view.setdefault(name, name if name in self._made else None)
        for view in path:
            self._view[view] = made
        return () if made is None else (made,)

    def _passes_on(self, name: str) -> bool:
        """Whether it is a view made by nobody."""
        return name in self._base and name not in self._made and name not in self._given

    def needed_views(self, op: WireOp) -> dict[int, set[str]]:
        """Per storage the views that have to be there when the op runs."""
        needed: dict[int, set[str]] = {}
        own = set(op.outputs)
        bases = (self._base[name] for name in op.outputs if name in self._base)
        for name in (*op.inputs, *bases):
            made = set(self.made_name(name)) - own
            needed.setdefault(self.storage_of(name), set()).update(made)
        return needed

    def taken_views(self, op: WireOp) -> dict[int, set[str]]:
        """Per storage the views the op takes."""
        taken: dict[int, set[str]] = {}
        for name in op.outputs:
            if name in self._base:
                taken.setdefault(self.storage_of(name), set()).add(name)
        return taken
