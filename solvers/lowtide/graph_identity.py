"""The canonical form of a `Graph`."""

from __future__ import annotations

from lowtide.canonical import CanonicalForm, CanonicalInput, canonical_form
from lowtide.graph import Graph


def graph_canonical_form(graph: Graph) -> CanonicalForm:
    """Hash and canonical positions of a graph's ops and storages."""
    return canonical_form(
        CanonicalInput(
            storage_bytes=[s.size_bytes for s in graph.storages],
            storage_flags=[s.is_output + 2 * s.is_pinned for s in graph.storages],
            storage_creator=[-1 if s.creator is None else s.creator for s in graph.storages],
            storage_users=[s.users for s in graph.storages],
            op_predecessors=[op.predecessors for op in graph.ops],
            op_workspace_bytes=[op.workspace_bytes for op in graph.ops],
            op_in_place=[[(p.output, p.input) for p in op.in_place] for op in graph.ops],
        )
    )
