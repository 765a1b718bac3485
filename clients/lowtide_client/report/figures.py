"""The three plots of a report, by plotly.py: memory over steps, storages over time in either order.

Figures hold no names but those of bar labels; `page.js` makes the hover texts from each trace's
`meta` and `customdata` and the page's tables. Steps are drawn as readers count them, from 1.
Colours are of middle lightness: they read on white and on black.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from lowtide.graph import Graph

from lowtide_client.report.bars import Bar
from lowtide_client.report.orders import OrderView
from lowtide_client.report.plot_text import plot_name
from lowtide_client.wording import rounded, unit_for

GIVEN_COLOUR = "#d9730d"
BEST_COLOUR = "#2f80d0"
BOUND_COLOUR = "#1f9d6b"
IDLE_COLOUR = "#efb73e"
IN_USE_COLOUR = "#2f80d0"
OTHER_COLOUR = "#9aa4b2"
_IDLE_PATTERN = {
    "shape": "/",
    "fillmode": "overlay",
    "fgcolor": "rgba(0, 0, 0, 0.3)",
    "size": 7,
    "solidity": 0.1,
}
_BINDING_COLOUR = "#cf2846"
_GRID_COLOUR = "rgba(128, 138, 154, 0.25)"
_CLEAR = "rgba(0, 0, 0, 0)"

_LABELLED_BARS = 40
_OUTLINED_BARS = 300
_OUTLINE = {"color": "rgba(60, 70, 86, 0.6)", "width": 0.5}
_THIN_OUTLINE = {"color": "rgba(255, 255, 255, 0.5)", "width": 0.4}  # dark ones would hide the bars
_LABEL_CHARACTERS = 28


def memory_figure(given: OrderView, best: OrderView, lower_bound_bytes: int) -> dict[str, Any]:
    """Bytes while each step runs, for both orders; the bound; the binding steps marked."""
    unit_bytes, unit = unit_for(max(given.profile.peak_bytes, best.profile.peak_bytes))
    last_step = given.points[-1].stretch_end
    bound = go.Scatter(
        name=f"lower bound: {rounded(lower_bound_bytes)}",
        x=[0.5, last_step + 1.5],
        y=[lower_bound_bytes / unit_bytes] * 2,
        mode="lines",
        line={"color": BOUND_COLOUR, "width": 2, "dash": "dash"},
        hoverinfo="skip",
        meta={"role": "bound"},
    )
    traces = [
        _memory_line(given, GIVEN_COLOUR, unit_bytes),
        _memory_line(best, BEST_COLOUR, unit_bytes),
        bound,
        _binding_mark(given, GIVEN_COLOUR, unit_bytes, "triangle-down"),
        _binding_mark(best, BEST_COLOUR, unit_bytes, "diamond"),
    ]
    layout = _layout(last_step, f"memory while the step runs ({unit})")
    top_bytes = max(given.profile.peak_bytes, best.profile.peak_bytes, 1)
    layout["yaxis"]["range"] = [0, top_bytes / unit_bytes * 1.12]
    layout["height"] = 440
    return _plain(go.Figure(data=traces, layout=layout))


def lifetimes_figure(graph: Graph, view: OrderView, top_bytes: int) -> dict[str, Any]:
    """The bars of one order. `top_bytes`, the top of the axis, is the same for both orders."""
    unit_bytes, unit = unit_for(top_bytes)
    last_step = view.points[-1].stretch_end
    bars = view.chart.bars
    groups = (
        ("live at the binding step, in use", IN_USE_COLOUR, view.in_use),
        ("live at the binding step, idle", IDLE_COLOUR, view.idle),
        ("not live at the binding step", OTHER_COLOUR, None),
    )
    at_binding = view.in_use | view.idle
    labelled = _labelled(graph, bars)
    outline = _OUTLINE if len(bars) <= _OUTLINED_BARS else _THIN_OUTLINE
    traces = []
    for name, colour, members in groups:
        chosen = [
            bar
            for bar in bars
            if (
                bar.lifetime.storage not in at_binding
                if members is None
                else bar.lifetime.storage in members
            )
        ]
        if chosen:
            trace = _bar_trace(graph, chosen, labelled, unit_bytes, outline)
            trace.update(name=name, marker_color=colour)
            if members is view.idle:  # told apart in print and without colour vision
                trace.marker.pattern = _IDLE_PATTERN
            trace.meta = {"role": "tensors", "order": view.key}
            traces.append(trace)
    layout = _layout(last_step, f"stacked tensors ({unit})")
    layout["yaxis"]["range"] = [0, top_bytes / unit_bytes * 1.02]
    layout["barmode"] = "overlay"
    layout["uniformtext"] = {"minsize": 9, "mode": "hide"}
    layout["height"] = 460
    binding_step = view.points[view.binding_point].step
    layout["shapes"] = [
        {
            "type": "rect",
            "x0": binding_step + 0.5,
            "x1": binding_step + 1.5,
            "y0": 0,
            "y1": 1,
            "yref": "paper",
            "line": {"color": _BINDING_COLOUR, "width": 1.5},
            "fillcolor": _CLEAR,
            "layer": "above",
        }
    ]
    return _plain(go.Figure(data=traces, layout=layout))


def _memory_line(view: OrderView, colour: str, unit_bytes: int) -> go.Scatter:
    points = view.points
    end = len(points) - 1
    indices = [0, *range(len(points)), end]  # the first and the last step get their outer halves
    return go.Scatter(
        name=f"{view.title}: peak {rounded(view.profile.peak_bytes)}",
        x=[0.5, *(point.step + 1 for point in points), points[end].stretch_end + 1.5],
        y=[points[index].step_bytes / unit_bytes for index in indices],
        customdata=indices,
        mode="lines",
        line={"color": colour, "width": 2, "shape": "hvh"},
        hoverinfo="text",
        meta={"role": "steps", "order": view.key},
    )


def _binding_mark(view: OrderView, colour: str, unit_bytes: int, symbol: str) -> go.Scatter:
    point = view.points[view.binding_point]
    return go.Scatter(
        name=f"binding step, {view.title}",
        x=[point.step + 1],
        y=[point.step_bytes / unit_bytes],
        customdata=[view.binding_point],
        mode="markers+text",
        text=[f"step {point.step + 1:,}"],
        textposition=_label_position(view),
        marker={"color": colour, "size": 14, "symbol": symbol},
        hoverinfo="text",
        showlegend=False,
        meta={"role": "binding", "order": view.key},
    )


def _label_position(view: OrderView) -> str:
    """To the left for the given order, to the right for the new one, but within the plot."""
    step, step_count = view.points[view.binding_point].step, view.points[-1].stretch_end + 1
    if step * 12 < step_count:
        return "top right"
    if step * 12 > step_count * 11:
        return "top left"
    return "top left" if view.key == "given" else "top right"


def _labelled(graph: Graph, bars: Sequence[Bar]) -> frozenset[int]:
    def area(bar: Bar) -> int:
        steps = bar.lifetime.last_step - bar.lifetime.first_step + 1
        return graph.storages[bar.lifetime.storage].size_bytes * steps

    largest = sorted(bars, key=area, reverse=True)[:_LABELLED_BARS]
    return frozenset(bar.lifetime.storage for bar in largest)


def _bar_trace(
    graph: Graph,
    bars: Sequence[Bar],
    labelled: frozenset[int],
    unit_bytes: int,
    outline: dict[str, Any],
) -> go.Bar:
    sizes = [graph.storages[bar.lifetime.storage].size_bytes for bar in bars]
    names = [graph.storages[bar.lifetime.storage].name for bar in bars]
    return go.Bar(
        orientation="h",
        base=[bar.lifetime.first_step + 0.5 for bar in bars],
        x=[bar.lifetime.last_step - bar.lifetime.first_step + 1 for bar in bars],
        y=[
            (2 * bar.bottom_bytes + size) / (2 * unit_bytes)
            for bar, size in zip(bars, sizes, strict=True)
        ],
        width=[size / unit_bytes for size in sizes],
        customdata=[bar.lifetime.storage for bar in bars],
        text=[
            plot_name(name, _LABEL_CHARACTERS) if bar.lifetime.storage in labelled else ""
            for bar, name in zip(bars, names, strict=True)
        ],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        marker={"line": outline},
        hoverinfo="text",
    )


def _layout(last_step: int, y_title: str) -> dict[str, Any]:
    return {
        "template": {},
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "margin": {"l": 70, "r": 15, "t": 45, "b": 50},
        "font": {"family": "system-ui, sans-serif", "size": 12},
        "hovermode": "closest",
        "hoverlabel": {
            "align": "left",
            "bgcolor": "#1f2733",
            "bordercolor": "#1f2733",
            "font": {"color": "#ffffff"},
        },
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "modebar": {"bgcolor": _CLEAR, "color": "#808a9a", "activecolor": BEST_COLOUR},
        "xaxis": {
            "title": {"text": "step"},
            "range": [0.5, last_step + 1.5],
            "tickformat": ",d",
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {"title": {"text": y_title}, "gridcolor": _GRID_COLOUR, "zeroline": False},
    }


def _plain(figure: go.Figure) -> dict[str, Any]:
    plain: dict[str, Any] = figure.to_plotly_json()
    return plain
