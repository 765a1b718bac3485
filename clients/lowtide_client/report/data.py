"""What `page.js` reads: the figures, and the tables from which it makes their hover texts."""

from __future__ import annotations

import json
from typing import Any

from lowtide.graph import Graph

from lowtide_client.report.figures import lifetimes_figure, memory_figure
from lowtide_client.report.orders import OrderView
from lowtide_client.report.plot_text import plot_name
from lowtide_client.report.steps import Point, stretch_steps

_HOVER_CHARACTERS = 48


def page_data(
    graph: Graph, given: OrderView, best: OrderView, lower_bound_bytes: int
) -> dict[str, Any]:
    """The page's data, as JSON values. Steps count from 0.

    `steps` lists per order and point: step, op, bytes live before, while it runs, live after,
    number of live storages, the largest of them. `ops` maps op index to name, `tensors` storage
    index to name, bytes, creator (-1 for none) and a note. Only what the figures can show is
    listed. Names are escaped for plotly; bytes are decimal strings, since they may pass 2^53.
    """
    views = (given, best)
    tops = (
        bar.bottom_bytes + graph.storages[bar.lifetime.storage].size_bytes
        for view in views
        for bar in view.chart.bars
    )
    top_bytes = max(tops, default=1)
    storages = {bar.lifetime.storage for view in views for bar in view.chart.bars}
    storages.update(index for view in views for point in view.points for index in point.largest)
    ops = {point.op for view in views for point in view.points}
    creators = (graph.storages[index].creator for index in storages)
    ops.update(creator for creator in creators if creator is not None)
    return {
        "figures": {
            "memory": memory_figure(given, best, lower_bound_bytes),
            "given-lifetimes": lifetimes_figure(graph, given, top_bytes),
            "best-lifetimes": lifetimes_figure(graph, best, top_bytes),
        },
        "step_count": len(graph.ops),
        "stretch": stretch_steps(len(graph.ops)),
        "steps": {view.key: [_step(point) for point in view.points] for view in views},
        "ops": {op: plot_name(graph.ops[op].name, _HOVER_CHARACTERS) for op in sorted(ops)},
        "tensors": {storage: _tensor(graph, storage) for storage in sorted(storages)},
    }


def script_json(value: object) -> str:
    """JSON that can neither end the script element it stands in nor open a comment there. ASCII."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _step(point: Point) -> list[Any]:
    return [
        point.step,
        point.op,
        str(point.live_before_bytes),
        str(point.step_bytes),
        str(point.live_after_bytes),
        point.live_count,
        list(point.largest),
    ]


def _tensor(graph: Graph, index: int) -> list[Any]:
    storage = graph.storages[index]
    note = ", graph output" if storage.is_output else ""
    if storage.is_pinned:
        note += ", kept by the caller"
    if len(storage.tensors) > 1:
        note += f", {len(storage.tensors) - 1:,} more names (views)"
    creator = -1 if storage.creator is None else storage.creator
    name = plot_name(storage.name, _HOVER_CHARACTERS)
    return [name, str(storage.size_bytes), creator, note]
