"""Runs a plan: does every run read what it should, and what do memory and recomputation cost?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lowtide.checker.plan_contents import Contents
from lowtide.checker.plan_model import PlanModel
from lowtide.checker.refusal import Deadline, Refusal, shown

_STEPS_PER_LOOK_AT_THE_CLOCK = 4096


@dataclass(slots=True)
class _Instance:
    """What one run made of a storage, with the steps from the first to the last it is there."""

    storage: int
    symbol: int
    views: set[str]
    first_step: int
    last_step: int


@dataclass(frozen=True, slots=True)
class Replay:
    """Attributes: peak_bytes, peak_step: the largest step (0 and -1 without runs).

    extra_cost: of all runs but each op's first. first_runs: ops as they run for the first time.
    """

    peak_bytes: int
    peak_step: int
    extra_cost: int
    first_runs: tuple[int, ...]


def replay(plan: PlanModel, runs: Sequence[int], deadline: Deadline) -> Replay:
    """The peak and the extra cost of runs (op indices). Linear in the graph and in what runs touch.

    Raises:
        Refusal: the runs are no plan of the graph under the caps.
    """
    runner = _Runner(plan)
    for step, op in enumerate(runs):
        if step % _STEPS_PER_LOOK_AT_THE_CLOCK == 0:
            deadline.check()
        runner.run(step, op)
    runner.finish(len(runs))
    peak, peak_step = runner.peak(runs)
    extra = sum((n - 1) * cost for n, cost in zip(runner.run_count, plan.cost, strict=True))
    return Replay(peak, peak_step, extra, tuple(runner.first_runs))


class _Runner:
    def __init__(self, plan: PlanModel) -> None:
        self._plan = plan
        self._names = plan.model.op_names
        self.run_count = [0] * plan.model.op_count
        self.first_runs: list[int] = []
        self._newest: dict[int, _Instance] = {}
        self._instances: list[_Instance] = []
        self._inputs_at: dict[int, dict[int, _Instance]] = {}
        for given in plan.program.at_start:
            self._make(0, given, last_step=-1)

    def run(self, step: int, op: int) -> None:
        self._check_turn(step, op)
        self.run_count[op] += 1
        effects = self._plan.program.effects[op]
        where = f"step {step}, run {self.run_count[op]} of op {shown(self._names[op])},"
        for read in effects.reads:
            self._check_contents(read, where, "run-reads-wrong-contents", "run-reads-missing-view")
            self._newest[read.storage].last_step = step
        if any(self._plan.model.modes[op]):
            self._inputs_at[step] = {r.storage: self._newest[r.storage] for r in effects.reads}
        for change in effects.changes:
            instance = self._newest[change.storage]
            instance.symbol = change.symbol
            instance.views |= change.views
        for created in effects.creates:
            self._make(step, created, last_step=step)

    def finish(self, step_count: int) -> None:
        """The outputs are read, and what is held stays to the end."""
        for op, count in enumerate(self.run_count):
            if not count:
                raise Refusal("op-never-runs", f"op {shown(self._names[op])} does not run")
        for output in self._plan.program.at_end:
            where = "at the end the caller"
            self._check_contents(output, where, "output-wrong-contents", "output-missing-view")
        for storage, instance in self._newest.items():
            if self._plan.model.is_held(storage):
                instance.last_step = step_count

    def peak(self, runs: Sequence[int]) -> tuple[int, int]:
        model = self._plan.model
        change = [0] * (len(runs) + 2)
        for instance in self._instances:
            if instance.last_step >= instance.first_step:
                change[instance.first_step] += model.size_bytes[instance.storage]
                change[instance.last_step + 1] -= model.size_bytes[instance.storage]
        live, peak, peak_step = 0, 0, -1
        for step, op in enumerate(runs):
            live += change[step]
            cost = live + model.workspace_bytes[op] - self._saving(step, op)
            if cost > peak or step == 0:
                peak, peak_step = cost, step
        return peak, peak_step

    def _saving(self, step: int, op: int) -> int:
        inputs = self._inputs_at.get(step)
        if inputs is None:
            return 0
        return max(
            sum(pair.size_bytes for pair in mode if inputs[pair.input].last_step == step)
            for mode in self._plan.model.modes[op]
        )

    def _make(self, step: int, made: Contents, last_step: int) -> None:
        instance = _Instance(made.storage, made.symbol, set(made.views), step, last_step)
        self._newest[made.storage] = instance
        self._instances.append(instance)

    def _check_turn(self, step: int, op: int) -> None:
        name, count = shown(self._names[op]), self.run_count[op]
        if not self._plan.may_run_again(op, count):
            raise Refusal("run-above-cap", f"step {step} runs op {name} again, its cap is {count}")
        if count:
            return
        for before in self._plan.model.predecessors[op]:
            if not self.run_count[before]:
                other = shown(self._names[before])
                text = f"step {step} runs op {name} before op {other}, on which it depends"
                raise Refusal("run-breaks-dependency", text)
        self.first_runs.append(op)

    def _check_contents(self, wanted: Contents, where: str, wrong: str, no_view: str) -> None:
        # The creator has run: it is a dependency of every user, and every op has run at the end.
        instance = self._newest[wanted.storage]
        name = shown(self._plan.model.storage_names[wanted.storage])
        if instance.symbol != wanted.symbol:
            text = f"{where} finds other contents in {name} than in the given order"
            raise Refusal(wrong, text)
        missing = wanted.views - instance.views
        if missing:
            text = f"{where} finds no view {shown(min(missing))} of the newest {name}"
            raise Refusal(no_view, text)


def check_first_runs(plan: PlanModel, first_runs: Sequence[int]) -> None:
    """Accepts an order of all ops that respects dependencies; raises Refusal otherwise."""
    model = plan.model
    if len(first_runs) != model.op_count:
        text = f"first_runs lists {len(first_runs)} ops, the graph has {model.op_count}"
        raise Refusal("first-runs-not-a-permutation", text)
    ran: set[int] = set()
    for op in first_runs:
        if op in ran:
            text = f"first_runs lists op {shown(model.op_names[op])} twice"
            raise Refusal("first-runs-not-a-permutation", text)
        for before in model.predecessors[op]:
            if before not in ran:
                names = shown(model.op_names[op]), shown(model.op_names[before])
                text = f"first_runs has op {names[0]} before op {names[1]}, on which it depends"
                raise Refusal("first-runs-break-dependency", text)
        ran.add(op)
