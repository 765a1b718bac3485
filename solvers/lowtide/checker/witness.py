"""Does the witness of a certificate prove its lower bound?"""

from __future__ import annotations

from typing import Literal

from lowtide.certificate import TrapWitness, Witness, WorkingSetWitness
from lowtide.checker.family import check_family
from lowtide.checker.model import Model
from lowtide.checker.positions import Positions
from lowtide.checker.recompute import refute_by_search
from lowtide.checker.refusal import Deadline, Refusal, shown
from lowtide.checker.trap import check_trap

Method = Literal["working-set", "flow", "family", "recomputation", "none"]


def method_for(witness: Witness) -> Method:
    """How a witness is checked."""
    if isinstance(witness, WorkingSetWitness):
        return "working-set"
    if isinstance(witness, TrapWitness):
        return "flow"
    return "recomputation" if witness.states is None else "family"


def check_witness(
    model: Model, positions: Positions, witness: Witness, bound_bytes: int, deadline: Deadline
) -> None:
    """Accepts a witness that no order has a peak below `bound_bytes`; raises Refusal otherwise."""
    if model.op_count == 0:
        return  # The peak is 0, so the bound is 0 as well, and that needs no proof.
    if isinstance(witness, WorkingSetWitness):
        _check_working_set(model, positions, witness, bound_bytes)
    elif isinstance(witness, TrapWitness):
        check_trap(model, positions, witness, bound_bytes, deadline)
    elif witness.states is None:
        refute_by_search(model, bound_bytes - 1, deadline)
    else:
        check_family(model, positions, witness, bound_bytes - 1, deadline)


def _check_working_set(
    model: Model, positions: Positions, witness: WorkingSetWitness, bound_bytes: int
) -> None:
    op = positions.op(witness.op, "witness-unknown-op")
    working_set = model.least_working_set(op)
    if working_set < bound_bytes:
        text = (
            f"op {shown(model.op_names[op])} alone needs {working_set} bytes, "
            f"less than the lower bound {bound_bytes}"
        )
        raise Refusal("witness-working-set-too-small", text)
