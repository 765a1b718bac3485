"""A call on a thread of its own: the calling thread stays free to draw and to be interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")

_INTERRUPT_CHECK_SECONDS = 0.5


class BackgroundCall(Generic[Result]):
    """Runs `work` at once. The thread does not keep the program alive."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._result: list[Result] = []
        self._error: BaseException | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._run, name="lowtide-call", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Waits for the end of the call, at most so long; whether it has ended."""
        return self._ended.wait(seconds)

    def result(self) -> Result:
        """Waits for the end of the call; returns what it returned or raises what it raised."""
        while not self._ended.wait(_INTERRUPT_CHECK_SECONDS):
            pass  # where a signal does not end a wait, Ctrl-C is noticed here
        if self._error is not None:
            raise self._error
        return self._result[0]

    def _run(self) -> None:
        try:
            self._result.append(self._work())
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()
