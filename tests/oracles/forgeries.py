"""Witnesses for bounds that are false. A sound checker accepts none.

Unlike a mutation, which damages one place, a forger tries to get everything right but the one thing
that cannot be.
"""

from __future__ import annotations

import random
from typing import Literal

from lowtide.certificate import (
    END_OF_PROGRAM,
    Exit,
    FamilyState,
    SearchWitness,
    TrapWitness,
    family_digest,
)

from tests.oracles.brute_force import members
from tests.oracles.certificates import CertificateMaker

_Arc = tuple[int, int, int]


class Forger:
    """Forges witnesses for one graph."""

    def __init__(self, maker: CertificateMaker, rng: random.Random) -> None:
        self._maker = maker
        self._oracle = maker.oracle
        self._rng = rng

    # Traps.

    def trap(self) -> tuple[TrapWitness, int]:
        """A real trap with flows that add up to more than there can be; and the false bound."""
        forward = self._rng.random() < 0.5
        trap = self._maker.any_trap(forward)
        bound = self._maker.trap_bound(trap, forward) + self._rng.choice((1, 1, 5))
        witness = self._maker.trap_witness(trap, forward, bound)
        exits = tuple(self._inflated(claim, witness, bound) for claim in witness.exits)
        return witness.model_copy(update={"exits": exits}), bound

    def _inflated(self, claim: Exit, witness: TrapWitness, bound: int) -> Exit:
        names = self._maker.names
        v = names.op_position.index(claim.op)
        mode = next(
            mode
            for mode in self._oracle.modes(v)
            if {(names.storage_position[y], names.storage_position[x]) for y, x in mode}
            == set(claim.in_place)
        )
        working_set = self._oracle.working_set_in_mode(v, mode)
        value = self._value(claim, witness)
        missing = bound - working_set - value
        if missing <= 0:
            return claim
        storage_flow, order_flow = list(claim.storage_flow), list(claim.order_flow)
        for _ in range(self._rng.randint(1, 2)):
            self._add_walk(witness, claim.op, missing, storage_flow, order_flow)
        if storage_flow and self._rng.random() < 0.2:
            # What is too much in one place is taken back in another.
            storage_flow.append((*self._rng.choice(storage_flow)[:2], -missing))
        return claim.model_copy(
            update={"storage_flow": tuple(storage_flow), "order_flow": tuple(order_flow)}
        )

    def _value(self, claim: Exit, witness: TrapWitness) -> int:
        """What reaches the sink."""
        free = self._free(witness, claim.op)
        return sum(
            amount
            for _, user, amount in claim.storage_flow
            if user == END_OF_PROGRAM or user not in free
        )

    def _free(self, witness: TrapWitness, exit_position: int) -> set[int]:
        position = self._maker.names.op_position
        v = position.index(exit_position)
        trap = {position.index(p) for p in witness.trap}
        if witness.kind == "trap-forward":
            free = trap - set(members(self._oracle.ancestors(v)))
        else:
            free = {u for u in trap if not self._oracle.ancestors(u) >> v & 1}
        return {position[u] for u in free}

    def _has_run(self, witness: TrapWitness, exit_position: int) -> set[int]:
        position = self._maker.names.op_position
        v = position.index(exit_position)
        if witness.kind == "trap-forward":
            return {position[u] for u in members(self._oracle.ancestors(v))}
        return set(position) - set(witness.trap) - {exit_position}

    def _add_walk(
        self,
        witness: TrapWitness,
        exit_position: int,
        amount: int,
        storage_flow: list[_Arc],
        order_flow: list[_Arc],
    ) -> None:
        """Some bytes from a storage to the sink, mostly along real arcs, whatever room there is."""
        names, oracle, rng = self._maker.names, self._oracle, self._rng
        free = self._free(witness, exit_position)
        has_run = self._has_run(witness, exit_position)
        v = names.op_position.index(exit_position)
        idle = [
            b
            for b, block in enumerate(oracle.blocks)
            if b not in oracle.touches[v]
            and not block.is_pinned
            and (block.creator is None or names.op_position[block.creator] in has_run)
        ]
        anything = range(len(oracle.blocks))
        if not anything:
            return
        block = rng.choice(idle if idle and rng.random() < 0.9 else anything)
        for _ in range(10):
            users = {names.op_position[u] for u in members(oracle.blocks[block].users)} - has_run
            if oracle.blocks[block].is_output:
                users.add(END_OF_PROGRAM)
            if not users or rng.random() < 0.1:
                users = {rng.choice((END_OF_PROGRAM, *names.op_position))}
            user = rng.choice(sorted(users))
            storage_flow.append((names.storage_position[block], user, amount))
            while user in free:
                u = names.op_position.index(user)
                if oracle.creates[u] and rng.random() < 0.7:
                    block = rng.choice(sorted(oracle.creates[u]))
                    break
                before = [p for p in names.predecessors[u] if names.op_position[p] in free]
                if not before:
                    return
                user = names.op_position[rng.choice(before)]
                order_flow.append((names.op_position[u], user, amount))
            else:
                return

    # Families.

    def family(self) -> tuple[SearchWitness, int]:
        """The states of a search that would have found an order but for lies; and the threshold."""
        threshold = self._oracle.optimal_peak() + self._rng.choice((0, 0, 1, 10))
        states = tuple(_FamilyForger(self._maker, threshold, self._rng).states())
        witness = SearchWitness(count=len(states), digest=family_digest(states), states=states)
        return witness, threshold


