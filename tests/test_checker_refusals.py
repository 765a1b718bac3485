"""What the checker refuses, and how it says so: one graph by hand, every reason code."""

from __future__ import annotations

from typing import Any

import pytest
from lowtide.answers import VerifyAnswer
from lowtide.certificate import (
    END_OF_PROGRAM,
    Certificate,
    Exit,
    FamilyState,
    SearchWitness,
    TrapWitness,
    WorkingSetWitness,
    family_digest,
)
from lowtide.checker import check
from lowtide.wire import WireGraph, parse_graph

from tests.oracles.canonical_positions import canonical_positions

# One graph by hand: two branches of different width, joined.
#   x (4) -> wide: a (10), with 5 of workspace -> thin_a: p (1)
#         -> broad: b (8) -> thin_b: q (2); join reads p, q, makes z (3), in place over p or q.
# wide alone takes 19 bytes, and running it first takes no more.


def two_branches() -> dict[str, Any]:
    sizes = {"x": 4, "a": 10, "p": 1, "b": 8, "q": 2, "z": 3}
    return {
        "format": "lowtide.graph/1",
        "tensors": [{"name": name, "bytes": size} for name, size in sizes.items()],
        "ops": [
            {"name": "wide", "inputs": ["x"], "outputs": ["a"], "workspace_bytes": 5},
            {"name": "thin_a", "inputs": ["a"], "outputs": ["p"]},
            {"name": "broad", "inputs": ["x"], "outputs": ["b"]},
            {"name": "thin_b", "inputs": ["b"], "outputs": ["q"]},
            {
                "name": "join",
                "inputs": ["p", "q"],
                "outputs": ["z"],
                "in_place": [["z", "p"], ["z", "q"]],
            },
        ],
        "inputs": ["x"],
        "outputs": ["z"],
    }


OPS = ["wide", "thin_a", "broad", "thin_b", "join"]
STORAGES = ["x", "a", "p", "b", "q", "z"]


class Case:
    """Certificates for `two_branches`, written with names."""

    def __init__(self) -> None:
        self.wire = two_branches()
        self.graph: WireGraph = parse_graph(self.wire)
        self.names = canonical_positions(self.wire)

    def op(self, name: str) -> int:
        return self.names.op_position[OPS.index(name)]

    def ops(self, *names: str) -> tuple[int, ...]:
        return tuple(self.op(name) for name in names)

    def storage(self, name: str) -> int:
        return self.names.storage_position[STORAGES.index(name)]

    def certificate(self, **changes: Any) -> Certificate:
        """Right unless changed."""
        fields: dict[str, Any] = {
            "graph_hash": self.names.graph_hash,
            "status": "OPTIMAL",
            "peak_bytes": 19,
            "lower_bound_bytes": 19,
            "order": self.ops("wide", "thin_a", "broad", "thin_b", "join"),
            "witness": WorkingSetWitness(op=self.op("wide")),
        }
        return Certificate.model_validate({**fields, **changes})

    def check(self, **changes: Any) -> VerifyAnswer:
        return check(self.graph, self.certificate(**changes))

    def trap(self, *names: str, exits: tuple[Exit, ...], forward: bool = True) -> dict[str, Any]:
        """Fields of a certificate with a trap of these ops."""
        trap = self.ops(*names)
        if forward:
            return {"witness": TrapWitness(kind="trap-forward", trap=trap, exits=exits)}
        return {"witness": TrapWitness(kind="trap-reverse", trap=trap, exits=exits)}

    def search(self, *states: FamilyState) -> dict[str, Any]:
        """Fields of a certificate with a family."""
        digest = family_digest(states)
        return {"witness": SearchWitness(count=len(states), digest=digest, states=states)}

    def state(self, parent: int | None, run: str, then: str, then_run: str = "") -> FamilyState:
        fields = {"run": self.ops(*run.split()), "then_run": self.ops(*then_run.split())}
        return FamilyState.model_validate({"parent": parent, "then": then, **fields})


