"""Why nothing better exists, in words: the witness of a certificate, told about the caller's graph.

The text is what the certificate says; whether it holds is for the checker to decide (`lowtide
verify`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lowtide.certificate import END_OF_PROGRAM

from lowtide_client.wording import counted, exact, percentage, shown_name

if TYPE_CHECKING:
    from lowtide.canonical import CanonicalForm
    from lowtide.certificate import Certificate, Exit, SearchWitness, TrapWitness
    from lowtide.graph import Graph, Op

    Limit = str

_NAMED_OPS = 4
_NAMED_STORAGES = 6
_NAME_CHARACTERS = 60

_LIMITS = {
    "time": (
        "The time limit struck first. Give the search more time (`--time-limit`, "
        "`time_limit_seconds`) to close the gap."
    ),
    "states": (
        "The search reached the number of states it may hold in memory, so more time alone does "
        "not help; `lowtide.schedule.Limits(max_states=...)` allows more."
    ),
    "cancelled": "The search was cancelled. Let it run on to close the gap.",
}


class MisfitError(ValueError):
    """The certificate is not one for this graph."""


def explain(
    graph: Graph, form: CanonicalForm, certificate: Certificate, limit: Limit | None
) -> str:
    """What is proved about the best order of a graph, and how, as plain text in paragraphs.

    Args:
        form: the graph's canonical form, whose positions the certificate uses.
        limit: what stopped the search, if anything did.

    Raises:
        MisfitError: the certificate names another graph, or ops and storages this one does not
            have.
    """
    if certificate.graph_hash != form.graph_hash:
        raise MisfitError("the certificate is for another graph")
    if not graph.ops:
        return "There is no op to run, so nothing is ever held."
    try:
        proof = _Wording(graph, form, certificate.lower_bound_bytes).proof(certificate)
    except IndexError:
        raise MisfitError(
            "the certificate names ops or storages that the graph does not have"
        ) from None
    bound = certificate.lower_bound_bytes
    if certificate.status == "OPTIMAL":
        return f"No order of these ops peaks below {exact(bound)}. {proof}"
    gap = certificate.peak_bytes - bound
    if certificate.peak_bytes == bound:
        head = f"The order peaks at {exact(bound)}, but that no order does better is not proved."
    else:
        head = (
            f"Not proved to be the best. No order peaks below {exact(bound)}, this one peaks at "
            f"{exact(certificate.peak_bytes)}: at most {exact(gap)} "
            f"({percentage(gap, certificate.peak_bytes)}) could still be gained."
        )
    advice = "" if limit is None else f"\n\n{_LIMITS[limit]}"
    return f"{head}{advice}\n\nThe bound: {proof}"


class _ExitCost(NamedTuple):
    """What one exit needs: for the op itself, and for what other ops still wait for."""

    needed_bytes: int
    own_bytes: int
    waiting_bytes: int
    op: int


class _Wording:
    """Turns a witness into sentences about one graph."""

    def __init__(self, graph: Graph, form: CanonicalForm, bound: int) -> None:
        self._graph = graph
        self._form = form
        self._bound = bound

    def proof(self, certificate: Certificate) -> str:
        witness = certificate.witness
        if witness.kind == "working-set":
            return self._working_set(_at(self._form.op_at, witness.op))
        if witness.kind == "search":
            return self._search(witness)
        return self._trap(witness)

    def _working_set(self, v: int) -> str:
        op = self._graph.ops[v]
        own = [(s, "reads") for s in op.touches] + [(s, "makes") for s in op.creates]
        own.sort(key=lambda each: -self._graph.storages[each[0]].size_bytes)
        parts = [self._storage(s, verb) for s, verb in own[:_NAMED_STORAGES]]
        if len(own) > _NAMED_STORAGES:
            parts.append(f"{counted(len(own) - _NAMED_STORAGES, 'smaller tensor')}")
        if op.workspace_bytes:
            parts.append(f"{exact(op.workspace_bytes)} of workspace")
        kept = sum(
            storage.size_bytes
            for s, storage in enumerate(self._graph.storages)
            if storage.is_pinned and s not in op.touches
        )
        if kept:
            parts.append(f"{exact(kept)} of graph inputs that are kept throughout")
        what = f": {_listed(parts)}" if parts else ""
        saving = " With what it can save in place already taken off." if op.in_place else ""
        return (
            f"Op {self._named(v)} alone needs {exact(self._bound)} while it runs, wherever it "
            f"stands in the order{what}.{saving}"
        )

    def _trap(self, witness: TrapWitness) -> str:
        trap = [_at(self._form.op_at, position) for position in witness.trap]
        inside = set(trap)
        forward = witness.kind == "trap-forward"
        costs = sorted(self._exit_cost(each, inside, forward=forward) for each in witness.exits)
        ways = len({cost.op for cost in costs})
        if not costs:
            raise MisfitError("the certificate shows a trap without exits")
        if not trap:
            where = (
                "Whatever the order, some op runs first"
                if forward
                else "Whatever the order, some op runs last"
            )
            among = f"there {'is only one' if ways == 1 else f'are {ways:,}'} it can be"
        elif forward:
            where = (
                f"Whatever the order, the program starts in a set of {counted(len(trap), 'op')} "
                f"({self._some(trap)}) and at some point runs its first op outside that set"
            )
            among = _choice(ways)
        else:
            where = (
                f"Whatever the order, the program ends inside a set of {counted(len(trap), 'op')} "
                f"({self._some(trap)}), and before that runs its last op outside that set"
            )
            among = _choice(ways)
        return f"{where}; {among}. {self._cheapest(costs[0], ways)}"

    def _cheapest(self, cost: _ExitCost, ways: int) -> str:
        subject = "It" if ways == 1 else f"Even the cheapest, {self._named(cost.op)},"
        name = f" is {self._named(cost.op)} and" if ways == 1 else ""
        waiting = (
            f": {exact(cost.own_bytes)} for what it reads, makes and uses itself, and "
            f"{exact(cost.waiting_bytes)} for tensors that other ops still wait for, whichever ops "
            "ran before"
            if cost.waiting_bytes
            else ", all of it for what it reads, makes and uses itself"
        )
        return f"{subject}{name} needs at least {exact(cost.needed_bytes)} at that moment{waiting}."

    def _search(self, witness: SearchWitness) -> str:
        states = counted(witness.count, "state")
        if witness.states is None:
            kept = "They are too many to list in the certificate; a check repeats the search."
        else:
            dead = sum(state.then == "dead" for state in witness.states)
            kept = f"The certificate lists them; traps close {dead:,} of them."
        return (
            f"A search for an order below {exact(self._bound)} was run until nothing was left. It "
            f"exhausted {states} (a state is a set of ops already run) and found that none leads "
            f"to the end of the program below that. {kept}"
        )

    def _exit_cost(self, exit_: Exit, trap: set[int], *, forward: bool) -> _ExitCost:
        """What the flow of an exit shows (docs/memory-model.md, "The cut for an exit")."""
        v = _at(self._form.op_at, exit_.op)
        saved = sum(
            min(self._storage_bytes(made), self._storage_bytes(taken))
            for made, taken in exit_.in_place
        )
        own = self._touched_bytes(self._graph.ops[v]) - saved
        after_exit = None if forward else _descendants(self._graph, v, trap)
        waiting = 0
        for _, user, amount in exit_.storage_flow:
            if user == END_OF_PROGRAM:
                waiting += amount
                continue
            op = _at(self._form.op_at, user)
            if op not in trap if after_exit is None else op in after_exit:
                waiting += amount
        return _ExitCost(own + waiting, own, waiting, v)

    def _touched_bytes(self, op: Op) -> int:
        """The op's working set before any saving: pinned inputs it leaves alone are part of it."""
        touched = {*op.touches, *op.creates}
        return op.workspace_bytes + sum(
            storage.size_bytes
            for s, storage in enumerate(self._graph.storages)
            if s in touched or storage.is_pinned
        )

    def _storage_bytes(self, position: int) -> int:
        return self._graph.storages[_at(self._form.storage_at, position)].size_bytes

    def _storage(self, s: int, verb: str) -> str:
        storage = self._graph.storages[s]
        return f"{_quoted(storage.name)} ({exact(storage.size_bytes)}, which it {verb})"

    def _named(self, v: int) -> str:
        return _quoted(self._graph.ops[v].name)

    def _some(self, ops: Iterable[int]) -> str:
        members = sorted(ops)
        shown = [self._named(v) for v in members[:_NAMED_OPS]]
        if len(members) > _NAMED_OPS:
            shown.append(f"{len(members) - _NAMED_OPS:,} more")
        return _listed(shown)


def _quoted(name: str) -> str:
    return f'"{shown_name(name, _NAME_CHARACTERS)}"'


def _choice(ways: int) -> str:
    return "that can only be one op" if ways == 1 else f"that can be one of {ways:,} ops"


def _listed(parts: Sequence[str]) -> str:
    if len(parts) <= 1:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _at(index_at: Sequence[int], position: int) -> int:
    if position < 0:
        raise IndexError(position)
    return index_at[position]


def _descendants(graph: Graph, v: int, inside: set[int]) -> set[int]:
    """Op v and the ops that can only run after it; all but v lie in the upset `inside`."""
    found = {v}
    # A dependency points to an earlier op of the given order, so one pass finds them all.
    for op in sorted(inside):
        if op > v and not found.isdisjoint(graph.ops[op].predecessors):
            found.add(op)
    return found
