"""A call on a thread of its own: the calling thread stays free to draw and to be interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class BackgroundCall(Generic[Result]):
    """Runs `work` at once. The thread does not keep the program alive.

    Ctrl-C reaches the calling thread at any time only if that thread is not inside the kernel.
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._result: list[Result] = []
        self._error: BaseException | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._run, name="lowtide-call", daemon=True).start()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits for the end of the call, at most so long; whether it has ended."""
        return self._ended.wait(seconds)

    def result(self) -> Result:
        """Waits for the end of the call; returns what it returned or raises what it raised."""
        self._ended.wait()
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
