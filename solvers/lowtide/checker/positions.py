"""From canonical positions, by which certificates name ops and storages, to model indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lowtide.checker.refusal import Refusal, shown


class Positions:
    """Looks up positions that may be anything.

    Args:
        op_at, storage_at: index per canonical position.
    """

    def __init__(self, op_at: Sequence[int], storage_at: Sequence[int]) -> None:
        self._op_at = op_at
        self._storage_at = storage_at

    def op(self, position: int, reason: str) -> int:
        """The op at a position; raises Refusal with this reason if there is none."""
        if not 0 <= position < len(self._op_at):
            ops = len(self._op_at)
            raise Refusal(reason, f"position {shown(position)} is no op of the {ops} of this graph")
        return self._op_at[position]

    def ops(self, positions: Iterable[int], reason: str) -> list[int]:
        """The ops at some positions."""
        return [self.op(position, reason) for position in positions]

    def storage(self, position: int, reason: str) -> int:
        """The storage at a position; raises Refusal with this reason if there is none."""
        if not 0 <= position < len(self._storage_at):
            count = len(self._storage_at)
            text = f"position {shown(position)} is no storage of the {count} of this graph"
            raise Refusal(reason, text)
        return self._storage_at[position]
