"""Is the given order one? A dependency that points backwards is on a cycle or wrongly listed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lowtide.aliases import Aliases
from lowtide.wire_errors import ProblemList, pointer_to, quoted, quoted_cycle

if TYPE_CHECKING:
    from lowtide.wire import GraphFields


def check_order(
    graph: GraphFields,
    aliases: Aliases,
    op_index_of: dict[str, int],
    suspects: Sequence[int],
    problems: ProblemList,
) -> None:
    """Adds a problem per tangle of cycles, and one per dependency on an op listed later.

    `suspects` (ascending) holds every op that may depend on itself or on one listed later.
    Hazards of `mutates` follow the listing and never point backwards. Linear time, no recursion.
    """
    backward = [
        dependency
        for dependency in _dependencies(graph, aliases, op_index_of, suspects)
        if dependency.maker >= dependency.op
    ]
    if not backward:
        return
    predecessors: list[list[int]] = [[] for _ in graph.ops]
    for dependency in _dependencies(graph, aliases, op_index_of, range(len(graph.ops))):
        predecessors[dependency.op].append(dependency.maker)
    component = _strong_components(predecessors)
    reported: set[int] = set()
    for dependency in backward:
        op, maker = graph.ops[dependency.op], graph.ops[dependency.maker]
        home = component[dependency.op]
        if component[dependency.maker] != home:
            message = (
                f"op {quoted(op.name)} is listed before op {quoted(maker.name)}, which it "
                "depends on; list the ops in an order in which they can run"
            )
            problems.add("not_an_order", message, dependency.pointer, op.name)
        elif home not in reported:
            reported.add(home)
            cycle = _cycle_through(dependency, predecessors, component)
            message = _cycle_message([graph.ops[member].name for member in cycle])
            problems.add("cycle", message, dependency.pointer, op.name)


class _Dependency(NamedTuple):
    """`maker` has to run before `op`, because of entry `position` of the op's list `field`."""

    op: int
    maker: int
    field: str
    position: int

    @property
    def pointer(self) -> str:
        return pointer_to("ops", self.op, self.field, self.position)


def _dependencies(
    graph: GraphFields, aliases: Aliases, op_index_of: dict[str, int], ops: Iterable[int]
) -> Iterator[_Dependency]:
    index_of, base, maker = aliases.index_of, aliases.base, aliases.maker
    for v in ops:
        op = graph.ops[v]
        for position, name in enumerate(op.inputs):
            index = index_of.get(name)
            if index is not None and maker[index] >= 0:
                yield _Dependency(v, maker[index], "inputs", position)
        for position, name in enumerate(op.outputs):
            index = index_of.get(name)
            parent = None if index is None else base[index]
            # An op may make a storage and a view of it at once.
            if parent is not None and maker[parent] >= 0 and maker[parent] != v:
                yield _Dependency(v, maker[parent], "outputs", position)
        for position, name in enumerate(op.after):
            other = op_index_of.get(name)
            if other is not None and other >= 0:
                yield _Dependency(v, other, "after", position)


def _strong_components(predecessors: Sequence[Sequence[int]]) -> list[int]:
    """The strongly connected component of every op, as a number (Tarjan 1972, own stack)."""
    unseen = -1
    number = [unseen] * len(predecessors)
    low = [0] * len(predecessors)
    component = [unseen] * len(predecessors)
    open_ops: list[int] = []
    count = 0
    for start in range(len(predecessors)):
        if number[start] != unseen:
            continue
        visits = [(start, iter(predecessors[start]))]
        number[start] = low[start] = count
        count += 1
        open_ops.append(start)
        while visits:
            op, rest = visits[-1]
            before = next(rest, None)
            if before is None:
                visits.pop()
                if visits:
                    parent = visits[-1][0]
                    low[parent] = min(low[parent], low[op])
                if low[op] == number[op]:
                    member = unseen
                    while member != op:
                        member = open_ops.pop()
                        component[member] = op
            elif number[before] == unseen:
                number[before] = low[before] = count
                count += 1
                open_ops.append(before)
                visits.append((before, iter(predecessors[before])))
            elif component[before] == unseen:
                low[op] = min(low[op], number[before])
    return component


def _cycle_through(
    dependency: _Dependency, predecessors: Sequence[Sequence[int]], component: Sequence[int]
) -> list[int]:
    """A shortest cycle through a dependency; each op on it runs before the next."""
    home = component[dependency.op]
    next_on_cycle: dict[int, int] = {dependency.maker: dependency.op}
    waiting = deque([dependency.maker])
    while dependency.op not in next_on_cycle:
        op = waiting.popleft()
        for before in predecessors[op]:
            if component[before] == home and before not in next_on_cycle:
                next_on_cycle[before] = op
                waiting.append(before)
    cycle = [dependency.op]
    while cycle[-1] != dependency.maker:
        cycle.append(next_on_cycle[cycle[-1]])
    return cycle


def _cycle_message(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"op {quoted(names[0])} depends on itself; remove that dependency"
    return (
        f"ops depend on each other in a cycle: {quoted_cycle(names)} (each runs before the next); "
        "remove one dependency"
    )