@pytest.fixture(scope="module")
def case() -> Case:
    return Case()


def refusal(answer: VerifyAnswer) -> str:
    """The reason of a refusal, which vouches for nothing."""
    assert not answer.accepted
    assert answer.status is None
    assert answer.peak_bytes is None
    assert answer.lower_bound_bytes is None
    assert answer.reason is not None
    return answer.reason


def test_the_example_by_hand_is_accepted(case: Case) -> None:
    answer = case.check()
    assert answer.accepted
    assert answer.method == "working-set"
    assert answer.detail == (
        'the order peaks at 19 bytes at step 0, op "wide"; no order peaks below 19 bytes'
    )
    broad_first = case.ops("broad", "wide", "thin_b", "thin_a", "join")
    weaker = case.check(order=broad_first, peak_bytes=27, status="FEASIBLE")
    assert weaker.accepted
    assert (weaker.status, weaker.peak_bytes, weaker.lower_bound_bytes) == ("FEASIBLE", 27, 19)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"graph_hash": "sha256:0"}, "hash-mismatch"),
        ({"graph_hash": "\ud800" * 10**6}, "hash-mismatch"),
        ({"peak_bytes": 20, "status": "FEASIBLE"}, "peak-mismatch"),
        ({"peak_bytes": 18, "lower_bound_bytes": 18}, "peak-mismatch"),
        ({"peak_bytes": 10**5000, "status": "FEASIBLE"}, "peak-mismatch"),
        ({"lower_bound_bytes": 20}, "bound-above-peak"),
        ({"lower_bound_bytes": 10**5000}, "bound-above-peak"),
        ({"lower_bound_bytes": 18}, "status-overclaims"),
        ({"status": "FEASIBLE"}, "status-underclaims"),
        ({"lower_bound_bytes": -1, "status": "FEASIBLE"}, "bound-negative"),
        ({"order": (0, 1, 2)}, "not-a-permutation"),
        ({"order": (0,) * 5}, "not-a-permutation"),
        ({"order": (0, 1, 2, 3, 5)}, "not-a-permutation"),
        ({"order": (-1, 0, 1, 2, 3)}, "not-a-permutation"),
        ({"order": (10**5000, 0, 1, 2, 3)}, "not-a-permutation"),
        ({"order": (0,) * 10**6}, "not-a-permutation"),
        ({"witness": {"kind": "working-set", "op": 5}}, "witness-unknown-op"),
        ({"witness": {"kind": "working-set", "op": -1}}, "witness-unknown-op"),
        ({"witness": {"kind": "working-set", "op": -(10**5000)}}, "witness-unknown-op"),
    ],
)
def test_wrong_claims_are_refused(case: Case, changes: dict[str, Any], reason: str) -> None:
    assert refusal(case.check(**changes)) == reason


def test_an_order_that_breaks_a_dependency_names_both_ops(case: Case) -> None:
    answer = case.check(order=case.ops("wide", "broad", "join", "thin_a", "thin_b"))
    assert refusal(answer) == "order-breaks-dependency"
    assert answer.detail == 'step 2 runs op "join" before op "thin_a", on which it depends'
    assert answer.method == "none"


def test_a_small_working_set_is_named_with_its_bytes(case: Case) -> None:
    answer = case.check(witness=WorkingSetWitness(op=case.op("join")))
    assert refusal(answer) == "witness-working-set-too-small"
    # p, q and z, the larger of p and q taken over by z.
    assert answer.detail == 'op "join" alone needs 4 bytes, less than the lower bound 19'
    assert answer.method == "working-set"
    slow_order = case.ops("broad", "wide", "thin_b", "thin_a", "join")
    slow = {"order": slow_order, "peak_bytes": 27, "status": "FEASIBLE"}
    assert refusal(case.check(**slow, lower_bound_bytes=20)) == "witness-working-set-too-small"


