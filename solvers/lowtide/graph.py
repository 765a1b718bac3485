"""The graph as the solvers see it: ops and storages, every alias resolved, every hazard an edge.

All values are frozen. Ops and storages are referred to by index; op indices follow the given order.
The memory model is section 1 of the design (docs/memory-model.md).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Storage:
    """One block of memory, known by one or more tensor names.

    Attributes:
        name: the tensor that owns the block (the root of its views).
        size_bytes: its size.
        creator: index of the op that creates it, or None for a graph input.
        users: indices of the ops (ascending, without the creator) that read, view or overwrite any
            of its names.
        is_output: a graph output; live from its creation to the end.
        is_pinned: a graph input the caller keeps; live throughout.
        tensors: every tensor name of this block, the root first.
    """

    name: str
    size_bytes: int
    creator: int | None
    users: tuple[int, ...]
    is_output: bool
    is_pinned: bool
    tensors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InPlacePair:
    """`output` may take over the memory of `input` when the op is the last user of `input`.

    The step is then cheaper by min(size of output, size of input). Both are storage indices.
    """

    output: int
    input: int


@dataclass(frozen=True, slots=True)
class Op:
    """One operator.

    Attributes:
        name, kind: as given; neither influences an answer.
        predecessors: indices of ops that must run before (ascending, no duplicates): data, views,
            hazards, `after`.
        creates: storages whose creator is this op (ascending).
        touches: storages it reads, views or overwrites, without those it creates (ascending).
        workspace_bytes: scratch held only while it runs.
        in_place: the in-place pairs that can ever apply (never a graph output's, a pinned input's).
        cost: multiply-accumulates, or any one unit.
        max_runs: the op's own recomputation cap, or None.
    """

    name: str
    kind: str
    predecessors: tuple[int, ...]
    creates: tuple[int, ...]
    touches: tuple[int, ...]
    workspace_bytes: int
    in_place: tuple[InPlacePair, ...]
    cost: int
    max_runs: int | None


@dataclass(frozen=True, slots=True)
class Graph:
    """A computation graph. `range(len(ops))` is the given order and is always a valid one."""

    name: str
    ops: tuple[Op, ...]
    storages: tuple[Storage, ...]
