"""The ordering ILP of OLLA (Steiner et al., "OLLA: Optimizing the Lifetime and Location of Arrays
to Reduce the Memory Usage of Neural Networks", 2022) on HiGHS, on our memory model without
in-place.

One step per op. A tensor is *created* at one step and *preserved* at later ones; steps range
between the earliest and the latest that the longest dependency paths leave.

- a tensor is preserved only where it was preserved or created one step earlier, and not where it is
  created;
- an op runs at a step only if everything it reads is preserved there; every op runs once;
- a graph output is there at the last step; dependencies without data are tensors of no bytes, kept
  once created;
- at every step, the bytes created and preserved stay within the peak, which is minimised.

OLLA's creation variables of one op's outputs are equal to each other by its constraints; here they
are one variable. Several ops may run at one step if independent of each other, which costs no less
than running them one by one. Tensors are our storages, and a graph input is preserved from the
first step.
"""

from __future__ import annotations

import importlib
import math
import time
from typing import Any

from lowtide.graph import Graph

from benchmarks.peers.answer import Outcome, PeerAnswer


def olla_order(graph: Graph, time_limit_seconds: float) -> PeerAnswer:
    """The order of HiGHS's best solution within the limit, optimal without in-place when it says
    so.

    Raises:
        ModuleNotFoundError: highspy is not installed.
        RuntimeError: HiGHS stopped for another reason than being done or out of time.
    """
    start = time.perf_counter()
    if not graph.ops:
        return PeerAnswer("optimal", (), time.perf_counter() - start)
    model = _OllaModel(graph)
    # By name, so that type checks do not depend on an optional package.
    highspy = importlib.import_module("highspy")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    remaining = start + time_limit_seconds - time.perf_counter()
    if remaining <= 0:
        return PeerAnswer("time limit", None, time.perf_counter() - start)
    solver.setOptionValue("time_limit", remaining)
    solver.passModel(model.program(highspy))
    solver.run()
    outcomes: dict[Any, Outcome] = {
        highspy.HighsModelStatus.kOptimal: "optimal",
        highspy.HighsModelStatus.kTimeLimit: "time limit",
    }
    status = solver.getModelStatus()
    if status not in outcomes:
        raise RuntimeError(f"HiGHS stopped with {solver.modelStatusToString(status)}")
    order = None
    if solver.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        order = model.order(solver.getSolution().col_value)
    return PeerAnswer(outcomes[status], order, time.perf_counter() - start)


