"""The worker processes: two lanes of them, so that quick answers never wait behind long solves.

Processes come from `anyio.to_process`: each has pipes of its own, so one that dies takes one
request with it, and the next request gets a new one.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import anyio
from anyio import BrokenWorkerProcess, CapacityLimiter, get_cancelled_exc_class, to_process

from lowtide_service import problems

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


class Lane:
    """A bounded number of worker processes at work, and a bounded number of requests waiting."""

    def __init__(
        self,
        name: str,
        workers: int,
        max_waiting: int,
        retry_after_seconds: int,
        on_worker_lost: Callable[[], None],
    ) -> None:
        """`on_worker_lost` is called after a worker died or was killed."""
        self._name = name
        self._turns = CapacityLimiter(workers)
        self._max_waiting = max_waiting
        self._retry_after_seconds = retry_after_seconds
        self._on_worker_lost = on_worker_lost

    @property
    def free_turns(self) -> int:
        """How many more calls could run right now."""
        return int(self._turns.available_tokens)

    async def run(
        self,
        deadline_seconds: float,
        function: Callable[[*Arguments], Result],
        *arguments: *Arguments,
    ) -> Result:
        """Calls a function in a worker process as soon as it is this call's turn.

        Cancelling the call kills the process. So does the deadline, counted from the turn.

        Raises:
            ServiceError: too many are waiting, the process died, or it overran the deadline.
        """
        turns = self._turns.statistics()
        all_taken = turns.borrowed_tokens >= turns.total_tokens
        if all_taken and turns.tasks_waiting >= self._max_waiting:
            raise problems.overloaded(self._retry_after_seconds)
        lost = False
        try:
            async with self._turns:
                lost = True
                result = await self._run_now(deadline_seconds, function, *arguments)
                lost = False
                return result
        finally:
            # Only now is the turn free again, and counted as one that needs a worker.
            if lost:
                self._on_worker_lost()

    async def _run_now(
        self,
        deadline_seconds: float,
        function: Callable[[*Arguments], Result],
        *arguments: *Arguments,
    ) -> Result:
        try:
            with anyio.fail_after(deadline_seconds):
                return await run_in_worker(function, *arguments)
        except TimeoutError:
            self._log_loss("killed past its deadline")
            raise problems.worker_overran(deadline_seconds) from None
        except BrokenWorkerProcess:
            self._log_loss("died")
            raise problems.worker_died() from None
        except get_cancelled_exc_class():
            self._log_loss("killed because nobody waits for it")
            raise

    def _log_loss(self, how: str) -> None:
        logger.warning("worker lost", extra={"lane": self._name, "how": how})


async def run_in_worker(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Calls a function in an idle worker process, or in a new one when all are busy.

    Raises:
        anyio.BrokenWorkerProcess: the process died.
    """
    # Lanes count; a second count here would start a job's clock before its turn.
    uncounted = CapacityLimiter(math.inf)
    return await to_process.run_sync(function, *arguments, cancellable=True, limiter=uncounted)
