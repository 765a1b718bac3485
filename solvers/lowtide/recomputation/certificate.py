"""`lowtide.recomputation/1`: a plan with what is claimed of it (docs/recomputation.md).

Ops are referred to by position in the graph's canonical form, as in `lowtide.certificate/1`. The
hash is blind to costs and caps: the checker takes costs from the graph, caps from here.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from lowtide.certificate import Positions

FORMAT: Final = "lowtide.recomputation/1"
NO_CAP: Final = 0

Scope = Literal["free", "given-order"]
Objective = Literal["peak", "cost"]
PlanStatus = Literal["OPTIMAL", "FEASIBLE", "INFEASIBLE", "UNKNOWN"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class CompanionsWitness(_Frozen):
    """When `op` first runs, it needs the claimed bytes together with what has to be there then: the
    values nobody can make again that an op after it still reads, or the caller.

    Proves `lower_bound_bytes` in scope free.
    """

    kind: Literal["companions"]
    op: int


class ExhaustedWitness(_Frozen):
    """An exact search over states of plans has seen every plan of the scope; `states` of them were
    looked at. To be checked by searching again.
    """

    kind: Literal["exhausted"]
    states: int


class NoWitness(_Frozen):
    """Nothing is claimed that needs one."""

    kind: Literal["none"]


Witness = Annotated[CompanionsWitness | ExhaustedWitness | NoWitness, Field(discriminator="kind")]


class RecomputationCertificate(_Frozen):
    """What is claimed of a graph's plans.

    Attributes:
        caps: per op, by position: how often it may run; NO_CAP for no cap.
        scope: of which plans the claim speaks: all, or those whose first runs keep `first_runs`.
        first_runs: every op once; empty in scope free.
        objective: OPTIMAL means, for `peak`: no plan of the scope (that costs no more than
            `max_extra_cost`) peaks lower, and none with this peak costs less; for `cost`: no plan
            within `budget_bytes` costs less.
        status: INFEASIBLE: no plan of the scope is within `budget_bytes` and `max_extra_cost`.
            UNKNOWN: none was found within the limits of the search.
        runs: the plan; None when INFEASIBLE or UNKNOWN.
        peak_bytes, extra_cost: of the plan; None without one.
        lower_bound_bytes: no plan of the scope within `max_extra_cost` peaks lower.
        least_extra_cost: no plan of the scope that is no higher than `peak_bytes` (objective peak)
            or `budget_bytes` (cost) costs less.
        bound_witness: what shows `lower_bound_bytes`.
        cost_witness: what shows `least_extra_cost` when that is above 0.
    """

    format: Literal["lowtide.recomputation/1"]
    graph_hash: str
    caps: Positions
    scope: Scope
    first_runs: Positions
    objective: Objective
    budget_bytes: int | None
    max_extra_cost: int | None
    status: PlanStatus
    runs: Positions | None
    peak_bytes: int | None
    extra_cost: int | None
    lower_bound_bytes: int
    least_extra_cost: int
    bound_witness: Witness
    cost_witness: Witness

    def identifier(self) -> str:
        """Content hash of the certificate: 32 hexadecimal digits."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:32]