def test_traps_of_the_example(case: Case) -> None:
    wide, broad = case.op("wide"), case.op("broad")
    nothing_ran = case.trap(exits=(Exit(op=wide), Exit(op=broad)))
    assert refusal(case.check(**nothing_ran)) == "flow-too-small"
    assert case.check(lower_bound_bytes=12, status="FEASIBLE", **nothing_ran).accepted
    # Once broad can have run, wide is the only way on, and takes its 19 bytes whatever ran.
    assert case.check(**case.trap("broad", "thin_b", exits=(Exit(op=wide),))).accepted
    # The last op outside {thin_a, join} is wide, while q is idle, or thin_b, while a or p is.
    q_idle = ((case.storage("q"), case.op("join"), 2),)
    p_idle = (
        (case.storage("a"), case.op("thin_a"), 1),
        (case.storage("p"), case.op("join"), 1),
    )
    exits = (
        Exit(op=wide, storage_flow=q_idle),
        Exit(op=case.op("thin_b"), storage_flow=p_idle),
    )
    before_join = case.trap("thin_a", "join", exits=exits, forward=False)
    assert case.check(lower_bound_bytes=11, status="FEASIBLE", **before_join).accepted
    one_lost = Exit(op=case.op("thin_b"), storage_flow=((*p_idle[0][:2], 2), p_idle[1]))
    losing = case.trap("thin_a", "join", exits=(exits[0], one_lost), forward=False)
    answer = case.check(lower_bound_bytes=11, status="FEASIBLE", **losing)
    assert refusal(answer) == "flow-not-conserved"
    assert answer.detail == 'exit "thin_b": op "thin_a" receives 2 bytes and passes on 1'
    answer = case.check(lower_bound_bytes=12, status="FEASIBLE", **before_join)
    assert refusal(answer) == "flow-too-small"
    assert answer.detail == (
        'exit "thin_b" in the mode without in-place pairs: '
        "working set 10 and flow 1 make 11 bytes, less than 12"
    )


def flow_case(case: Case, **changes: Any) -> Exit:
    """Exit `wide` of the trap {broad, thin_b}, with these flows."""
    fields: dict[str, Any] = {"op": case.op("wide"), "storage_flow": (), "order_flow": ()}
    return Exit.model_validate({**fields, **changes})


@pytest.mark.parametrize(
    ("arcs", "reason"),
    [
        ([("b", "thin_b", 2)], "flow-not-conserved"),
        ([("q", "join", 2)], "flow-not-conserved"),
        ([("q", "join", 3)], "flow-over-capacity"),
        ([("q", "join", -1)], "flow-negative"),
        ([("q", "join", -(10**5000))], "flow-negative"),
        ([("q", "join", 10**5000)], "flow-over-capacity"),
        ([("q", None, 1)], "flow-bad-arc"),
        ([("q", "thin_a", 1)], "flow-bad-arc"),
        ([("x", "broad", 1)], "flow-bad-arc"),
        ([("p", "join", 1)], "flow-bad-arc"),
        ([("a", "thin_a", 1)], "flow-bad-arc"),
    ],
)
def test_bad_flows_are_refused(
    case: Case, arcs: list[tuple[str, str | None, int]], reason: str
) -> None:
    listed = tuple(
        (case.storage(s), END_OF_PROGRAM if user is None else case.op(user), amount)
        for s, user, amount in arcs
    )
    exits = (flow_case(case, storage_flow=listed),)
    assert refusal(case.check(**case.trap("broad", "thin_b", exits=exits))) == reason


@pytest.mark.parametrize(
    ("order_flow", "reason"),
    [
        (("thin_b", "broad", 1), "flow-not-conserved"),
        (("broad", "thin_b", 1), "flow-bad-arc"),
        (("join", "thin_b", 1), "flow-bad-arc"),
        (("thin_b", "broad", -1), "flow-negative"),
    ],
)
def test_bad_flows_along_dependencies_are_refused(
    case: Case, order_flow: tuple[str, str, int], reason: str
) -> None:
    after, before, amount = order_flow
    listed = ((case.op(after), case.op(before), amount),)
    exits = (flow_case(case, order_flow=listed),)
    answer = case.check(**case.trap("broad", "thin_b", exits=exits))
    assert refusal(answer) == reason
    assert answer.method == "flow"
    assert 'exit "wide"' in answer.detail