class _FamilyForger:
    """Closed as far as it goes; where the search would come to the end, something is made up."""

    def __init__(self, maker: CertificateMaker, threshold: int, rng: random.Random) -> None:
        self._oracle = maker.oracle
        self._position = maker.names.op_position
        self._threshold = threshold
        self._rng = rng
        self._number: dict[int, int] = {}
        self._found: list[tuple[int, int | None, list[int]]] = []

    def states(self) -> list[FamilyState]:
        self._visit(0, None, [])
        listed = []
        index = 0
        while index < len(self._found):
            done, parent, run = self._found[index]
            then, then_run = self._continuation(done, index)
            listed.append(
                FamilyState(
                    parent=parent,
                    run=tuple(self._position[v] for v in run),
                    then=then,
                    then_run=tuple(self._position[v] for v in then_run),
                )
            )
            index += 1
        return listed

    def _visit(self, done: int, parent: int | None, run: list[int]) -> None:
        if done != self._oracle.everything and done not in self._number:
            self._number[done] = len(self._found)
            self._found.append((done, parent, run))

    def _continuation(
        self, done: int, index: int
    ) -> tuple[Literal["branch", "commit", "dead"], list[int]]:
        oracle, rng = self._oracle, self._rng
        near_the_end = self._leads_to_end(done)
        if near_the_end or rng.random() < 0.1:
            lie = rng.choice(("dead", "commit", "branch"))
            if lie == "dead":
                return "dead", self._run_up(done, rng.choice(oracle.downsets(done)[:-1]))
            if lie == "commit" and self._number:
                above = [s for s in self._number if s & done == done and s != done]
                if above:
                    return "commit", self._run_up(done, rng.choice(above))
                target = rng.choice(oracle.downsets(done)[:-1])
                run = self._run_up(done, target)
                self._visit(target, index, run)
                return "commit", run
        for v in oracle.ready(done):
            if oracle.step_cost(done, v) <= self._threshold:
                self._visit(done | 1 << v, index, [v])
        return "branch", []

    def _leads_to_end(self, done: int) -> bool:
        return bool(self._oracle.best_completion_peak(done) <= self._threshold)

    def _run_up(self, done: int, upper: int) -> list[int]:
        run = []
        while done != upper:
            v = self._rng.choice([u for u in self._oracle.ready(done) if upper >> u & 1])
            run.append(v)
            done |= 1 << v
        return run
