"""From the library's values to what the outside is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowtide.answers import BindingStep, EvaluateAnswer, LiveTensor, ScheduleAnswer, Step
from lowtide.memory import held_at_step

if TYPE_CHECKING:
    from lowtide.graph import Graph
    from lowtide.memory import Profile
    from lowtide.schedule import Schedule


def schedule_answer(graph: Graph, schedule: Schedule, *, cached: bool) -> ScheduleAnswer:
    """The answer to "which order?", in the op names of `graph`, whose schedule it must be."""
    peak = schedule.peak_bytes
    return ScheduleAnswer(
        status=schedule.status,
        peak_bytes=peak,
        lower_bound_bytes=schedule.lower_bound_bytes,
        gap=(peak - schedule.lower_bound_bytes) / peak if peak else 0.0,
        given_order_peak_bytes=schedule.given_order_peak_bytes,
        order=tuple(graph.ops[v].name for v in schedule.order),
        proof=schedule.certificate.witness.kind,
        certificate_id=schedule.certificate.identifier(),
        cached=cached,
        solve_seconds=schedule.solve_seconds,
        limit=schedule.limit,
    )


def evaluate_answer(graph: Graph, profile: Profile) -> EvaluateAnswer:
    """The memory profile of one order, in the names of `graph`, whose profile it must be."""
    steps = tuple(
        Step(
            op=graph.ops[v].name,
            live_before_bytes=before,
            step_bytes=during,
            live_after_bytes=after,
        )
        for v, before, during, after in zip(
            profile.order, profile.live_before, profile.step, profile.live_after, strict=True
        )
    )
    return EvaluateAnswer(
        peak_bytes=profile.peak_bytes, steps=steps, binding=_binding_step(graph, profile)
    )


def _binding_step(graph: Graph, profile: Profile) -> BindingStep | None:
    step = profile.binding_step
    if step is None:
        return None
    op = graph.ops[profile.order[step]]
    return BindingStep(
        step=step,
        op=op.name,
        workspace_bytes=op.workspace_bytes,
        saved_in_place_bytes=profile.saved_in_place[step],
        tensors=tuple(
            LiveTensor(
                tensor=graph.storages[live.storage].name,
                bytes=graph.storages[live.storage].size_bytes,
                idle=live.idle,
            )
            for live in held_at_step(graph, profile.order, step)
        ),
    )
