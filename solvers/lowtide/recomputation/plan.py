"""What a plan costs: its peak, its profile and its extra cost, by replaying it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lowtide.graph import Op
from lowtide.in_place import modes
from lowtide.recomputation.model import RecomputationModel
from lowtide.wire_errors import quoted


class PlanError(ValueError):
    """A sequence of runs is not a plan of the graph: names the step, the op and what is wrong."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a storage: created at `first_step` (-1: before the program, a graph input),
    live through `last_step` (the number of steps when it is held to the end).
    """

    storage: int
    first_step: int
    last_step: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Runs of ops in order, with what they need.

    Attributes:
        runs: op indices.
        step_bytes: per run, held while it runs.
        peak_bytes: the largest of them; 0 without ops.
        extra_cost: of all runs but each op's first.
        instances: every instance of every storage.
    """

    runs: tuple[int, ...]
    step_bytes: tuple[int, ...]
    peak_bytes: int
    extra_cost: int
    instances: tuple[Instance, ...]


def replay(model: RecomputationModel, runs: Sequence[int]) -> Plan:
    """The plan that makes these runs. An instance is freed after its last reader.

    Linear in the runs and what they touch.

    Raises:
        PlanError: an op never runs, runs more often than its cap, too early, or would find other
            contents than the program's op.
    """
    instances = _Instances(model)
    counts = [0] * len(model.graph.ops)
    extra_cost = 0
    for step, v in enumerate(runs):
        op = _op_at(model, step, v)
        for u in op.predecessors:
            if not counts[u]:
                before = quoted(model.graph.ops[u].name)
                raise PlanError(f"{_at(step, op)} before op {before}, which it depends on")
        counts[v] += 1
        cap = model.caps[v]
        if cap is not None and counts[v] > cap:
            raise PlanError(f"{_at(step, op)} for the {counts[v]}th time; its cap is {cap}")
        if counts[v] > 1:
            extra_cost += op.cost
        instances.run(step, v)
    for v, count in enumerate(counts):
        if not count:
            raise PlanError(f"op {quoted(model.graph.ops[v].name)} never runs")
    lives = instances.finish(len(runs))
    step_bytes = _step_bytes(model, runs, lives)
    return Plan(tuple(runs), step_bytes, max(step_bytes, default=0), extra_cost, lives)


def _op_at(model: RecomputationModel, step: int, v: int) -> Op:
    if not 0 <= v < len(model.graph.ops):
        raise PlanError(f"step {step} runs op index {v}, which the graph does not have")
    return model.graph.ops[v]


def _at(step: int, op: Op) -> str:
    return f"op {quoted(op.name)} runs at step {step},"


class _Instances:
    """The instances that are there while a plan is replayed."""

    def __init__(self, model: RecomputationModel) -> None:
        self._model = model
        storages = model.graph.storages
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._edits: list[set[int]] = [set() for _ in storages]
        self._done: list[Instance] = []
        for s, storage in enumerate(storages):
            if storage.creator is None and (
                storage.users or storage.is_output or storage.is_pinned
            ):
                self._first[s] = self._last[s] = -1

    def run(self, step: int, v: int) -> None:
        model = self._model
        op = model.graph.ops[v]
        made = {e for s in op.touches for e in self._edits[s]}
        for e in model.needed_edits[v]:
            if e not in made:
                raise PlanError(f"{_at(step, op)} before {self._named(e)} on the newest instance")
        for e in model.forbidden_edits[v]:
            if e in made:
                raise PlanError(f"{_at(step, op)} after {self._named(e)} on the newest instance")
        for s in op.touches:
            self._last[s] = step
        for s in op.creates:
            self._retire(s)
            self._first[s] = self._last[s] = step
            self._edits[s] = set()
        for e in model.makes_edits[v]:
            self._edits[model.edits[e].storage].add(e)

    def finish(self, end: int) -> tuple[Instance, ...]:
        for s, storage in enumerate(self._model.graph.storages):
            if storage.is_output:
                for e in self._model.final_edits[s]:
                    if e not in self._edits[s]:
                        raise PlanError(
                            f"output {quoted(storage.name)} ends without {self._named(e)}"
                        )
            if s in self._first and (storage.is_output or storage.is_pinned):
                self._last[s] = end
            self._retire(s)
        return tuple(sorted(self._done, key=lambda i: (i.first_step, i.storage)))

    def _retire(self, s: int) -> None:
        if s in self._first:
            self._done.append(Instance(s, self._first.pop(s), self._last.pop(s)))

    def _named(self, e: int) -> str:
        edit = self._model.edits[e]
        verb = "overwrites" if edit.overwrites else "takes its view of"
        names = self._model.graph
        op, storage = names.ops[edit.op].name, names.storages[edit.storage].name
        return f"op {quoted(op)} {verb} {quoted(storage)}"


def _step_bytes(
    model: RecomputationModel, runs: Sequence[int], lives: Sequence[Instance]
) -> tuple[int, ...]:
    storages = model.graph.storages
    change = [0] * (len(runs) + 2)
    last_uses: list[set[int]] = [set() for _ in runs]
    for instance in lives:
        size = storages[instance.storage].size_bytes
        change[max(instance.first_step, 0)] += size
        # A graph input that nobody reads is live throughout, as outputs are.
        end = instance.last_step
        change[end + 1 if end < len(runs) else len(runs) + 1] -= size
        if end < len(runs) and instance.first_step < end:
            last_uses[end].add(instance.storage)
    found = []
    live = 0
    for step, v in enumerate(runs):
        live += change[step]
        op = model.graph.ops[v]
        found.append(live + op.workspace_bytes - _saving(model, op, last_uses[step]))
    return tuple(found)


def _saving(model: RecomputationModel, op: Op, freed: set[int]) -> int:
    storages = model.graph.storages
    return max(
        sum(
            min(storages[pair.output].size_bytes, storages[pair.input].size_bytes)
            for pair in mode
            if pair.input in freed
        )
        for mode in modes(op.in_place)
    )
