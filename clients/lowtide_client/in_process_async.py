"""The solver in this process, for asyncio."""

from __future__ import annotations

from asyncio import CancelledError, to_thread
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lowtide_client.in_process import InProcess
from lowtide_client.inputs import GraphSource

if TYPE_CHECKING:
    from lowtide.answers import EvaluateAnswer, ScheduleAnswer, VerifyAnswer
    from lowtide.certificate import Certificate

    from lowtide_client.inputs import CertificateSource


class AsyncInProcess:
    """InProcess for asyncio: calls run on threads, the kernel outside the interpreter's lock."""

    def __init__(self) -> None:
        self._solver = InProcess()

    async def close(self) -> None:
        """There is nothing to close."""

    async def schedule(
        self, graph: GraphSource, time_limit_seconds: float | None
    ) -> ScheduleAnswer:
        """The best order. Cancelling the task stops the solve within milliseconds."""
        from lowtide._kernel import CancelToken

        cancel = CancelToken()
        try:
            return await to_thread(self._solver.solve, graph, time_limit_seconds, cancel)
        except CancelledError:
            cancel.cancel()
            raise

    async def evaluate(self, graph: GraphSource, order: Sequence[str] | None) -> EvaluateAnswer:
        """The memory profile of an order; of the given one when None."""
        return await to_thread(self._solver.evaluate, graph, order)

    async def verify(self, graph: GraphSource, certificate: CertificateSource) -> VerifyAnswer:
        """The checker's verdict. Cancelled, it runs on unheard, to its own time limit."""
        return await to_thread(self._solver.verify, graph, certificate)

    async def certificate(self, certificate_id: str) -> Certificate:
        """A certificate made by this object."""
        return self._solver.certificate(certificate_id)
