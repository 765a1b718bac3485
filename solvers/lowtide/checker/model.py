"""The checker's own model of memory: what a graph says once names are resolved.

The rules are those of docs/memory-model.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

GRAPH_INPUT = -1
"""Instead of an op, as the creator of a storage that is a graph input."""


class Saving(NamedTuple):
    """`output` takes over `input`, which saves `size_bytes` if `input` dies at the op."""

    output: int
    input: int
    size_bytes: int


Mode = tuple[Saving, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """Ops and storages by index: ops in the given order, storages in the listing order of tensors.

    The given order respects all dependencies: op indices are a topological order.

    Attributes:
        op_names, storage_names: for messages; a storage is named after its root tensor.
        size_bytes, creator, users, is_output, is_pinned: per storage; `users` ascend, without the
            creator.
        predecessors, successors: per op, ascending; all dependencies but those that hazards repeat.
        creates, touches: per op its storages, ascending: those it creates; those it reads, views,
            overwrites.
        workspace_bytes: per op.
        modes: per op its in-place modes, at least one.
        pinned_bytes: of all pinned inputs together.
    """

    op_names: tuple[str, ...]
    storage_names: tuple[str, ...]
    size_bytes: tuple[int, ...]
    creator: tuple[int, ...]
    users: tuple[tuple[int, ...], ...]
    is_output: tuple[bool, ...]
    is_pinned: tuple[bool, ...]
    predecessors: tuple[tuple[int, ...], ...]
    successors: tuple[tuple[int, ...], ...]
    creates: tuple[tuple[int, ...], ...]
    touches: tuple[tuple[int, ...], ...]
    workspace_bytes: tuple[int, ...]
    modes: tuple[tuple[Mode, ...], ...]
    pinned_bytes: int

    @property
    def op_count(self) -> int:
        """How many ops there are."""
        return len(self.op_names)

    def is_held(self, storage: int) -> bool:
        """Whether the storage, once there, stays to the end."""
        return self.is_output[storage] or self.is_pinned[storage]

    def added_bytes(self, op: int) -> int:
        """What it creates and its workspace: added to the live bytes, before in-place savings."""
        created = sum(self.size_bytes[s] for s in self.creates[op])
        return created + self.workspace_bytes[op]

    def working_set(self, op: int, mode: Mode) -> int:
        """Bytes that are there whenever the op runs in this mode, from whatever state."""
        touched = sum(self.size_bytes[s] for s in self.touches[op])
        saved = sum(pair.size_bytes for pair in mode)
        return touched + self.added_bytes(op) + self._pinned_apart_from(op) - saved

    def least_working_set(self, op: int) -> int:
        """The working set in the op's best mode."""
        return min(self.working_set(op, mode) for mode in self.modes[op])

    def _pinned_apart_from(self, op: int) -> int:
        touched = sum(self.size_bytes[s] for s in self.touches[op] if self.is_pinned[s])
        return self.pinned_bytes - touched
