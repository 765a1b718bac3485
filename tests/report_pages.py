"""Reports to look at: a written page with what went into it, and graphs worth a page."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from lowtide.answers import ScheduleAnswer
from lowtide.build import build_graph
from lowtide.graph import Graph
from lowtide.memory import Profile, evaluate
from lowtide.wire import parse_graph
from lowtide_client.report import write_report

EXAMPLES = Path(__file__).parents[1] / "examples"
HOSTILE = (
    '</script><script>document.title="owned"</script>',
    '<a href="https://example.invalid/x">click</a>',
    '<img src=x onerror="document.title=1">',
    "&lt;b&gt;bold&lt;/b&gt; %{customdata} $x^2$",
    "line one\nline two\u202egpj.exe",
    "<!--<script>",
)


def another_order(graph: Graph, choose: Callable[[list[int]], int]) -> tuple[int, ...]:
    """The valid order that runs, of the ops that are ready, the one that `choose` picks."""
    waiting = [len(op.predecessors) for op in graph.ops]
    successors: list[list[int]] = [[] for _ in graph.ops]
    for v, op in enumerate(graph.ops):
        for u in op.predecessors:
            successors[u].append(v)
    ready = [v for v, count in enumerate(waiting) if not count]
    order = []
    while ready:
        v = choose(ready)
        ready.remove(v)
        order.append(v)
        for w in successors[v]:
            waiting[w] -= 1
            if not waiting[w]:
                ready.append(w)
    return tuple(order)


def random_order(graph: Graph, seed: int) -> tuple[int, ...]:
    return another_order(graph, random.Random(seed).choice)


def thrifty_order(graph: Graph) -> tuple[int, ...]:
    """A fair order without a solver: the op that creates least first, then the one listed last."""

    def created(v: int) -> tuple[int, int]:
        return sum(graph.storages[s].size_bytes for s in graph.ops[v].creates), -v

    return another_order(graph, lambda ready: min(ready, key=created))


def answer_about(graph: Graph, given: Profile, best: Profile) -> ScheduleAnswer:
    """What a solver that ran out of time might say, with the largest working set as its bound."""
    bound = min(
        best.peak_bytes,
        max((graph.storages[s].size_bytes for op in graph.ops for s in op.creates), default=0),
    )
    return ScheduleAnswer(
        status="OPTIMAL" if bound == best.peak_bytes else "FEASIBLE",
        peak_bytes=best.peak_bytes,
        lower_bound_bytes=bound,
        gap=0.5,
        given_order_peak_bytes=given.peak_bytes,
        order=tuple(graph.ops[v].name for v in best.order),
        proof="working-set",
        certificate_id="0123456789abcdef0123456789abcdef",
        cached=False,
        solve_seconds=0.25,
        limit=None if bound == best.peak_bytes else "time",
    )


class Report:
    """A written report and what went into it."""

    def __init__(self, graph: Graph, path: Path, explanation: str = "It binds here.") -> None:
        self.graph = graph
        self.path = path
        self.given = evaluate(graph, range(len(graph.ops)))
        self.best = evaluate(graph, thrifty_order(graph))
        self.answer = answer_about(graph, self.given, self.best)
        write_report(
            path,
            graph=graph,
            given=self.given,
            best=self.best,
            best_order=self.best.order,
            answer=self.answer,
            explanation=explanation,
        )
        self.text = path.read_text(encoding="utf-8")
        self.page = Page(self.text)

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.page.scripts[0])
        return found

    def profile(self, key: str) -> Profile:
        return self.given if key == "given" else self.best


class Page(HTMLParser):
    """What a browser sees: elements with their attributes, scripts, text by element."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self.tables: list[list[list[str]]] = []
        self._inside: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside.append(tag)
        if tag == "script":
            self.scripts.append("")
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._inside and self._inside[-1] == "script":
            self.scripts[-1] += data
        elif self._inside and self._inside[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data
        elif data.strip() and self._inside[-1:] != ["style"]:
            self.texts.append(data.strip())


def example(name: str) -> Graph:
    return build_graph(parse_graph((EXAMPLES / name).read_bytes()))


def hostile_graph() -> Graph:
    """A chain whose every name is an attack; the last op reads all, so that all are live there."""
    tensors = [f"{text}{number}" for number, text in enumerate(HOSTILE)]
    wire = {
        "format": "lowtide.graph/1",
        "name": HOSTILE[0],
        "tensors": [{"name": name, "bytes": 1 << 20} for name in [*tensors, "sum"]],
        "ops": [
            {"name": f"{name}op", "inputs": tensors[:number], "outputs": [name]}
            for number, name in enumerate(tensors)
        ]
        + [{"name": HOSTILE[1], "inputs": tensors, "outputs": ["sum"]}],
        "inputs": [],
        "outputs": ["sum"],
    }
    return build_graph(parse_graph(wire))


def wide_graph(op_count: int, width: int, name_length: int = 1) -> Graph:
    """Ops in a row, each also reading what was made `width` ops before: `width` tensors live."""
    padding = "n" * name_length
    tensors = [f"{padding}/tensor/{v}" for v in range(op_count)]
    wire = {
        "format": "lowtide.graph/1",
        "name": "wide",
        "tensors": [
            {"name": name, "bytes": (1 << 30) + (v * 7919) % 104_729}
            for v, name in enumerate(tensors)
        ],
        "ops": [
            {
                "name": f"{padding}/op/{v}",
                "inputs": sorted(
                    {*tensors[max(v - 1, 0) : v], *tensors[max(v - width, 0) : v][:1]}
                ),
                "outputs": [name],
            }
            for v, name in enumerate(tensors)
        ],
        "inputs": [],
        "outputs": [tensors[-1]],
    }
    return build_graph(parse_graph(wire))
