"""The C++ kernel (solvers/kernel/bindings.cpp). Every call releases the interpreter lock while it
works.

`cancel` may be set from any thread; `seconds` is the time left. `Stop` tells which of them ended a
call early.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

class CancelToken:
    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

class Stop(enum.Enum):
    NONE = 0
    TIME = 1
    CANCELLED = 2

class GreedyRule(enum.Enum):
    GIVEN = 0
    LEAST_GROWTH = 1
    LEAST_STEP = 2
    NEWEST = 3

class SearchStatus(enum.Enum):
    FOUND = 0
    EXHAUSTED = 1
    STATE_LIMIT = 2

class Continuation(enum.Enum):
    BRANCH = 0
    COMMIT = 1
    DEAD = 2

class FamilyState:
    @property
    def parent(self) -> int: ...
    @property
    def run(self) -> list[int]: ...
    @property
    def then(self) -> Continuation: ...
    @property
    def then_run(self) -> list[int]: ...

class SearchResult:
    @property
    def status(self) -> SearchStatus: ...
    @property
    def order(self) -> list[int]: ...
    @property
    def lower_bound(self) -> int: ...
    @property
    def family(self) -> list[FamilyState]: ...
    @property
    def states(self) -> int: ...

class Problem:
    @staticmethod
    def make(
        storage_bytes: Sequence[int],
        storage_creator: Sequence[int],
        storage_is_output: Sequence[int],
        storage_is_pinned: Sequence[int],
        user_offsets: Sequence[int],
        users: Sequence[int],
        predecessor_offsets: Sequence[int],
        predecessors: Sequence[int],
        op_workspace_bytes: Sequence[int],
        ops_with_modes: Sequence[int],
        modes: Sequence[Sequence[Sequence[tuple[int, int, int]]]],
    ) -> Problem: ...
    @property
    def op_count(self) -> int: ...
    def working_set(self, op: int) -> int: ...
    def peak(self, order: Sequence[int]) -> int: ...
    def greedy_order(
        self, rule: GreedyRule, floor: int, cancel: CancelToken | None, seconds: float
    ) -> tuple[Stop, list[int]]: ...
    def greedy_order_from_the_end(
        self, cancel: CancelToken | None, seconds: float
    ) -> tuple[Stop, list[int]]: ...
    def beam_order(
        self, width: int, cutoff: int, cancel: CancelToken | None, seconds: float
    ) -> tuple[Stop, list[int]]: ...
    def best_trap(
        self, forward: bool, floor: int, enough: int, cancel: CancelToken | None, seconds: float
    ) -> tuple[Stop, int, list[int]]: ...
    def trap_at(
        self, forward: bool, threshold: int, cancel: CancelToken | None, seconds: float
    ) -> tuple[Stop, list[int] | None]: ...
    def exit_flows(
        self,
        trap: Sequence[int],
        forward: bool,
        bound: int,
        cancel: CancelToken | None,
        seconds: float,
    ) -> tuple[
        Stop, list[tuple[int, int, list[tuple[int, int, int]], list[tuple[int, int, int]]]]
    ]: ...
    def search(
        self,
        threshold: int,
        max_states: int,
        max_bytes: int,
        cancel: CancelToken | None,
        seconds: float,
    ) -> tuple[Stop, SearchResult]: ...

class RecomputationGoal(enum.Enum):
    CHEAPEST = 0
    ANY = 1
    ON_DEMAND = 2

class RecomputationStatus(enum.Enum):
    FOUND = 0
    EXHAUSTED = 1
    STATE_LIMIT = 2

class RecomputationResult:
    @property
    def status(self) -> RecomputationStatus: ...
    @property
    def runs(self) -> list[int]: ...
    @property
    def extra_cost(self) -> int: ...
    @property
    def is_least(self) -> bool: ...
    @property
    def least_extra_cost(self) -> int: ...
    @property
    def states(self) -> int: ...

class RecomputationProblem:
    def __init__(self, edit_count: int) -> None: ...
    def add_op(
        self,
        cost: int,
        cap: int,
        workspace_bytes: int,
        predecessors: Sequence[int],
        creates: Sequence[int],
        touches: Sequence[int],
        needed_edits: Sequence[int],
        forbidden_edits: Sequence[int],
        makes_edits: Sequence[int],
        modes: Sequence[Sequence[tuple[int, int, int]]],
    ) -> None: ...
    def add_storage(
        self,
        size_bytes: int,
        creator: int,
        is_output: bool,
        is_pinned: bool,
        users: Sequence[int],
        edits: Sequence[int],
        final_edits: Sequence[int],
    ) -> None: ...
    def search(
        self,
        budget_bytes: int,
        max_extra_cost: int | None,
        goal: RecomputationGoal,
        keeps_given_order: bool,
        max_states: int,
        cancel: CancelToken | None,
        seconds: float,
    ) -> tuple[Stop, RecomputationResult]: ...
