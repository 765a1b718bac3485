"""The solver in this process, behind the same four questions a server answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lowtide_client.background import BackgroundCall
from lowtide_client.certificate_shelf import CertificateShelf
from lowtide_client.inputs import GraphSource, read_certificate, read_graph

if TYPE_CHECKING:
    from lowtide._kernel import CancelToken
    from lowtide.answers import EvaluateAnswer, ScheduleAnswer, VerifyAnswer
    from lowtide.certificate import Certificate

    from lowtide_client.inputs import CertificateSource


_STOP_SECONDS = 1.0  # the kernel stops within 50 ms of a cancellation


class InProcess:
    """Answers while the caller waits; any number of threads may ask at once."""

    def __init__(self) -> None:
        self._shelf = CertificateShelf()

    def close(self) -> None:
        """There is nothing to close."""

    def schedule(self, graph: GraphSource, time_limit_seconds: float | None) -> ScheduleAnswer:
        """The best order. Ctrl-C stops the solve: inside the kernel it would go unnoticed."""
        from lowtide._kernel import CancelToken

        cancel = CancelToken()
        call = BackgroundCall(lambda: self.solve(graph, time_limit_seconds, cancel))
        try:
            return call.result()
        except BaseException:
            cancel.cancel()
            call.wait(_STOP_SECONDS)
            raise

    def solve(
        self, graph: GraphSource, time_limit_seconds: float | None, cancel: CancelToken
    ) -> ScheduleAnswer:
        """The best order, on the calling thread; once cancelled, the best so far."""
        from lowtide.answer_builder import schedule_answer
        from lowtide.build import build_graph
        from lowtide.checked_schedule import checked_schedule
        from lowtide.schedule import Limits

        wire = read_graph(graph)
        built = build_graph(wire)
        limits = Limits() if time_limit_seconds is None else Limits(time_seconds=time_limit_seconds)
        solved = checked_schedule(wire, built, limits, cancel=cancel)
        answer = schedule_answer(built, solved, cached=False)
        self._shelf.put(answer.certificate_id, solved.certificate)
        return answer

    def evaluate(self, graph: GraphSource, order: Sequence[str] | None) -> EvaluateAnswer:
        """The memory profile of an order; of the given one when None."""
        from lowtide.answer_builder import evaluate_answer
        from lowtide.build import build_graph
        from lowtide.memory import evaluate, order_from_names

        built = build_graph(read_graph(graph))
        indices = range(len(built.ops)) if order is None else order_from_names(built, order)
        return evaluate_answer(built, evaluate(built, indices))

    def verify(self, graph: GraphSource, certificate: CertificateSource) -> VerifyAnswer:
        """The independent checker's verdict."""
        from lowtide.checker import check

        return check(read_graph(graph), read_certificate(certificate))

    def certificate(self, certificate_id: str) -> Certificate:
        """A certificate made by this object."""
        return self._shelf.get(certificate_id)
