"""The memory profile of an order, and what binds its peak (docs/memory-model.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lowtide.graph import Graph, InPlacePair, Op
from lowtide.in_place import modes
from lowtide.wire_errors import quoted

OrderFault = Literal["unknown", "twice", "missing", "too_early"]


class OrderError(ValueError):
    """A sequence of ops is not an order of the graph.

    Attributes:
        fault: `unknown`, `twice` or `missing` op, or one that runs `too_early`.
        op: the name of the op at fault.
    """

    def __init__(self, fault: OrderFault, op: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault
        self.op = op


@dataclass(frozen=True, slots=True)
class Profile:
    """Memory over the steps of an order, in bytes. All tuples have one entry per op.

    Attributes:
        order: op indices, as they run.
        live_before: live before the step.
        step: held while it runs (the step's cost).
        live_after: live after the step.
        saved_in_place: what in-place pairs save in the step; `step` is already reduced by it.
        peak_bytes: the largest step cost; 0 for a graph without ops.
        binding_step: the first step that reaches the peak; None for a graph without ops.
    """

    order: tuple[int, ...]
    live_before: tuple[int, ...]
    step: tuple[int, ...]
    live_after: tuple[int, ...]
    saved_in_place: tuple[int, ...]
    peak_bytes: int
    binding_step: int | None


@dataclass(frozen=True, slots=True)
class LiveStorage:
    """A storage held during a step. `idle`: the op of the step neither touches nor creates it."""

    storage: int
    idle: bool


def evaluate(graph: Graph, order: Sequence[int]) -> Profile:
    """The profile of an order (op indices). Linear in the graph.

    Raises:
        OrderError: not every op exactly once, or an op before one it depends on.
    """
    check_order(graph, order)
    storages = graph.storages
    users_left = [len(storage.users) for storage in storages]
    held = [storage.is_output or storage.is_pinned for storage in storages]
    live = sum(
        storage.size_bytes
        for storage in storages
        if storage.creator is None and (storage.users or storage.is_output or storage.is_pinned)
    )
    before: list[int] = []
    step: list[int] = []
    after: list[int] = []
    saved: list[int] = []
    for v in order:
        op = graph.ops[v]
        before.append(live)
        saving = _saving(graph, op, users_left) if op.in_place else 0
        created = sum(storages[s].size_bytes for s in op.creates)
        step.append(live + created + op.workspace_bytes - saving)
        saved.append(saving)
        live += created
        for s in op.creates:
            if not users_left[s] and not held[s]:
                live -= storages[s].size_bytes
        for s in op.touches:
            users_left[s] -= 1
            if not users_left[s] and not held[s]:
                live -= storages[s].size_bytes
        after.append(live)
    peak = max(step, default=0)
    return Profile(
        order=tuple(order),
        live_before=tuple(before),
        step=tuple(step),
        live_after=tuple(after),
        saved_in_place=tuple(saved),
        peak_bytes=peak,
        binding_step=step.index(peak) if step else None,
    )


def held_at_step(graph: Graph, order: Sequence[int], step: int) -> tuple[LiveStorage, ...]:
    """Every storage held during one step, live before it or created by its op; largest first.

    Their sizes, plus the op's workspace, less what the step saves in place, are the step's cost.
    `order` must be an order of the graph (`evaluate` checks that). Linear in the graph.
    """
    done = [False] * len(graph.ops)
    for v in order[:step]:
        done[v] = True
    op = graph.ops[order[step]]
    created = set(op.creates)
    own = created.union(op.touches)
    found = []
    for s, storage in enumerate(graph.storages):
        exists = storage.creator is None or done[storage.creator]
        needed = storage.is_output or storage.is_pinned or not all(done[u] for u in storage.users)
        if s in created or (exists and needed):
            found.append(LiveStorage(storage=s, idle=s not in own))
    found.sort(key=lambda live: (-graph.storages[live.storage].size_bytes, live.storage))
    return tuple(found)


def check_order(graph: Graph, order: Sequence[int]) -> None:
    """Raises OrderError unless `order` runs every op once, after all it depends on. Linear time."""
    done = [False] * len(graph.ops)
    position_of: dict[int, int] = {}
    for position, v in enumerate(order):
        if not 0 <= v < len(graph.ops):
            message = (
                f"op index {v} at step {position} is not one of the graph's {len(graph.ops)} ops"
            )
            raise OrderError("unknown", str(v), message)
        op = graph.ops[v]
        if done[v]:
            message = (
                f"op {quoted(op.name)} runs at step {position_of[v]} and again at step {position}; "
                "an order runs every op once"
            )
            raise OrderError("twice", op.name, message)
        for u in op.predecessors:
            if not done[u]:
                message = (
                    f"op {quoted(op.name)} runs at step {position}, before op "
                    f"{quoted(graph.ops[u].name)}, which it depends on"
                )
                raise OrderError("too_early", op.name, message)
        done[v] = True
        position_of[v] = position
    if len(order) < len(graph.ops):
        missing = graph.ops[done.index(False)].name
        absent = len(graph.ops) - len(order)
        message = f"op {quoted(missing)} does not run; the order lacks {absent} of {len(done)} ops"
        raise OrderError("missing", missing, message)


def order_from_names(graph: Graph, names: Sequence[str]) -> tuple[int, ...]:
    """The order that runs ops by these names.

    Raises:
        OrderError: an unknown name, or not an order.
    """
    index_of = {op.name: v for v, op in enumerate(graph.ops)}
    for position, name in enumerate(names):
        if name not in index_of:
            message = f"op {quoted(name)} at step {position} is not an op of the graph"
            raise OrderError("unknown", name, message)
    order = tuple(index_of[name] for name in names)
    check_order(graph, order)
    return order


def _saving(graph: Graph, op: Op, users_left: Sequence[int]) -> int:
    """What the op saves: the best matching of the pairs whose input has no other user left.

    A best matching of some pairs is part of a maximal matching of all, so the modes hold it.
    """

    def saving(pair: InPlacePair) -> int:
        if users_left[pair.input] > 1:
            return 0
        return min(graph.storages[pair.output].size_bytes, graph.storages[pair.input].size_bytes)

    if len(op.in_place) == 1:
        return saving(op.in_place[0])
    return max(sum(saving(pair) for pair in mode) for mode in modes(op.in_place))
