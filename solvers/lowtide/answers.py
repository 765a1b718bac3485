"""What the outside is told, as data: the same fields over HTTP, from the SDK and from `--json`
(design, section 9).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from lowtide.certificate import Certificate

Status = Literal["OPTIMAL", "FEASIBLE"]
Limit = Literal["time", "states", "cancelled"]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScheduleAnswer(_Answer):
    """Answer to "which order?". `gap` is (peak - lower bound) / peak, for display only; decisions
    use the integers.
    """

    status: Status
    peak_bytes: int
    lower_bound_bytes: int
    gap: float
    given_order_peak_bytes: int
    order: tuple[str, ...]
    proof: str
    certificate_id: str
    cached: bool
    solve_seconds: float
    limit: Limit | None


class LiveTensor(_Answer):
    """A storage that is live at a step. `idle`: the op of that step neither reads, writes nor
    creates it.
    """

    tensor: str
    bytes: int
    idle: bool


class Step(_Answer):
    """One step of an order: bytes live before it, while it runs (the step's cost) and after it."""

    op: str
    live_before_bytes: int
    step_bytes: int
    live_after_bytes: int


class BindingStep(_Answer):
    """The first step at which the peak is reached, and everything that is live there."""

    step: int
    op: str
    workspace_bytes: int
    saved_in_place_bytes: int
    tensors: tuple[LiveTensor, ...]


class EvaluateAnswer(_Answer):
    """The memory profile of one order. `binding` is None only for a graph without ops."""

    peak_bytes: int
    steps: tuple[Step, ...]
    binding: BindingStep | None


class VerifyAnswer(_Answer):
    """The checker's verdict. `reason` is a short code when refused, None when accepted.

    `method` says how the bound was checked: from its flows, from its closed family, by
    recomputation, or not reached.
    """

    accepted: bool
    reason: str | None
    detail: str
    method: Literal["working-set", "flow", "family", "recomputation", "none"]
    status: Status | None
    peak_bytes: int | None
    lower_bound_bytes: int | None


__all__ = [
    "BindingStep",
    "Certificate",
    "EvaluateAnswer",
    "Limit",
    "LiveTensor",
    "ScheduleAnswer",
    "Status",
    "Step",
    "VerifyAnswer",
]
