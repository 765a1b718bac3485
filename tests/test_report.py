"""The HTML report: its numbers are right, it loads nothing, no name becomes markup."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lowtide.build import build_graph
from lowtide.memory import evaluate, held_at_step
from lowtide.wire import parse_graph
from lowtide_client.report import write_report
from lowtide_client.report.bars import MAX_BARS
from lowtide_client.report.lifetimes import lifetimes
from lowtide_client.report.orders import MAX_ROWS
from lowtide_client.report.steps import LISTED_TENSORS, MAX_STEPS_IN_FULL, MAX_STRETCHES
from lowtide_client.wording import exact, percentage, rounded, shown_name

from tests.report_pages import (
    HOSTILE,
    Page,
    Report,
    answer_about,
    example,
    hostile_graph,
    thrifty_order,
    wide_graph,
)

MAX_PAGE_BYTES = 6_000_000


@pytest.fixture(scope="module")
def nabu(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("nabu")
    return Report(example("mww_v2_okay_nabu.json"), folder / "report.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("hostile")
    return Report(hostile_graph(), folder / "report.html", "\n".join(HOSTILE))


def in_bytes(values: list[float], figure: dict[str, Any]) -> list[int]:
    """The plotted values, from the unit that the axis names (a power of two: exact) to bytes."""
    title = figure["layout"]["yaxis"]["title"]["text"]
    unit = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20}[re.findall(r"\((\w+)\)", title)[0]]
    scaled = [value * unit for value in values]
    assert all(value == int(value) for value in scaled)
    return [int(value) for value in scaled]


def trace_of(figure: dict[str, Any], role: str, order: str | None = None) -> dict[str, Any]:
    (found,) = (
        trace
        for trace in figure["data"]
        if trace["meta"]["role"] == role and trace["meta"].get("order") == order
    )
    return dict(found)


@pytest.mark.parametrize("key", ["given", "best"])
@pytest.mark.parametrize("name", ["mww_v2_okay_nabu.json", "darts_nasnet_cifar20.json"])
def test_the_memory_plot_is_the_profile(name: str, key: str, tmp_path: Path) -> None:
    report = Report(example(name), tmp_path / "report.html")
    profile = report.profile(key)
    figure = report.data["figures"]["memory"]
    line = trace_of(figure, "steps", key)
    last = len(profile.step) - 1
    assert line["x"] == [0.5, *range(1, last + 2), last + 1.5]
    plotted = in_bytes(line["y"], figure)
    assert plotted == [profile.step[0], *profile.step, profile.step[last]]
    bound = trace_of(figure, "bound")
    assert set(in_bytes(bound["y"], figure)) == {report.answer.lower_bound_bytes}
    mark = trace_of(figure, "binding", key)
    assert profile.binding_step is not None
    assert mark["x"] == [profile.binding_step + 1]
    assert in_bytes(mark["y"], figure) == [profile.peak_bytes]


@pytest.mark.parametrize("key", ["given", "best"])
def test_hover_tables_hold_the_profile_and_the_names(nabu: Report, key: str) -> None:
    data, graph, profile = nabu.data, nabu.graph, nabu.profile(key)
    rows = data["steps"][key]
    assert [row[0] for row in rows] == list(range(len(graph.ops)))
    assert [row[1] for row in rows] == list(profile.order)
    assert [int(row[2]) for row in rows] == list(profile.live_before)
    assert [int(row[3]) for row in rows] == list(profile.step)
    assert [int(row[4]) for row in rows] == list(profile.live_after)
    for step, row in enumerate(rows):
        held = held_at_step(graph, profile.order, step)
        assert row[5] == len(held)
        assert row[6] == [live.storage for live in held[:LISTED_TENSORS]]
    for index, name in data["ops"].items():
        assert html.unescape(name) == shown_name(graph.ops[int(index)].name, 48)
    for index, (name, size, creator, _) in data["tensors"].items():
        storage = graph.storages[int(index)]
        assert html.unescape(name) == shown_name(storage.name, 48)
        assert int(size) == storage.size_bytes
        assert creator == (-1 if storage.creator is None else storage.creator)


@pytest.mark.parametrize("key", ["given", "best"])
def test_bars_are_the_storages_over_their_lifetimes(nabu: Report, key: str) -> None:
    figure = nabu.data["figures"][f"{key}-lifetimes"]
    profile, graph = nabu.profile(key), nabu.graph
    assert profile.binding_step is not None
    held = held_at_step(graph, profile.order, profile.binding_step)
    groups: dict[object, set[int]] = {
        "live at the binding step, in use": {live.storage for live in held if not live.idle},
        "live at the binding step, idle": {live.storage for live in held if live.idle},
    }
    spans = {span.storage: span for span in lifetimes(graph, profile.order)}
    drawn = set()
    for trace in figure["data"]:
        for position, storage in enumerate(trace["customdata"]):
            span = spans[storage]
            assert trace["base"][position] == span.first_step + 0.5
            assert trace["x"][position] == span.last_step - span.first_step + 1
            assert in_bytes([trace["width"][position]], figure) == [
                graph.storages[storage].size_bytes
            ]
        members = set(trace["customdata"])
        drawn |= members
        if trace["name"] in groups:
            assert members == groups[trace["name"]]
        else:
            assert not members & {live.storage for live in held}
    assert drawn == {s for s in spans if graph.storages[s].size_bytes}
    (frame,) = figure["layout"]["shapes"]
    assert (frame["x0"] + frame["x1"]) / 2 == profile.binding_step + 1


@pytest.mark.parametrize("key", ["given", "best"])
def test_the_table_leads_to_the_peak(nabu: Report, key: str) -> None:
    profile, graph = nabu.profile(key), nabu.graph
    assert profile.binding_step is not None
    head, *rows = nabu.page.tables[0 if key == "given" else 1]
    held = held_at_step(graph, profile.order, profile.binding_step)
    assert head == ["tensor", "bytes", "there"]
    assert rows[: len(held)] == [
        [
            shown_name(graph.storages[live.storage].name, 200),
            f"{graph.storages[live.storage].size_bytes:,}",
            "idle" if live.idle else "in use",
        ]
        for live in held
    ]
    assert rows[-1] == ["peak", f"{profile.peak_bytes:,}", ""]


def test_the_table_counts_workspace_and_savings(tmp_path: Path) -> None:
    wire = {
        "format": "lowtide.graph/1",
        "tensors": [{"name": "x", "bytes": 100}, {"name": "y", "bytes": 90}],
        "ops": [
            {
                "name": "relu",
                "inputs": ["x"],
                "outputs": ["y"],
                "workspace_bytes": 7,
                "in_place": [["y", "x"]],
            }
        ],
        "inputs": ["x"],
        "outputs": ["y"],
    }
    report = Report(build_graph(parse_graph(wire)), tmp_path / "report.html")
    assert report.page.tables[0][1:] == [
        ["x", "100", "in use"],
        ["y", "90", "in use"],
        ["workspace of the op", "7", ""],
        ["saved in place", "−90", ""],  # noqa: RUF001 - a true minus sign
        ["peak", "107", ""],
    ]


def test_the_tiles_say_what_the_answer_says(nabu: Report) -> None:
    answer, texts = nabu.answer, nabu.page.texts
    after = {label: texts[texts.index(label) + 1 :] for label in texts}
    for label, amount in (
        ("Before (given order)", answer.given_order_peak_bytes),
        ("After (new order)", answer.peak_bytes),
        ("Lower bound", answer.lower_bound_bytes),
    ):
        assert after[label][:2] == [rounded(amount), exact(amount)]
    assert after["Status"][0] == "FEASIBLE"
    assert after["Status"][1].endswith("stopped by the time limit")
    assert after["Proof"][0] == "working-set"
    assert after["Certificate"][0] == answer.certificate_id
    gain = answer.given_order_peak_bytes - answer.peak_bytes
    assert gain > 0
    assert after["Gain"][:2] == [
        percentage(gain, answer.given_order_peak_bytes),
        f"{exact(gain)} less",
    ]
    assert "It binds here." in texts
    assert "mww_v2_okay_nabu" in texts


def test_an_optimal_answer_is_called_optimal(tmp_path: Path) -> None:
    graph = example("mww_v2_okay_nabu.json")
    given = evaluate(graph, range(len(graph.ops)))
    answer = answer_about(graph, given, given)
    optimal = answer.model_copy(
        update={"status": "OPTIMAL", "lower_bound_bytes": given.peak_bytes, "limit": None}
    )
    path = tmp_path / "report.html"
    write_report(
        path,
        graph=graph,
        given=given,
        best=given,
        best_order=given.order,
        answer=optimal,
        explanation="",
    )
    texts = Page(path.read_text(encoding="utf-8")).texts
    after = {label: texts[texts.index(label) + 1 :] for label in texts}
    assert after["Status"][:2] == ["OPTIMAL", "no order has a lower peak"]
    assert after["Gain"][:2] == ["0%", "the given order has the same peak"]


def test_a_page_about_different_orders_is_refused(tmp_path: Path) -> None:
    graph = example("mww_v2_okay_nabu.json")
    given = evaluate(graph, range(len(graph.ops)))
    best = evaluate(graph, thrifty_order(graph))
    arguments: dict[str, Any] = {
        "graph": graph,
        "given": given,
        "best": best,
        "best_order": best.order,
        "answer": answer_about(graph, given, best),
        "explanation": "",
    }
    path = tmp_path / "report.html"
    with pytest.raises(ValueError, match="same graph and order"):
        write_report(path, **(arguments | {"best_order": given.order}))
    lower = replace(best, peak_bytes=best.peak_bytes - 1)
    with pytest.raises(ValueError, match="their peaks differ"):
        write_report(path, **(arguments | {"best": lower}))
    assert not path.exists()


def test_a_graph_without_ops_has_a_page(tmp_path: Path) -> None:
    wire = {"format": "lowtide.graph/1", "tensors": [], "ops": [], "inputs": [], "outputs": []}
    report = Report(build_graph(parse_graph(wire)), tmp_path / "report.html")
    assert any("no ops" in text for text in report.page.texts)
    assert report.page.scripts == []


def test_amounts_past_two_to_the_53_stay_exact(tmp_path: Path) -> None:
    odd = (1 << 60) + 1
    wire = {
        "format": "lowtide.graph/1",
        "tensors": [{"name": "y", "bytes": odd}],
        "ops": [{"name": "make", "inputs": [], "outputs": ["y"]}],
        "inputs": [],
        "outputs": ["y"],
    }
    report = Report(build_graph(parse_graph(wire)), tmp_path / "report.html")
    assert report.data["steps"]["given"][0][3] == str(odd)
    assert report.data["tensors"]["0"][1] == str(odd)
    assert report.page.tables[0][1][1] == f"{odd:,}"


def test_the_same_input_gives_the_same_bytes(nabu: Report, tmp_path: Path) -> None:
    again = Report(nabu.graph, tmp_path / "again.html")
    assert again.path.read_bytes() == nabu.path.read_bytes()


@pytest.mark.parametrize("which", ["nabu", "hostile"])
def test_nothing_is_loaded_from_anywhere(which: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(which).page
    loading = {"src", "href", "srcset", "data", "action", "formaction", "poster", "background"}
    for tag, attributes in page.elements:
        assert tag not in ("link", "base", "iframe", "object", "embed", "img", "a", "form")
        assert not loading & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    policies = [
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    policy = policies[0] or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "http" not in policy
    script_sources = policy.partition("script-src")[2].partition(";")[0]
    assert "unsafe" not in script_sources
    style = Path(sys.modules["lowtide_client.report"].__file__ or "").with_name("page.css")
    assert not re.search(r"url\(|@import", style.read_text(encoding="utf-8"))


def test_hostile_names_are_text(hostile: Report) -> None:
    page = hostile.page
    assert len(page.scripts) == 3
    assert [tag for tag, _ in page.elements if tag == "script"] == ["script"] * 3
    assert shown_name(HOSTILE[0], 200) in page.texts
    names = [row[0] for row in page.tables[0][1:-1]]
    assert sorted(names) == sorted(
        shown_name(storage.name, 200) for storage in hostile.graph.storages
    )
    for name in [
        *hostile.data["ops"].values(),
        *(row[0] for row in hostile.data["tensors"].values()),
    ]:
        assert "<" not in name
        assert ">" not in name
        assert "\n" not in name
        assert "\u202e" not in name
    assert "\u202e" not in hostile.text
    explained = next(text for text in page.texts if HOSTILE[1] in text and HOSTILE[2] in text)
    assert "line one\nline two\\u202egpj.exe" in explained
    embedded = page.scripts[0]
    assert not re.search(r"[<>&\u2028\u2029]", embedded)


def test_a_large_graph_with_long_names_stays_small(tmp_path: Path) -> None:
    report = Report(wide_graph(2_500, 400, name_length=100), tmp_path / "report.html")
    assert report.path.stat().st_size < MAX_PAGE_BYTES
    assert len(report.data["steps"]["best"]) == 2_500


def test_a_very_long_order_is_drawn_by_its_highest_steps(tmp_path: Path) -> None:
    graph = wide_graph(2 * MAX_STEPS_IN_FULL, 1_200, name_length=100)
    report = Report(graph, tmp_path / "report.html")
    assert report.path.stat().st_size < MAX_PAGE_BYTES
    stretch = report.data["stretch"]
    profile = report.given
    rows = report.data["steps"]["given"]
    assert len(rows) <= MAX_STRETCHES
    assert [int(row[3]) for row in rows] == [
        max(profile.step[start : start + stretch]) for start in range(0, len(profile.step), stretch)
    ]
    assert profile.binding_step in [row[0] for row in rows]
    figure = report.data["figures"]["given-lifetimes"]
    assert sum(len(trace["customdata"]) for trace in figure["data"]) == MAX_BARS
    assert any("tensors that matter most are drawn" in text for text in report.page.texts)
    assert len(report.page.tables[0]) == 1 + MAX_ROWS + 2
    listed = [int(row[1].replace(",", "")) for row in report.page.tables[0][1:]]
    assert sum(listed[:-1]) == listed[-1] == profile.peak_bytes


def test_without_plotly_the_import_says_what_to_install() -> None:
    script = "import sys; sys.modules['plotly'] = None; import lowtide_client.report"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "the report needs plotly: install it with pip install 'lowtide[report]'" in done.stderr
