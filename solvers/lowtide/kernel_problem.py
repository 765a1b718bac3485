"""The graph as the flat arrays that the kernel reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lowtide._kernel import Problem
from lowtide.graph import Graph
from lowtide.in_place import modes


def _rows(rows: Iterable[Sequence[int]]) -> tuple[list[int], list[int]]:
    offsets = [0]
    items: list[int] = []
    for row in rows:
        items.extend(row)
        offsets.append(len(items))
    return offsets, items


def kernel_problem(graph: Graph) -> Problem:
    """The kernel's problem with the same op and storage indices. O(ops + storages + edges)."""
    storages, ops = graph.storages, graph.ops
    user_offsets, users = _rows(storage.users for storage in storages)
    predecessor_offsets, predecessors = _rows(op.predecessors for op in ops)
    ops_with_modes = [index for index, op in enumerate(ops) if op.in_place]
    return Problem.make(
        storage_bytes=[storage.size_bytes for storage in storages],
        storage_creator=[-1 if s.creator is None else s.creator for s in storages],
        storage_is_output=[int(storage.is_output) for storage in storages],
        storage_is_pinned=[int(storage.is_pinned) for storage in storages],
        user_offsets=user_offsets,
        users=users,
        predecessor_offsets=predecessor_offsets,
        predecessors=predecessors,
        op_workspace_bytes=[op.workspace_bytes for op in ops],
        ops_with_modes=ops_with_modes,
        modes=[
            [
                [
                    (
                        pair.output,
                        pair.input,
                        min(storages[pair.output].size_bytes, storages[pair.input].size_bytes),
                    )
                    for pair in mode
                ]
                for mode in modes(ops[index].in_place)
            ]
            for index in ops_with_modes
        ],
    )
