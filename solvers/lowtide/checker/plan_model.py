"""What the checker of recomputation plans knows of a graph and of the caps of a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lowtide.checker.model import Model
from lowtide.checker.plan_contents import Program, program_contents
from lowtide.checker.refusal import Refusal, shown
from lowtide.recomputation.certificate import NO_CAP
from lowtide.wire import WireGraph, WireOp


@dataclass(frozen=True, slots=True)
class PlanModel:
    """A graph with caps, by op index.

    Attributes:
        program: what every op reads and writes.
        caps: how often each op may run; None for no cap.
        cost: of one run of each op.
        only_views: ops that create nothing and overwrite nothing.
    """

    model: Model
    program: Program
    caps: tuple[int | None, ...]
    cost: tuple[int, ...]
    only_views: tuple[bool, ...]

    def may_run_again(self, op: int, runs: int) -> bool:
        """Whether the op may run once more after so many runs."""
        cap = self.caps[op]
        return cap is None or runs < cap

    def never_made_again(self, storage: int) -> bool:
        """Whether the storage has one instance in every plan."""
        creator = self.model.creator[storage]
        return creator < 0 or self.caps[creator] == 1

    @property
    def makes_nothing_again(self) -> bool:
        """Whether nothing but ops that take views may run again, which then helps nobody."""
        return all(cap == 1 or view for cap, view in zip(self.caps, self.only_views, strict=True))


def plan_model(
    wire: WireGraph, model: Model, op_at: Sequence[int], caps: Sequence[int]
) -> PlanModel:
    """The graph with the caps of a certificate. Linear in the graph.

    Args:
        op_at: op index per canonical position.
        caps: per canonical position.

    Raises:
        Refusal: caps that the graph does not allow.
    """
    if len(caps) != model.op_count:
        text = f"the certificate lists {len(caps)} caps, the graph has {model.op_count} ops"
        raise Refusal("caps-count", text)
    cap_of: list[int | None] = [None] * model.op_count
    for op, cap in zip(op_at, caps, strict=True):
        _check_cap(wire.ops[op], cap)
        cap_of[op] = None if cap == NO_CAP else cap
    return PlanModel(
        model=model,
        program=program_contents(wire, model),
        caps=tuple(cap_of),
        cost=tuple(op.cost for op in wire.ops),
        only_views=tuple(
            not made and not op.mutates for made, op in zip(model.creates, wire.ops, strict=True)
        ),
    )


def _check_cap(op: WireOp, cap: int) -> None:
    name, claimed = shown(op.name), "no cap" if cap == NO_CAP else f"cap {shown(cap)}"
    if cap < 0:
        raise Refusal("cap-negative", f"op {name} has {claimed}")
    if op.mutates and cap != 1:
        text = f"op {name} overwrites {shown(op.mutates[0])}, so its cap is 1; it has {claimed}"
        raise Refusal("cap-of-overwriting-op", text)
    if not op.outputs and cap != 1:
        text = f"op {name} makes nothing: it runs for an effect elsewhere, once; it has {claimed}"
        raise Refusal("cap-of-op-without-outputs", text)
    if op.max_runs is not None and (cap == NO_CAP or cap > op.max_runs):
        text = f"op {name} may run {op.max_runs} times by the graph; it has {claimed}"
        raise Refusal("cap-above-max-runs", text)
