"""What has to be there when an op first runs, whatever is computed twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lowtide.checker.plan_model import PlanModel


def bytes_with_companions(plan: PlanModel, op: int) -> int:
    """The least bytes of a step at which the op runs for the first time. Linear in the graph.

    Besides what the op touches, creates and works in there are the pinned inputs and its
    *companions*: storages that have one instance in every plan (graph inputs; those whose creator
    may run once), that are there by then (the creator comes before the op in every plan), and that
    stay (the caller keeps them, or a user comes after the op in every plan). In-place pairs save
    only through inputs that are no companions: the others do not die here.
    """
    model = plan.model
    before = _reachable(model.predecessors, op)
    after = _reachable(model.successors, op)
    companions = {
        s
        for s, creator in enumerate(model.creator)
        if plan.never_made_again(s)
        and (creator < 0 or creator in before)
        and (model.is_held(s) or not after.isdisjoint(model.users[s]))
    }
    pinned = {s for s, is_pinned in enumerate(model.is_pinned) if is_pinned}
    there = companions | pinned | {*model.touches[op], *model.creates[op]}
    saving = max(
        sum(pair.size_bytes for pair in mode if pair.input not in companions)
        for mode in model.modes[op]
    )
    return _total(model.size_bytes, there) + model.workspace_bytes[op] - saving


def _reachable(arcs: Sequence[Sequence[int]], op: int) -> set[int]:
    found: set[int] = set()
    waiting = [op]
    while waiting:
        for other in arcs[waiting.pop()]:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def _total(sizes: Sequence[int], storages: Iterable[int]) -> int:
    return sum(sizes[s] for s in storages)