def test_bad_positions_in_flows_are_refused(case: Case) -> None:
    for field, arc in [
        ("storage_flow", (6, 0, 1)),
        ("storage_flow", (-1, 0, 1)),
        ("storage_flow", (0, 5, 1)),
        ("storage_flow", (0, -2, 1)),
        ("order_flow", (0, -1, 1)),
        ("order_flow", (10**5000, 0, 1)),
    ]:
        exits = (flow_case(case, **{field: (arc,)}),)
        assert refusal(case.check(**case.trap("broad", "thin_b", exits=exits))) == "flow-bad-arc"


def test_bad_traps_are_refused(case: Case) -> None:
    def reason(*names: str, exits: tuple[Exit, ...] = (), forward: bool = True) -> str:
        return refusal(case.check(**case.trap(*names, exits=exits, forward=forward)))

    wide, broad = Exit(op=case.op("wide")), Exit(op=case.op("broad"))
    low = {"lower_bound_bytes": 4, "status": "FEASIBLE"}
    assert reason(*OPS) == "trap-is-everything"
    assert reason("thin_a") == "trap-not-closed"
    assert reason("wide", forward=False) == "trap-not-closed"
    assert reason("wide", "wide") == "trap-repeats-op"
    assert reason("broad", exits=(Exit(op=case.op("join")),)) == "exit-unknown"
    assert reason("broad", exits=(Exit(op=17),)) == "exit-unknown"
    taken = ((case.storage("a"), case.storage("x")),)
    assert reason(exits=(wide.model_copy(update={"in_place": taken}),)) == "mode-unknown"
    one_missing = case.check(**low, **case.trap(exits=(wide,)))
    assert refusal(one_missing) == "exit-missing"
    assert '"broad"' in one_missing.detail
    twice = case.check(**low, **case.trap(exits=(wide, broad, wide)))
    assert refusal(twice) == "exit-repeated"
    unknown = TrapWitness(kind="trap-forward", trap=(9,), exits=())
    assert refusal(case.check(witness=unknown)) == "trap-unknown-op"


def test_every_mode_of_an_exit_has_to_be_listed(case: Case) -> None:
    low = {"lower_bound_bytes": 4, "status": "FEASIBLE"}
    over = {
        name: Exit(op=case.op("join"), in_place=((case.storage("z"), case.storage(name)),))
        for name in ("p", "q")
    }
    everything_else = OPS[:-1]
    both = case.trap(*everything_else, exits=(over["p"], over["q"]))
    assert case.check(**low, **both).accepted
    one = case.check(**low, **case.trap(*everything_else, exits=(over["p"],)))
    assert refusal(one) == "exit-missing"
    assert '"z" over "q"' in one.detail
    none = case.check(**low, **case.trap(*everything_else, exits=(Exit(op=case.op("join")),)))
    assert refusal(none) == "mode-unknown"


def test_families_of_the_example(case: Case) -> None:
    # Within 18 bytes wide never runs: only broad and thin_b can.
    first = case.state(None, "", "branch")
    broad = case.state(0, "broad", "commit", "thin_b")
    stuck = case.state(1, "thin_b", "branch")
    accepted = case.check(**case.search(first, broad, stuck))
    assert accepted.accepted
    assert accepted.method == "family"
    dead = case.state(0, "broad", "dead", "thin_b")
    assert case.check(**case.search(first, dead)).accepted
    assert case.check(**case.search(case.state(None, "", "dead", "broad thin_b"))).accepted


