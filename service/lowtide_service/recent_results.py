"""A bounded memory of results that depend on a request's bytes alone."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

Result = TypeVar("Result")


class RecentResults(Generic[Result]):
    """The results for the request bodies used last, as many as their bodies fit into a size."""

    def __init__(self, max_body_bytes: int) -> None:
        self._max_body_bytes = max_body_bytes
        self._body_bytes = 0
        self._results: OrderedDict[bytes, Result] = OrderedDict()

    def get(self, body: bytes) -> Result | None:
        """The result for exactly this body, if it is remembered."""
        if body not in self._results:
            return None
        self._results.move_to_end(body)
        return self._results[body]

    def put(self, body: bytes, result: Result) -> None:
        """Remembers a result and forgets the ones not used for longest. A body must be new."""
        self._results[body] = result
        self._body_bytes += len(body)
        while self._body_bytes > self._max_body_bytes:
            forgotten, _ = self._results.popitem(last=False)
            self._body_bytes -= len(forgotten)
