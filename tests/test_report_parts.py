"""The parts of the HTML report: wording, lifetimes, bars, embedded JSON."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from lowtide.build import build_graph
from lowtide.memory import evaluate, held_at_step
from lowtide.wire import parse_graph
from lowtide_client.report.bars import MAX_BARS, bar_chart
from lowtide_client.report.data import script_json
from lowtide_client.report.lifetimes import lifetimes, live_by_step
from lowtide_client.report.plot_text import plot_name
from lowtide_client.report.steps import points
from lowtide_client.wording import percentage, rounded, shown_name

from tests.oracles.random_graphs import random_wire
from tests.report_pages import (
    HOSTILE,
    random_order,
    wide_graph,
)


def test_embedded_json_cannot_leave_its_script() -> None:
    embedded = script_json(list(HOSTILE))
    assert json.loads(embedded) == list(HOSTILE)
    assert not re.search(r"[<>&]", embedded)
    assert embedded.isascii()


def test_names_in_plots_lose_nothing_but_their_middle() -> None:
    assert plot_name("a&b<c>", 20) == "a&amp;b&lt;c&gt;"
    assert shown_name("x" * 30 + "y" * 30, 21) == "x" * 10 + "…" + "y" * 10
    assert shown_name("a\u202eb\nc", 50) == "a\\u202eb\\nc"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1.00 KiB"),
        (1_234_567, "1.18 MiB"),
        (1 << 62, "4,194,304.00 TiB"),
    ],
)
def test_amounts_are_rounded_to_their_unit(amount: int, text: str) -> None:
    assert rounded(amount) == text


def test_percentages_never_hide_a_difference() -> None:
    assert percentage(0, 10) == "0%"
    assert percentage(1, 10**9) == "less than 0.1%"
    assert percentage(1, 3) == "33.3%"


@settings(max_examples=150)
@for_all(st.integers(0, 10**6), st.integers(0, 10**6))
def test_lifetimes_add_up_to_the_profile(graph_seed: int, order_seed: int) -> None:
    graph = build_graph(parse_graph(random_wire(graph_seed)))
    profile = evaluate(graph, random_order(graph, order_seed))
    spans = lifetimes(graph, profile.order)
    seen = 0
    for step, live in enumerate(live_by_step(graph, profile.order, spans)):
        op = graph.ops[profile.order[step]]
        held_bytes = sum(size for size, _ in live)
        saved = profile.saved_in_place[step]
        assert held_bytes + op.workspace_bytes - saved == profile.step[step]
        expected = held_at_step(graph, profile.order, step)
        assert [-negated for _, negated in reversed(live)] == [e.storage for e in expected]
        seen += 1
    assert seen == len(graph.ops)
    if profile.binding_step is not None:
        plotted = points(graph, profile, spans)
        assert [point.step_bytes for point in plotted] == list(profile.step)


@settings(max_examples=100)
@for_all(st.integers(0, 10**6))
def test_bars_never_overlap(seed: int) -> None:
    graph = build_graph(parse_graph(random_wire(seed)))
    spans = lifetimes(graph, range(len(graph.ops)))
    chart = bar_chart(graph, spans, set())
    assert chart.omitted_count == 0
    assert len(chart.bars) == sum(1 for s in spans if graph.storages[s.storage].size_bytes)
    for number, bar in enumerate(chart.bars):
        top = bar.bottom_bytes + graph.storages[bar.lifetime.storage].size_bytes
        for other in chart.bars[:number]:
            other_top = other.bottom_bytes + graph.storages[other.lifetime.storage].size_bytes
            assert (
                bar.lifetime.first_step > other.lifetime.last_step
                or other.lifetime.first_step > bar.lifetime.last_step
                or bar.bottom_bytes >= other_top
                or other.bottom_bytes >= top
            )


def test_omitted_bars_are_accounted_for() -> None:
    graph = wide_graph(3_000, 1_500)
    spans = lifetimes(graph, range(len(graph.ops)))
    emphasised = {span.storage for span in spans[:700]}
    chart = bar_chart(graph, spans, emphasised)
    drawn = {bar.lifetime.storage for bar in chart.bars}
    omitted = [span for span in spans if span.storage not in drawn]
    assert len(chart.bars) == MAX_BARS
    assert len(drawn & emphasised) >= MAX_BARS // 2
    assert chart.omitted_count == len(omitted)
    assert chart.omitted_peak_bytes == max(
        sum(
            graph.storages[span.storage].size_bytes
            for span in omitted
            if span.first_step <= step <= span.last_step
        )
        for step in range(0, 3_000)
    )
