"""The canonical positions of a graph's ops and storages, by way of the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lowtide.build import build_graph
from lowtide.graph_identity import graph_canonical_form
from lowtide.wire import parse_graph


@dataclass(frozen=True)
class CanonicalPositions:
    """Position per op and storage index of the oracle; the dependencies that flows may follow."""

    graph_hash: str
    op_position: tuple[int, ...]
    storage_position: tuple[int, ...]
    predecessors: tuple[tuple[int, ...], ...]


def canonical_positions(wire: dict[str, Any]) -> CanonicalPositions:
    """Positions for a graph given as the dict that its JSON stands for."""
    graph = build_graph(parse_graph(wire))
    form = graph_canonical_form(graph)
    return CanonicalPositions(
        graph_hash=form.graph_hash,
        op_position=form.op_position,
        storage_position=form.storage_position,
        predecessors=tuple(op.predecessors for op in graph.ops),
    )
