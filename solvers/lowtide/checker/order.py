"""The order of a certificate: every op after what it depends on, and the peak it really has."""

from __future__ import annotations

from collections.abc import Sequence

from lowtide.checker.model import GRAPH_INPUT, Model
from lowtide.checker.refusal import Refusal, shown


def peak_of(model: Model, order: Sequence[int]) -> tuple[int, int]:
    """The largest step cost of an order and the first step that has it; 0 and -1 without ops.

    Linear in the graph.

    Args:
        order: op indices, each op exactly once.

    Raises:
        Refusal: an op runs before one that it depends on.
    """
    waiting_for = [len(before) for before in model.predecessors]
    users_left = [len(users) for users in model.users]
    live = sum(
        model.size_bytes[s]
        for s, creator in enumerate(model.creator)
        if creator == GRAPH_INPUT and (users_left[s] or model.is_held(s))
    )
    peak, peak_step = 0, -1
    for step, op in enumerate(order):
        if waiting_for[op]:
            _refuse_early(model, order[:step], op, step)
        for successor in model.successors[op]:
            waiting_for[successor] -= 1
        cost = live + model.added_bytes(op) - _saving(model, op, users_left)
        if cost > peak or step == 0:
            peak, peak_step = cost, step
        for storage in model.touches[op]:
            users_left[storage] -= 1
            if not users_left[storage] and not model.is_held(storage):
                live -= model.size_bytes[storage]
        for storage in model.creates[op]:
            if users_left[storage] or model.is_held(storage):
                live += model.size_bytes[storage]
    return peak, peak_step


def _saving(model: Model, op: int, users_left: Sequence[int]) -> int:
    return max(
        sum(pair.size_bytes for pair in mode if users_left[pair.input] == 1)
        for mode in model.modes[op]
    )


def _refuse_early(model: Model, done: Sequence[int], op: int, step: int) -> None:
    ran = set(done)
    missing = next(u for u in model.predecessors[op] if u not in ran)
    raise Refusal(
        "order-breaks-dependency",
        f"step {step} runs op {shown(model.op_names[op])} before op "
        f"{shown(model.op_names[missing])}, on which it depends",
    )
