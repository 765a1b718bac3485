"""One self-contained HTML page about one answer: it loads nothing, no name can become markup."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import jinja2
from lowtide.answers import ScheduleAnswer
from lowtide.graph import Graph
from lowtide.memory import Profile
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from lowtide_client.report.data import page_data, script_json
from lowtide_client.report.orders import BindingTable, order_view
from lowtide_client.report.steps import stretch_steps
from lowtide_client.report.summary import tiles
from lowtide_client.wording import counted, printable, shown_name

_TITLE_CHARACTERS = 200


def write_report(
    path: Path,
    *,
    graph: Graph,
    given: Profile,
    best: Profile,
    best_order: tuple[int, ...],
    answer: ScheduleAnswer,
    explanation: str,
) -> None:
    """Writes the page to `path`, replacing what is there. The same input gives the same bytes.

    Args:
        path: the HTML file, UTF-8.
        graph: the graph that was scheduled.
        given: profile of its given order.
        best: profile of the new order.
        best_order: the new order, as op indices.
        answer: the answer about that order.
        explanation: plain text: why the answer is what it is.

    Raises:
        ValueError: the order, the profiles and the answer do not belong together.
        OSError: `path` cannot be written.
    """
    if best.order != best_order or len(given.order) != len(best_order):
        raise ValueError("best_order and the profiles must be of the same graph and order")
    peaks = (answer.given_order_peak_bytes, answer.peak_bytes)
    if peaks != (given.peak_bytes, best.peak_bytes):
        raise ValueError("the answer and the profiles are of different orders: their peaks differ")
    text = _page(graph, given, best, answer, explanation)
    path.write_text(text, encoding="utf-8", newline="\n")


def _page(
    graph: Graph, given: Profile, best: Profile, answer: ScheduleAnswer, explanation: str
) -> str:
    bindings: list[BindingTable] = []
    scripts: list[str] = []
    data = ""
    if graph.ops:
        given_view = order_view(graph, given, key="given", title="Given order")
        best_view = order_view(graph, best, key="best", title="New order")
        bindings = [given_view.binding, best_view.binding]
        # A browser reads every line end as a line feed, and hashes what it reads.
        scripts = [get_plotlyjs().replace("\r\n", "\n"), _resource("page.js")]
        data = script_json(page_data(graph, given_view, best_view, answer.lower_bound_bytes))
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    size = f"{counted(len(graph.ops), 'op')}, {counted(len(graph.storages), 'storage')}"
    return environment.from_string(_resource("page.html.jinja")).render(
        title=shown_name(graph.name, _TITLE_CHARACTERS) or "unnamed graph",
        size=size,
        tiles=tiles(answer),
        explanation="\n".join(printable(line) for line in explanation.expandtabs().splitlines()),
        bindings=bindings,
        stretch_note=_stretch_note(len(graph.ops)),
        content_security_policy=_content_security_policy(scripts),
        style=Markup(_resource("page.css")),
        data=Markup(data),
        scripts=[Markup(script) for script in scripts],
    )


def _stretch_note(step_count: int) -> str:
    stretch = stretch_steps(step_count)
    return (
        "" if stretch == 1 else f"One point stands for up to {stretch} steps: the highest of them."
    )


def _content_security_policy(scripts: Sequence[str]) -> str:
    """Lets a browser run these scripts and no others, and load nothing from anywhere.

    Plotly styles its drawing inline, and makes picture downloads by `data:` and `blob:` addresses.
    """
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()) for script in scripts]
    allowed = " ".join(f"'sha256-{digest.decode()}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _resource(name: str) -> str:
    return files("lowtide_client.report").joinpath(name).read_text(encoding="utf-8")
