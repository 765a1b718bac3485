"""One graph scheduled, here or by a server, with everything that is said about it afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lowtide_client.cli.exit_codes import FAILED
from lowtide_client.cli.failures import CommandError, problems_of, service_failures
from lowtide_client.cli.files import read_input, shown
from lowtide_client.cli.watch import Watch

if TYPE_CHECKING:
    from lowtide.answers import ScheduleAnswer
    from lowtide.certificate import Certificate
    from lowtide.graph import Graph
    from lowtide.memory import Profile
    from lowtide.wire import WireGraph


@dataclass(frozen=True, slots=True)
class Solved:
    """An answer. `certificate` is None when it was not asked for, or a server has lost it."""

    graph: Graph
    answer: ScheduleAnswer
    certificate: Certificate | None


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer means: the two profiles, and why there is nothing better."""

    given: Profile
    best: Profile
    explanation: str


def read_wire(path: str, watch: Watch) -> WireGraph:
    """The graph in a file.

    Raises:
        CommandError: with a line per problem.
    """
    from lowtide.wire import parse_graph

    watch.phase = f"reading {shown(path)}"
    data = read_input(path)
    with problems_of(shown(path)):
        return parse_graph(data)


def solve_here(path: str, time_limit_seconds: float | None, watch: Watch) -> Solved:
    """The answer of the solver in this process; Ctrl-C leaves the best so far."""
    from lowtide._kernel import CancelToken
    from lowtide.answer_builder import schedule_answer
    from lowtide.build import build_graph
    from lowtide.checked_schedule import checked_schedule
    from lowtide.schedule import Limits

    wire = read_wire(path, watch)
    graph = build_graph(wire)
    limits = Limits() if time_limit_seconds is None else Limits(time_seconds=time_limit_seconds)
    cancel = CancelToken()
    watch.phase = "solving"
    watch.solving(limits.time_seconds, cancel)
    solved = checked_schedule(wire, graph, limits, on_progress=watch.report, cancel=cancel)
    watch.progress, watch.stop = None, None
    return Solved(graph, schedule_answer(graph, solved, cached=False), solved.certificate)


def solve_there(
    path: str,
    time_limit_seconds: float | None,
    server: str,
    watch: Watch,
    *,
    with_certificate: bool,
) -> Solved:
    """The answer of a server, its order looked over here."""
    from lowtide.build import build_graph

    from lowtide_client.cli.servers import connect
    from lowtide_client.errors import UnknownCertificateError

    wire = read_wire(path, watch)
    graph = build_graph(wire)
    watch.phase = f"waiting for {server}"
    watch.solving(time_limit_seconds, stop=None)
    certificate = None
    with service_failures(), problems_of(shown(path)), connect(server) as lowtide:
        answer = lowtide.schedule(wire, time_limit_seconds=time_limit_seconds)
        if with_certificate:
            try:
                certificate = lowtide.certificate(answer.certificate_id)
            except UnknownCertificateError:
                certificate = None
    _check_claims(graph, answer)
    return Solved(graph, answer, certificate)


def tell(solved: Solved, watch: Watch) -> Told:
    """What the answer means.

    Raises:
        CommandError: a server's certificate is not one for the graph.
    """
    from lowtide.memory import evaluate, order_from_names

    watch.phase = "explaining"
    graph = solved.graph
    given = evaluate(graph, range(len(graph.ops)))
    best = evaluate(graph, order_from_names(graph, solved.answer.order))
    return Told(given, best, _explanation(solved))


def _explanation(solved: Solved) -> str:
    from lowtide.graph_identity import graph_canonical_form

    from lowtide_client.explain import MisfitError, explain

    if solved.certificate is None:
        return (
            f"The server no longer has the certificate {solved.answer.certificate_id} (proof: "
            f"{solved.answer.proof}); ask again to have it made anew."
        )
    try:
        form = graph_canonical_form(solved.graph)
        return explain(solved.graph, form, solved.certificate, solved.answer.limit)
    except MisfitError as error:
        raise CommandError(
            FAILED, [f"lowtide: the server's certificate does not fit: {error}"]
        ) from None


def _check_claims(graph: Graph, answer: ScheduleAnswer) -> None:
    """Raises CommandError unless the order is one and peaks where the server says."""
    from lowtide.memory import OrderError, evaluate, order_from_names

    try:
        peak = evaluate(graph, order_from_names(graph, answer.order)).peak_bytes
    except OrderError as error:
        raise CommandError(FAILED, [f"lowtide: the server's order is none: {error}"]) from None
    if peak != answer.peak_bytes:
        claim = f"not at {answer.peak_bytes} as it says"
        raise CommandError(FAILED, [f"lowtide: the server's order peaks at {peak} bytes, {claim}"])
