"""PyTorch Inductor's three orderings, called from the installed torch on our graphs.

`torch._inductor.memory` orders scheduler nodes by what they allocate and what they are the last to
read. Only four things of a node and two of a buffer are looked at, so a graph is handed over as
exactly those, with torch's own planning records inside; the predecessors, the orders and the choice
among them are torch's.

A storage is one buffer. Dependencies that no storage carries (`after`, hazards, ops that only make
views) become empty buffers that count for the order and not for lifetimes, as Inductor's fake weak
dependencies do. Pinned inputs are inputs that cannot be freed, which Inductor leaves out. Workspace
and in-place are unknown to it.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lowtide.graph import Graph

METHODS = ("lpmf", "bfs", "dfs")


@dataclass(frozen=True, slots=True)
class InductorAnswer:
    """Inductor's orders for one graph.

    Attributes:
        orders: op indices per method of METHODS.
        chosen: what Inductor would run: the best of these and the given order, by its estimate.
        seconds: wall time of the three orderings together, without wrapping and estimates.
    """

    orders: dict[str, tuple[int, ...]]
    chosen: tuple[int, ...]
    seconds: float


class _Buffer:
    """What `torch._inductor.memory` looks at in a `SchedulerBuffer`."""

    def __init__(self, name: str, planning: Any) -> None:
        self.name = name
        self.mpi_buffer = planning

    def get_name(self) -> str:
        return self.name


class _Node:
    """What `torch._inductor.memory` looks at in a `BaseSchedulerNode`."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.outputs: list[_Buffer] = []
        self.unmet_dependencies: list[Any] = []
        self.mpi_node: Any = None

    def get_outputs(self) -> list[_Buffer]:
        return self.outputs

    def get_buffer_names(self) -> list[str]:
        return [buffer.name for buffer in self.outputs]


@dataclass(frozen=True, slots=True)
class _Wrapped:
    nodes: list[_Node]
    buffers: dict[str, _Buffer]
    freeable_inputs: dict[str, Any]
    graph_outputs: Any


def inductor_orders(graph: Graph) -> InductorAnswer:
    """Inductor's three orders and the one it would choose.

    Raises:
        ModuleNotFoundError: torch is not installed.
    """
    # By name, so that type checks do not depend on an optional package.
    memory = importlib.import_module("torch._inductor.memory")
    wrapped = _wrap(graph, memory)
    sorts: dict[str, Callable[[], list[_Node]]] = {
        "lpmf": lambda: memory.topological_sort_lpmf(
            wrapped.nodes, wrapped.freeable_inputs, wrapped.buffers, wrapped.graph_outputs
        ),
        "bfs": lambda: memory.topological_sort_bfs(wrapped.nodes),
        "dfs": lambda: memory.topological_sort_dfs(wrapped.nodes),
    }
    with _deep_recursion(len(graph.ops)):
        start = time.perf_counter_ns()
        sorted_nodes = {method: sorts[method]() for method in METHODS}
        seconds = (time.perf_counter_ns() - start) / 1e9

    def estimate(nodes: Sequence[_Node]) -> int:
        peak, _ = memory.estimate_peak_memory(nodes, wrapped.freeable_inputs, wrapped.graph_outputs)
        return int(peak)

    chosen = min([wrapped.nodes, *sorted_nodes.values()], key=estimate)
    return InductorAnswer(
        orders={method: _indices(nodes) for method, nodes in sorted_nodes.items()},
        chosen=_indices(chosen),
        seconds=seconds,
    )


def _indices(nodes: Sequence[_Node]) -> tuple[int, ...]:
    return tuple(node.index for node in nodes)


def _wrap(graph: Graph, memory: Any) -> _Wrapped:
    ordered_set = importlib.import_module("torch.utils._ordered_set").OrderedSet
    dependency = importlib.import_module("torch._inductor.dependencies").StarDep
    nodes = [_Node(v) for v in range(len(graph.ops))]
    buffers: dict[str, _Buffer] = {}
    freeable_inputs: dict[str, Any] = {}
    graph_outputs = ordered_set()
    for s, storage in enumerate(graph.storages):
        name = f"storage{s}"
        users = ordered_set(nodes[v] for v in storage.users)
        planning = memory.MemoryPlanningInfoForBuffer(
            size_alloc=0 if storage.creator is None else storage.size_bytes,
            size_free=storage.size_bytes,
            succ_nodes=users,
            succ_nodes_for_ordering=users,
        )
        if storage.is_output:
            graph_outputs.add(name)
        if storage.creator is not None:
            buffers[name] = _Buffer(name, planning)
            nodes[storage.creator].outputs.append(buffers[name])
            for user in storage.users:
                nodes[user].unmet_dependencies.append(dependency(name))
        elif storage.users and not storage.is_pinned:
            freeable_inputs[name] = memory.FreeableInputBuffer(name, planning)
    for v, successors in enumerate(_successors_without_data(graph)):
        if not successors:
            continue
        name = f"after{v}"
        planning = memory.MemoryPlanningInfoForBuffer(
            succ_nodes_for_ordering=ordered_set(nodes[w] for w in successors)
        )
        buffers[name] = _Buffer(name, planning)
        nodes[v].outputs.append(buffers[name])
        for successor in successors:
            nodes[successor].unmet_dependencies.append(dependency(name))
    memory.assign_memory_planning_info_for_scheduler_nodes(nodes, {}, buffers, freeable_inputs)
    return _Wrapped(nodes, buffers, freeable_inputs, graph_outputs)


def _successors_without_data(graph: Graph) -> list[list[int]]:
    """Per op the ops that depend on it without touching anything it creates."""
    successors: list[list[int]] = [[] for _ in graph.ops]
    for v, op in enumerate(graph.ops):
        creators = {graph.storages[s].creator for s in op.touches}
        for predecessor in op.predecessors:
            if predecessor not in creators:
                successors[predecessor].append(v)
    return successors


@contextmanager
def _deep_recursion(op_count: int) -> Iterator[None]:
    """Inductor's depth-first order recurses once per op of a chain."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 1000 + 2 * op_count))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