class _OllaModel:
    """Columns and rows. Column 0 is the peak, in units of the sizes' greatest common divisor."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._last_step = len(graph.ops)
        self._earliest, self._latest = _windows(graph)
        self._unit = (
            math.gcd(
                *(storage.size_bytes for storage in graph.storages),
                *(op.workspace_bytes for op in graph.ops),
            )
            or 1
        )
        self._column_lower = [float(_largest_working_set(graph) // self._unit)]
        self._column_upper = [math.inf]
        self._row_starts = [0]
        self._row_columns: list[int] = []
        self._row_values: list[float] = []
        self._row_lower: list[float] = []
        self._row_upper: list[float] = []
        self._run = [
            {step: self._add_column() for step in range(self._earliest[v], self._latest[v] + 1)}
            for v in range(len(graph.ops))
        ]
        self._preserved = [self._preserve_columns(s) for s in range(len(graph.storages))]
        for columns in self._run:
            self._add_row(dict.fromkeys(columns.values(), 1), 1, 1)
        for s in range(len(graph.storages)):
            self._add_lifetime(s)
        self._add_reads()
        self._add_order_without_data()
        self._add_memory()

    def program(self, highspy: Any) -> Any:
        """The programme as HiGHS takes it: minimise column 0, all others binary."""
        lp = highspy.HighsLp()
        lp.num_col_ = len(self._column_lower)
        lp.num_row_ = len(self._row_lower)
        lp.col_cost_ = [1.0] + [0.0] * (lp.num_col_ - 1)
        lp.col_lower_ = self._column_lower
        lp.col_upper_ = self._column_upper
        lp.row_lower_ = self._row_lower
        lp.row_upper_ = self._row_upper
        lp.integrality_ = [highspy.HighsVarType.kInteger] * lp.num_col_
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = self._row_starts
        lp.a_matrix_.index_ = self._row_columns
        lp.a_matrix_.value_ = self._row_values
        return lp

    def order(self, column_values: Any) -> tuple[int, ...]:
        """The ops by the step at which a solution runs them."""
        step_of = [
            max((column_values[column], step) for step, column in columns.items())[1]
            for columns in self._run
        ]
        return tuple(sorted(range(len(step_of)), key=lambda v: (step_of[v], v)))

    def _add_column(self, lower: int = 0) -> int:
        self._column_lower.append(lower)
        self._column_upper.append(1)
        return len(self._column_lower) - 1

    def _add_row(self, terms: dict[int, int], lower: float, upper: float) -> None:
        self._row_columns.extend(terms)
        self._row_values.extend(terms.values())
        self._row_starts.append(len(self._row_columns))
        self._row_lower.append(lower)
        self._row_upper.append(upper)

    def _preserve_columns(self, s: int) -> dict[int, int]:
        storage = self._graph.storages[s]
        first = 1 if storage.creator is None else self._earliest[storage.creator] + 1
        last = max((self._latest[v] for v in storage.users), default=0)
        if storage.is_output or storage.is_pinned:
            last = self._last_step
        lower = 1 if storage.is_pinned else 0
        return {step: self._add_column(lower) for step in range(first, last + 1)}

    def _add_lifetime(self, s: int) -> None:
        storage = self._graph.storages[s]
        preserved = self._preserved[s]
        created = {} if storage.creator is None else self._run[storage.creator]
        for step, column in preserved.items():
            if storage.creator is not None or step > 1:
                earlier = [preserved.get(step - 1), created.get(step - 1)]
                terms = {column: 1, **{c: -1 for c in earlier if c is not None}}
                self._add_row(terms, -math.inf, 0)
            if step in created:
                self._add_row({column: 1, created[step]: 1}, -math.inf, 1)
        if storage.is_output:
            at_end = [preserved.get(self._last_step), created.get(self._last_step)]
            self._add_row({c: 1 for c in at_end if c is not None}, 1, 1)

    def _add_reads(self) -> None:
        for v, op in enumerate(self._graph.ops):
            for s in op.touches:
                for step, column in self._run[v].items():
                    self._add_row({column: 1, self._preserved[s][step]: -1}, -math.inf, 0)

    def _add_order_without_data(self) -> None:
        kept: dict[int, dict[int, int]] = {}
        for v, op in enumerate(self._graph.ops):
            creators = {self._graph.storages[s].creator for s in op.touches}
            for predecessor in op.predecessors:
                if predecessor in creators:
                    continue
                if predecessor not in kept:
                    kept[predecessor] = self._kept_columns(predecessor)
                for step, column in self._run[v].items():
                    terms = {column: 1, kept[predecessor][step]: -1}
                    self._add_row(terms, -math.inf, 0)

    def _kept_columns(self, v: int) -> dict[int, int]:
        """Per step, whether op v has run before it: a tensor of no bytes."""
        first = self._earliest[v] + 1
        columns = {step: self._add_column() for step in range(first, self._last_step + 1)}
        for step, column in columns.items():
            earlier = [columns.get(step - 1), self._run[v].get(step - 1)]
            self._add_row({column: 1, **{c: -1 for c in earlier if c is not None}}, 0, 0)
        return columns

    def _add_memory(self) -> None:
        storages = self._graph.storages
        terms_at: list[dict[int, int]] = [{} for _ in range(self._last_step + 1)]
        for s, columns in enumerate(self._preserved):
            for step, column in columns.items():
                if storages[s].size_bytes:
                    terms_at[step][column] = storages[s].size_bytes // self._unit
        for op, columns in zip(self._graph.ops, self._run, strict=True):
            own = op.workspace_bytes + sum(storages[s].size_bytes for s in op.creates)
            for step, column in columns.items():
                if own:
                    terms_at[step][column] = own // self._unit
        for terms in terms_at[1:]:
            if terms:
                self._add_row({**terms, 0: -1}, -math.inf, 0)


def _windows(graph: Graph) -> tuple[list[int], list[int]]:
    """Per op the earliest and the latest step, from the longest paths to and from it."""
    earliest: list[int] = []
    for op in graph.ops:
        earliest.append(1 + max((earliest[p] for p in op.predecessors), default=0))
    latest = [len(graph.ops)] * len(graph.ops)
    for v in reversed(range(len(graph.ops))):
        for predecessor in graph.ops[v].predecessors:
            latest[predecessor] = min(latest[predecessor], latest[v] - 1)
    return earliest, latest


def _largest_working_set(graph: Graph) -> int:
    """OLLA's lower bound: what one op reads and makes."""
    return max(
        op.workspace_bytes + sum(graph.storages[s].size_bytes for s in (*op.touches, *op.creates))
        for op in graph.ops
    )
