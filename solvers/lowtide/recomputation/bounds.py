"""A lower bound on the peak that holds whatever is computed twice."""

from __future__ import annotations

from dataclasses import dataclass

from lowtide.in_place import modes
from lowtide.recomputation.model import RecomputationModel

MAX_OPS_FOR_COMPANIONS = 20_000
"""Beyond, the sets of ops before and after each op would take too much memory."""


@dataclass(frozen=True, slots=True)
class CompanionBound:
    """When op `op` first runs, at least `bytes` are held; `op` is None for a graph without ops."""

    bytes: int
    op: int | None


def companion_bound(model: RecomputationModel) -> CompanionBound:
    """The largest working set with its unavoidable companions.

    When an op first runs, these are there besides what it touches, creates and works in: storages
    that nobody can make again (graph inputs, and those whose creator may run once), that exist by
    then (the creator comes before the op in every plan), and that are still needed (by an op that
    comes after it in every plan, or by the caller). Each plan has such a step, so none peaks lower.
    O(ops^2 / 64 + ops * such storages).
    """
    graph = model.graph
    if len(graph.ops) > MAX_OPS_FOR_COMPANIONS:
        companions_of: list[list[int]] = [[] for _ in graph.ops]
    else:
        companions_of = _companions(model)
    best = CompanionBound(0, None)
    for v in range(len(graph.ops)):
        held = _bytes_at_first_run(model, v, companions_of[v])
        if best.op is None or held > best.bytes:
            best = CompanionBound(held, v)
    return best


def _bytes_at_first_run(model: RecomputationModel, v: int, companions: list[int]) -> int:
    graph = model.graph
    op = graph.ops[v]
    sizes = [storage.size_bytes for storage in graph.storages]
    there = {*op.creates, *op.touches, *companions}
    there.update(s for s, storage in enumerate(graph.storages) if storage.is_pinned)
    staying = set(companions)
    saving = max(
        sum(
            min(sizes[pair.output], sizes[pair.input]) for pair in mode if pair.input not in staying
        )
        for mode in modes(op.in_place)
    )
    return sum(sizes[s] for s in there) + op.workspace_bytes - saving


def _companions(model: RecomputationModel) -> list[list[int]]:
    """Per op: the storages nobody can make again that are held when it first runs, whatever the
    plan, touched by it or not.
    """
    graph = model.graph
    before = [0] * len(graph.ops)
    for v, op in enumerate(graph.ops):
        for u in op.predecessors:
            before[v] |= before[u] | 1 << u
    after = [0] * len(graph.ops)
    for v in reversed(range(len(graph.ops))):
        for u in graph.ops[v].predecessors:
            after[u] |= after[v] | 1 << v
    found: list[list[int]] = [[] for _ in graph.ops]
    for s, storage in enumerate(graph.storages):
        creator = storage.creator
        if creator is not None and model.caps[creator] != 1:
            continue
        # Needed after v: always, or where one of its users comes after v.
        if storage.is_output or storage.is_pinned:
            held_at = (1 << len(graph.ops)) - 1
        else:
            held_at = 0
            for user in storage.users:
                held_at |= before[user]
        if creator is not None:
            held_at &= after[creator]
        while held_at:
            v = held_at.bit_length() - 1
            found[v].append(s)
            held_at ^= 1 << v
    return found
