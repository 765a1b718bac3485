"""Names and listing order forgotten: a hash of a graph and canonical positions of its ops and
storages.

Colour refinement (one-dimensional Weisfeiler-Leman) on ops and storages. The hash describes the
stable colouring, which renaming and relisting cannot change; equal hashes are candidates for being
the same graph, never proof. Positions come from splitting the remaining ties one by one, which is
canonical up to automorphism wherever refinement tells apart what is different; where it does not, a
stored order mapped by position may be wrong for the caller's graph, so whoever maps one checks it
there (design, section 4).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Signature = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class CanonicalInput:
    """What decides a graph's schedules, by op and storage index.

    Attributes:
        storage_bytes: size per storage.
        storage_flags: per storage, +1 for a graph output, +2 for a pinned input.
        storage_creator: creating op per storage, -1 for a graph input.
        storage_users: per storage the ops that read, view or overwrite it, without the creator,
            ascending.
        op_predecessors: per op, ascending.
        op_workspace_bytes: per op.
        op_in_place: per op its in-place pairs that can ever apply, as (output storage, input
            storage), ascending.
    """

    storage_bytes: Sequence[int]
    storage_flags: Sequence[int]
    storage_creator: Sequence[int]
    storage_users: Sequence[Sequence[int]]
    op_predecessors: Sequence[Sequence[int]]
    op_workspace_bytes: Sequence[int]
    op_in_place: Sequence[Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class CanonicalForm:
    """Attributes: graph_hash: "sha256:" and 64 hexadecimal digits.

    op_at, storage_at: the op or storage index at each canonical position.
    """

    graph_hash: str
    op_at: tuple[int, ...]
    storage_at: tuple[int, ...]

    @cached_property
    def op_position(self) -> tuple[int, ...]:
        """The canonical position of each op index."""
        return _inverse(self.op_at)

    @cached_property
    def storage_position(self) -> tuple[int, ...]:
        """The canonical position of each storage index."""
        return _inverse(self.storage_at)


def canonical_form(graph: CanonicalInput) -> CanonicalForm:
    """The hash and the canonical positions. Nearly linear for real graphs.

    Storages that can never be live (graph inputs that nobody uses or keeps) do not influence the
    hash.
    """
    colouring = _Colouring(graph)
    colouring.refine()
    graph_hash = colouring.digest()
    colouring.split_ties()
    op_count = len(graph.op_predecessors)
    nodes = colouring.nodes_by_colour()
    return CanonicalForm(
        graph_hash=graph_hash,
        op_at=tuple(node for node in nodes if node < op_count),
        storage_at=tuple(node - op_count for node in nodes if node >= op_count),
    )


def _sorted(items: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(items))


def _inverse(places: Sequence[int]) -> tuple[int, ...]:
    inverse = [0] * len(places)
    for position, index in enumerate(places):
        inverse[index] = position
    return tuple(inverse)


class _Colouring:
    """Nodes are ops, then storages. A colour is the place of its class's first member in the sorted
    list of all nodes.
    """

    def __init__(self, graph: CanonicalInput) -> None:
        self._graph = graph
        self._op_count = len(graph.op_predecessors)
        self._successors: list[list[int]] = [[] for _ in range(self._op_count)]
        for op, predecessors in enumerate(graph.op_predecessors):
            for predecessor in predecessors:
                self._successors[predecessor].append(op)
        self._touches: list[list[int]] = [[] for _ in range(self._op_count)]
        self._creates: list[list[int]] = [[] for _ in range(self._op_count)]
        for storage, users in enumerate(graph.storage_users):
            for user in users:
                self._touches[user].append(self._op_count + storage)
            if graph.storage_creator[storage] >= 0:
                self._creates[graph.storage_creator[storage]].append(self._op_count + storage)
        self._pairs_of: dict[int, list[tuple[int, int, int, int]]] = {}
        for op, pairs in enumerate(graph.op_in_place):
            for output, source in pairs:
                for role, node in (
                    (0, op),
                    (1, self._op_count + output),
                    (2, self._op_count + source),
                ):
                    entry = (role, op, self._op_count + output, self._op_count + source)
                    self._pairs_of.setdefault(node, []).append(entry)
        node_count = self._op_count + len(graph.storage_bytes)
        self._colour = [0] * node_count
        self._members: dict[int, dict[int, None]] = {}
        self._first = self._first_signatures()
        groups: dict[Signature, list[int]] = {}
        for node, signature in enumerate(self._first):
            groups.setdefault(signature, []).append(node)
        if groups:
            self._members[0] = dict.fromkeys(range(node_count))
            self._split(0, groups, None)
        self._changed: list[int] = list(range(node_count))

    def _first_signatures(self) -> list[Signature]:
        graph = self._graph
        depth, height = self._depths(graph.op_predecessors), self._heights()
        signatures: list[Signature] = [
            (
                0,
                depth[op],
                height[op],
                graph.op_workspace_bytes[op],
                len(self._touches[op]),
                len(self._creates[op]),
            )
            for op in range(self._op_count)
        ]
        for storage, users in enumerate(graph.storage_users):
            creator = graph.storage_creator[storage]
            flags = graph.storage_flags[storage]
            if creator < 0 and not users and not flags:
                signatures.append((2,))
                continue
            first = (depth[creator], height[creator]) if creator >= 0 else (-1, -1)
            signatures.append((1, *first, flags, graph.storage_bytes[storage], len(users)))
        return signatures

    def _order(self) -> Iterable[int]:
        """The ops, predecessors first, whatever the listing."""
        waiting = [len(predecessors) for predecessors in self._graph.op_predecessors]
        ready = [op for op, count in enumerate(waiting) if count == 0]
        for op in ready:
            for successor in self._successors[op]:
                waiting[successor] -= 1
                if waiting[successor] == 0:
                    ready.append(successor)
        return ready

    def _depths(self, predecessors: Sequence[Sequence[int]]) -> list[int]:
        depth = [0] * self._op_count
        for op in self._order():
            depth[op] = max((depth[p] + 1 for p in predecessors[op]), default=0)
        return depth

    def _heights(self) -> list[int]:
        height = [0] * self._op_count
        for op in reversed(list(self._order())):
            height[op] = max((height[s] + 1 for s in self._successors[op]), default=0)
        return height

    def refine(self) -> None:
        """Splits classes until all members of a class look the same.

        Only neighbours of changes are looked at again, so the work is that of the changes.
        """
        while self._changed:
            dirty: dict[int, dict[int, None]] = {}
            for node in self._changed:
                for neighbour in self._neighbours(node):
                    colour = self._colour[neighbour]
                    if len(self._members[colour]) > 1:
                        dirty.setdefault(colour, {})[neighbour] = None
            # All signatures of a round are taken before any colour changes: the result cannot
            # depend on the listing.
            signatures = {node: self._signature(node) for nodes in dirty.values() for node in nodes}
            kept = {colour: self._kept_signature(colour, dirty[colour]) for colour in dirty}
            changed: list[int] = []
            for colour in sorted(dirty):
                groups: dict[Signature, list[int]] = {}
                for node in dirty[colour]:
                    groups.setdefault(signatures[node], []).append(node)
                changed += self._split(colour, groups, kept[colour])
            self._changed = changed

    def _kept_signature(self, colour: int, dirty: dict[int, None]) -> Signature | None:
        """What the members look like that see no change: they all look the same."""
        members = self._members[colour]
        if len(dirty) == len(members):
            return None
        return self._signature(next(node for node in members if node not in dirty))

    def _split(
        self, colour: int, groups: dict[Signature, list[int]], kept: Signature | None
    ) -> list[int]:
        """Gives each group of a class a colour of its own; returns the nodes whose colour changed.

        One group keeps the colour and the front of the class's places: those that look as `kept`
        (with all members that are in no group), or the first by signature. The others follow.
        """
        members = self._members[colour]
        ordered = sorted(groups)
        if kept is None:
            kept = ordered[0]
        changed: list[int] = []
        leaving = [signature for signature in ordered if signature != kept]
        place = colour + len(members) - sum(len(groups[signature]) for signature in leaving)
        for signature in leaving:
            group = groups[signature]
            self._members[place] = dict.fromkeys(group)
            for node in group:
                del members[node]
                self._colour[node] = place
            changed += group
            place += len(group)
        return changed

    def _neighbours(self, node: int) -> Iterable[int]:
        if node < self._op_count:
            yield from self._graph.op_predecessors[node]
            yield from self._successors[node]
            yield from self._touches[node]
            yield from self._creates[node]
        else:
            storage = node - self._op_count
            yield from self._graph.storage_users[storage]
            if self._graph.storage_creator[storage] >= 0:
                yield self._graph.storage_creator[storage]
        for _, op, output, source in self._pairs_of.get(node, ()):
            yield from (op, output, source)

    def _signature(self, node: int) -> Signature:
        colour = self._colour
        pairs = _sorted(
            (role, colour[op], colour[output], colour[source])
            for role, op, output, source in self._pairs_of.get(node, ())
        )
        if node < self._op_count:
            return (
                _sorted([colour[p] for p in self._graph.op_predecessors[node]]),
                _sorted([colour[s] for s in self._successors[node]]),
                _sorted([colour[s] for s in self._touches[node]]),
                _sorted([colour[s] for s in self._creates[node]]),
                pairs,
            )
        storage = node - self._op_count
        creator = self._graph.storage_creator[storage]
        users = _sorted([colour[user] for user in self._graph.storage_users[storage]])
        return (colour[creator] if creator >= 0 else -1, users, pairs)

    def digest(self) -> str:
        """Describes every class of the stable colouring: its size, its members' own values and
        their neighbours' colours.
        """
        first = self._first
        description = hashlib.sha256()
        for colour in sorted(self._members):
            node = next(iter(self._members[colour]))
            if first[node] != (2,):
                entry = (colour, len(self._members[colour]), first[node], self._signature(node))
                description.update(repr(entry).encode())
        return f"sha256:{description.hexdigest()}"

    def split_ties(self) -> None:
        """Singles out one member of each class that is left, and refines, until every node has a
        colour of its own.
        """
        for colour in range(len(self._colour)):
            while len(self._members[colour]) > 1:
                last = colour + len(self._members[colour]) - 1
                node, _ = self._members[colour].popitem()
                self._members[last] = {node: None}
                self._colour[node] = last
                # What its neighbours do not show, nothing does.
                self._changed = [node]
                self.refine()

    def nodes_by_colour(self) -> list[int]:
        """All nodes in canonical order; every class has one member."""
        return [next(iter(self._members[colour])) for colour in range(len(self._colour))]