def test_bad_families_are_refused(case: Case) -> None:
    def reason(*states: FamilyState) -> str:
        return refusal(case.check(**case.search(*states)))

    state = case.state
    first, dead = state(None, "", "branch"), state(0, "broad", "dead", "thin_b")
    assert reason() == "family-empty"
    assert reason(first) == "family-not-closed"
    assert reason(dead) == "family-first-state"
    assert reason(state(None, "broad", "dead")) == "family-first-state"
    for parent in (None, 1, 2, -1, 10**4000):
        assert reason(first, state(parent, "broad", "dead")) == "family-bad-parent"
    assert reason(first, dead, state(1, "thin_a", "dead")) == "family-op-not-ready"
    assert reason(first, dead, state(1, "broad", "dead")) == "family-op-not-ready"
    assert reason(first, state(0, "broad", "dead", "join")) == "family-op-not-ready"
    everything = state(0, " ".join(OPS), "branch")
    assert reason(first, dead, everything) == "family-complete-state"
    assert reason(state(None, "", "dead", " ".join(OPS))) == "trap-is-everything"
    assert reason(state(None, "", "branch", "broad"), dead) == "family-then-run"
    assert reason(first, state(0, "broad", "commit")) == "family-then-run"
    assert reason(first, state(0, "broad", "commit", "thin_b")) == "family-not-closed"
    too_dear = state(None, "", "commit", "wide"), state(0, "wide", "dead")
    assert reason(*too_dear) == "family-commit-too-dear"
    unsafe = state(None, "", "commit", "broad"), state(0, "broad", "dead", "thin_b")
    assert reason(*unsafe) == "family-commit-not-safe"
    bad_op = FamilyState(parent=0, run=(5,), then="dead")
    assert reason(first, bad_op) == "family-unknown-op"
    assert reason(first, bad_op.model_copy(update={"run": (), "then_run": (-1,)})) == (
        "family-unknown-op"
    )


def test_a_state_that_is_not_dead_names_the_way_out(case: Case) -> None:
    alive = case.search(case.state(None, "", "dead"))
    answer = case.check(**alive)
    assert refusal(answer) == "family-not-dead"
    assert 'exit "broad"' in answer.detail


def test_count_and_digest_of_a_family_have_to_match(case: Case) -> None:
    states = (case.state(None, "", "dead", "broad thin_b"),)
    right: dict[str, Any] = {"count": 1, "digest": family_digest(states), "states": states}
    assert case.check(witness=SearchWitness(**right)).accepted
    for changes, reason in (
        ({"count": 2}, "family-count"),
        ({"count": 10**5000}, "family-count"),
        ({"digest": "0" * 64}, "family-digest"),
    ):
        witness = SearchWitness.model_validate({**right, **changes})
        assert refusal(case.check(witness=witness)) == reason


def test_recomputation_proves_refutes_or_gives_up(case: Case) -> None:
    left_out = {"witness": SearchWitness(count=1, digest="", states=None)}
    proved = case.check(**left_out)
    assert proved.accepted
    assert proved.method == "recomputation"
    slow_order = case.ops("broad", "wide", "thin_b", "thin_a", "join")
    slow = {"order": slow_order, "peak_bytes": 27, "status": "FEASIBLE", **left_out}
    assert case.check(**slow).accepted
    refuted = case.check(**slow, lower_bound_bytes=20)
    assert refusal(refuted) == "bound-refuted"
    assert refuted.detail == "some order runs within 19 bytes"
    late = check(case.graph, case.certificate(**left_out), time_limit_seconds=0)
    assert refusal(late) == "recomputation-limit"
    assert late.method == "recomputation"


def test_a_certificate_that_takes_too_long_is_refused(case: Case) -> None:
    for fields in (case.trap(exits=(Exit(op=0),)), case.search(case.state(None, "", "branch"))):
        for seconds in (0.0, -1.0, float("nan")):
            answer = check(case.graph, case.certificate(**fields), time_limit_seconds=seconds)
            assert refusal(answer) == "time-limit"
