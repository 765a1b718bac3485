"""One order as the report shows it: its plotted series, and what is live at its binding step."""

from __future__ import annotations

from dataclasses import dataclass

from lowtide.graph import Graph
from lowtide.memory import LiveStorage, Profile, held_at_step

from lowtide_client.report.bars import BarChart, bar_chart
from lowtide_client.report.lifetimes import lifetimes
from lowtide_client.report.steps import Point, points
from lowtide_client.wording import counted, rounded, shown_name

MAX_ROWS = 500
"""A table names at most so many tensors, the largest; the rest is one row of totals."""

_ROW_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class TableRow:
    """One live tensor. `amount` is its bytes in full, `rounded` the same in its unit."""

    name: str
    amount: str
    rounded: str
    idle: bool


@dataclass(frozen=True, slots=True)
class BindingTable:
    """What is live at the binding step, as text; `totals` lead from the rows to the step's cost.

    `order` is `given` or `best`. `omitted` says which storages are not among the bars, or is empty.
    """

    order: str
    title: str
    step: str
    op: str
    summary: str
    rows: tuple[TableRow, ...]
    totals: tuple[tuple[str, str], ...]
    omitted: str


@dataclass(frozen=True, slots=True)
class OrderView:
    """One order, ready to be shown.

    Attributes:
        key: `given` or `best`.
        title: the order's name for readers.
        profile: its memory over steps.
        points: the plotted steps.
        binding_point: index in `points` of the binding step.
        chart: its storages as bars.
        idle, in_use: storages held at the binding step, without and with a part in the op there.
        binding: the table for the binding step.
    """

    key: str
    title: str
    profile: Profile
    points: tuple[Point, ...]
    binding_point: int
    chart: BarChart
    idle: frozenset[int]
    in_use: frozenset[int]
    binding: BindingTable


def order_view(graph: Graph, profile: Profile, *, key: str, title: str) -> OrderView:
    """Prepares one order of a graph that has ops."""
    binding_step = profile.binding_step
    if binding_step is None:
        raise ValueError("an order without steps has no binding step to show")
    spans = lifetimes(graph, profile.order)
    held = held_at_step(graph, profile.order, binding_step)
    chart = bar_chart(graph, spans, {live.storage for live in held})
    plotted = points(graph, profile, spans)
    return OrderView(
        key=key,
        title=title,
        profile=profile,
        points=plotted,
        binding_point=[point.step for point in plotted].index(binding_step),
        chart=chart,
        idle=frozenset(live.storage for live in held if live.idle),
        in_use=frozenset(live.storage for live in held if not live.idle),
        binding=BindingTable(
            order=key,
            title=title,
            step=f"{binding_step + 1:,} of {len(profile.order):,}",
            op=shown_name(graph.ops[profile.order[binding_step]].name, _ROW_CHARACTERS),
            summary=_summary(graph, held),
            rows=_rows(graph, held[:MAX_ROWS]),
            totals=_totals(graph, profile, binding_step, held),
            omitted=_omitted(chart),
        ),
    )


def _summary(graph: Graph, held: tuple[LiveStorage, ...]) -> str:
    idle = [live for live in held if live.idle]
    idle_bytes = _size_bytes(graph, idle)
    return f"{counted(len(held), 'live tensor')}; {len(idle):,} idle, {rounded(idle_bytes)} in all"


def _rows(graph: Graph, held: tuple[LiveStorage, ...]) -> tuple[TableRow, ...]:
    rows = []
    for live in held:
        storage = graph.storages[live.storage]
        rows.append(
            TableRow(
                name=shown_name(storage.name, _ROW_CHARACTERS),
                amount=f"{storage.size_bytes:,}",
                rounded=rounded(storage.size_bytes),
                idle=live.idle,
            )
        )
    return tuple(rows)


def _totals(
    graph: Graph, profile: Profile, step: int, held: tuple[LiveStorage, ...]
) -> tuple[tuple[str, str], ...]:
    totals = []
    unlisted = held[MAX_ROWS:]
    if unlisted:
        smaller = f"{counted(len(unlisted), 'smaller tensor')}, not listed"
        totals.append((smaller, f"{_size_bytes(graph, unlisted):,}"))
    workspace_bytes = graph.ops[profile.order[step]].workspace_bytes
    if workspace_bytes:
        totals.append(("workspace of the op", f"{workspace_bytes:,}"))
    saved_bytes = profile.saved_in_place[step]
    if saved_bytes:
        totals.append(("saved in place", f"−{saved_bytes:,}"))  # noqa: RUF001 - a true minus sign
    totals.append(("peak", f"{profile.peak_bytes:,}"))
    return tuple(totals)


def _omitted(chart: BarChart) -> str:
    if not chart.omitted_count:
        return ""
    return (
        f"The {len(chart.bars):,} tensors that matter most are drawn. The other "
        f"{chart.omitted_count:,} never hold more than {rounded(chart.omitted_peak_bytes)} in all."
    )


def _size_bytes(graph: Graph, held: list[LiveStorage] | tuple[LiveStorage, ...]) -> int:
    return sum(graph.storages[live.storage].size_bytes for live in held)
