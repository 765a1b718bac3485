"""The model as the kernel's recomputation search reads it."""

from __future__ import annotations

from lowtide._kernel import RecomputationProblem
from lowtide.in_place import modes
from lowtide.recomputation.model import RecomputationModel


def kernel_recomputation_problem(model: RecomputationModel) -> RecomputationProblem:
    """The kernel's problem with the same op, storage and edit indices. Linear in the graph."""
    graph = model.graph
    sizes = [storage.size_bytes for storage in graph.storages]
    problem = RecomputationProblem(edit_count=len(model.edits))
    for v, op in enumerate(graph.ops):
        problem.add_op(
            cost=op.cost,
            cap=model.caps[v] or 0,
            workspace_bytes=op.workspace_bytes,
            predecessors=op.predecessors,
            creates=op.creates,
            touches=op.touches,
            needed_edits=model.needed_edits[v],
            forbidden_edits=model.forbidden_edits[v],
            makes_edits=model.makes_edits[v],
            modes=[
                [
                    (pair.output, pair.input, min(sizes[pair.output], sizes[pair.input]))
                    for pair in mode
                ]
                for mode in modes(op.in_place)
            ],
        )
    edits_of: list[list[int]] = [[] for _ in graph.storages]
    for e, edit in enumerate(model.edits):
        edits_of[edit.storage].append(e)
    for s, storage in enumerate(graph.storages):
        problem.add_storage(
            size_bytes=storage.size_bytes,
            creator=-1 if storage.creator is None else storage.creator,
            is_output=storage.is_output,
            is_pinned=storage.is_pinned,
            users=storage.users,
            edits=edits_of[s],
            final_edits=model.final_edits[s],
        )
    return problem
