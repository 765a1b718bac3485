"""The checker of recomputation plans on graphs followed by hand: what it accepts, every refusal."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from lowtide.build import build_graph
from lowtide.checker import PlanVerdict, check_plan
from lowtide.recomputation.certificate import RecomputationCertificate
from lowtide.recomputation.question import Question
from lowtide.recomputation.solve import recompute
from lowtide.wire import parse_graph

from tests.oracles.canonical_positions import canonical_positions
from tests.oracles.plan_forgeries import is_true, mutated
from tests.oracles.recomputation_claims import random_case

NONE = {"kind": "none"}
EXHAUSTED = {"kind": "exhausted", "states": 1}


class Case:
    """Certificates for one graph, written with op names."""

    def __init__(self, sizes: dict[str, int], ops: list[dict[str, Any]], **fields: Any) -> None:
        views = fields.pop("views", {})
        tensors = [{"name": name, "bytes": size} for name, size in sizes.items()]
        tensors += [{"name": v, "bytes": 0, "view_of": base} for v, base in views.items()]
        document = {"format": "lowtide.graph/1", "tensors": tensors, "ops": ops, **fields}
        self.wire = parse_graph(document)
        self._names = canonical_positions(document)
        self._ops = [op["name"] for op in ops]

    def ops(self, names: str) -> tuple[int, ...]:
        return tuple(self._names.op_position[self._ops.index(name)] for name in names.split())

    def caps(self, default: int, **named: int) -> tuple[int, ...]:
        caps = [0] * len(self._ops)
        for name, position in zip(self._ops, self._names.op_position, strict=True):
            caps[position] = named.get(name, default)
        return tuple(caps)

    def companions(self, op: str) -> dict[str, Any]:
        return {"kind": "companions", "op": self.ops(op)[0]}

    def check(self, seconds: float = 60.0, **fields: Any) -> PlanVerdict:
        """Fields not named are those of objective peak in scope free, nothing claimed."""
        if isinstance(fields.get("runs"), str):
            fields["runs"] = self.ops(fields["runs"])
        if isinstance(fields.get("first_runs"), str):
            fields["first_runs"] = self.ops(fields["first_runs"])
        certificate = RecomputationCertificate.model_validate(
            {
                "format": "lowtide.recomputation/1",
                "graph_hash": self._names.graph_hash,
                "caps": self.caps(2),
                "scope": "free",
                "first_runs": (),
                "objective": "peak",
                "budget_bytes": None,
                "max_extra_cost": None,
                "status": "FEASIBLE",
                "runs": None,
                "peak_bytes": None,
                "extra_cost": None,
                "lower_bound_bytes": 0,
                "least_extra_cost": 0,
                "bound_witness": NONE,
                "cost_witness": NONE,
                **fields,
            }
        )
        return check_plan(self.wire, certificate, time_limit_seconds=seconds)

    def replay(self, runs: str, peak: int, extra: int, **fields: Any) -> str | None:
        """None if the plan has this peak and extra cost, else the reason of the refusal."""
        claim = {"peak_bytes": peak, "extra_cost": extra, **fields}
        return self.check(runs=runs, **claim).reason


def op(name: str, inputs: str, outputs: str, cost: int = 1, **fields: Any) -> dict[str, Any]:
    lists = {"inputs": inputs.split(), "outputs": outputs.split()}
    return {"name": name, "cost": cost, **lists, **fields}


# x (1, pinned) -> stem: s (4) -> big: b (10) -> pool: p (1); join reads s and p, makes z (2).
# Kept, s makes pool take 16 bytes; made again, the largest step is big with 1 + 4 + 10.
def held_stem(**stem: Any) -> Case:
    return Case(
        {"x": 1, "s": 4, "b": 10, "p": 1, "z": 2},
        [
            op("stem", "x", "s", 3, **stem),
            op("big", "s", "b", 5),
            op("pool", "b", "p"),
            op("join", "s p", "z"),
        ],
        inputs=["x"],
        outputs=["z"],
        pinned=["x"],
    )


ORDER = "stem big pool join"
TWICE = "stem big pool stem join"
CASE = held_stem()
OPTIMAL: dict[str, Any] = {
    "status": "OPTIMAL",
    "runs": TWICE,
    "peak_bytes": 15,
    "extra_cost": 3,
    "lower_bound_bytes": 15,
    "least_extra_cost": 3,
    "bound_witness": CASE.companions("big"),
    "cost_witness": EXHAUSTED,
}
IN_ORDER: dict[str, Any] = {**OPTIMAL, "scope": "given-order", "first_runs": ORDER}
COST: dict[str, Any] = {**OPTIMAL, "objective": "cost", "budget_bytes": 15}
NO_PLAN: dict[str, Any] = {"runs": None, "peak_bytes": None, "extra_cost": None}
INFEASIBLE: dict[str, Any] = {
    **COST,
    **NO_PLAN,
    "status": "INFEASIBLE",
    "budget_bytes": 14,
    "least_extra_cost": 0,
}
UNKNOWN: dict[str, Any] = {**INFEASIBLE, "status": "UNKNOWN", "lower_bound_bytes": 14}


@pytest.mark.parametrize(
    ("claim", "method"),
    [
        (OPTIMAL, "recomputation"),
        (OPTIMAL | {"bound_witness": EXHAUSTED}, "recomputation"),
        (IN_ORDER, "recomputation"),
        (COST, "recomputation"),
        (COST | {"lower_bound_bytes": 3}, "recomputation"),
        (OPTIMAL | {"caps": CASE.caps(0)}, "recomputation"),
        (OPTIMAL | {"status": "FEASIBLE", "least_extra_cost": 2}, "recomputation"),
        (OPTIMAL | {"status": "FEASIBLE", "least_extra_cost": 0}, "companions"),
        (INFEASIBLE, "companions"),
        (INFEASIBLE | {"bound_witness": EXHAUSTED}, "recomputation"),
        # Within 15 bytes at least 3 have to be paid, and no more than 2 may be.
        (INFEASIBLE | {"budget_bytes": 15, "max_extra_cost": 2, "least_extra_cost": 3},
         "recomputation"),
        (INFEASIBLE | {"budget_bytes": 15, "max_extra_cost": 2, "lower_bound_bytes": 16,
         "bound_witness": EXHAUSTED}, "recomputation"),
        (UNKNOWN, "companions"),
        (UNKNOWN | {"lower_bound_bytes": 0, "bound_witness": NONE}, "none"),
        (OPTIMAL | {"runs": ORDER, "peak_bytes": 16, "extra_cost": 0, "lower_bound_bytes": 16,
         "least_extra_cost": 0, "caps": CASE.caps(1), "bound_witness": EXHAUSTED},
         "recomputation"),
        # With cap 1 the stem's value waits at pool, and nobody can make it again.
        (OPTIMAL | {"runs": ORDER, "peak_bytes": 16, "extra_cost": 0, "lower_bound_bytes": 16,
         "least_extra_cost": 0, "caps": CASE.caps(2, stem=1),
         "bound_witness": CASE.companions("pool")}, "companions"),
    ],
)  # fmt: skip
def test_true_claims_are_accepted(claim: dict[str, Any], method: str) -> None:
    verdict = CASE.check(**claim)
    assert (verdict.accepted, verdict.reason, verdict.method) == (True, None, method)
    assert verdict.status == claim["status"]
    assert (verdict.peak_bytes, verdict.extra_cost) == (claim["peak_bytes"], claim["extra_cost"])
    assert verdict.lower_bound_bytes == claim["lower_bound_bytes"]
    assert verdict.least_extra_cost == claim["least_extra_cost"]


def test_the_verdict_tells_what_was_found() -> None:
    assert CASE.check(**OPTIMAL).detail == (
        'the plan peaks at 15 bytes at step 1, op "big", extra cost 3; '
        "no plan of scope free peaks below 15 bytes"
    )


REFUSED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("hash-mismatch", OPTIMAL, {"graph_hash": "sha256:" + "0" * 64}),
    ("budget-missing", COST, {"budget_bytes": None}),
    ("budget-unasked", OPTIMAL, {"budget_bytes": 15}),
    ("budget-negative", INFEASIBLE, {"budget_bytes": -1}),
    ("max-extra-cost-negative", OPTIMAL, {"max_extra_cost": -1}),
    ("first-runs-in-scope-free", OPTIMAL, {"first_runs": ORDER}),
    ("bound-negative", OPTIMAL, {"lower_bound_bytes": -1}),
    ("least-cost-negative", OPTIMAL, {"least_extra_cost": -1}),
    (
        "least-cost-without-peak",
        UNKNOWN,
        {"objective": "peak", "budget_bytes": None, "least_extra_cost": 1},
    ),
    ("plan-missing", OPTIMAL, {"runs": None}),
    ("plan-missing", OPTIMAL, {"peak_bytes": None, "least_extra_cost": 0}),
    ("plan-missing", OPTIMAL, {"extra_cost": None}),
    ("plan-unasked", INFEASIBLE, {"runs": TWICE}),
    ("plan-unasked", UNKNOWN, {"peak_bytes": 15}),
    ("plan-unasked", UNKNOWN, {"extra_cost": 3}),
    ("peak-above-budget", COST, {"budget_bytes": 14}),
    ("extra-cost-above-limit", OPTIMAL, {"max_extra_cost": 2}),
    ("bound-above-peak", OPTIMAL, {"lower_bound_bytes": 16}),
    ("least-cost-above-extra-cost", OPTIMAL, {"least_extra_cost": 4}),
    ("status-overclaims", OPTIMAL, {"lower_bound_bytes": 14}),
    ("status-overclaims", OPTIMAL, {"least_extra_cost": 2}),
    ("status-overclaims", COST, {"least_extra_cost": 2}),
    ("status-overclaims", INFEASIBLE, {"lower_bound_bytes": 14}),
    ("status-overclaims", INFEASIBLE, {"objective": "peak", "budget_bytes": None}),
    ("status-underclaims", OPTIMAL, {"status": "FEASIBLE"}),
    ("status-underclaims", COST, {"status": "FEASIBLE"}),
    ("status-underclaims", INFEASIBLE, {"status": "UNKNOWN"}),
    ("caps-count", OPTIMAL, {"caps": (2, 2, 2)}),
    ("cap-negative", OPTIMAL, {"caps": (2, 2, 2, -1)}),
    ("first-runs-not-a-permutation", IN_ORDER, {"first_runs": ()}),
    ("first-runs-not-a-permutation", IN_ORDER, {"first_runs": "stem big big join"}),
    ("first-runs-not-a-permutation", IN_ORDER, {"first_runs": (0, 1, 2, 4)}),
    ("first-runs-break-dependency", IN_ORDER, {"first_runs": "big stem pool join"}),
    ("run-unknown-op", OPTIMAL, {"runs": (0, -1)}),
    ("run-unknown-op", OPTIMAL, {"runs": (10**5000,)}),
    ("run-above-cap", OPTIMAL, {"runs": "stem big pool stem stem join"}),
    ("run-above-cap", OPTIMAL, {"caps": CASE.caps(1)}),
    ("run-breaks-dependency", OPTIMAL, {"runs": "big stem pool join"}),
    ("op-never-runs", OPTIMAL, {"runs": "stem big pool"}),
    ("op-never-runs", OPTIMAL, {"runs": ()}),
    ("peak-mismatch", OPTIMAL, {"peak_bytes": 14, "lower_bound_bytes": 14}),
    ("peak-mismatch", OPTIMAL, {"peak_bytes": 17, "lower_bound_bytes": 17}),
    ("extra-cost-mismatch", OPTIMAL, {"extra_cost": 2, "least_extra_cost": 2}),
    ("extra-cost-mismatch", OPTIMAL, {"extra_cost": 4, "least_extra_cost": 4}),
    ("witness-unknown-op", OPTIMAL, {"bound_witness": {"kind": "companions", "op": 4}}),
    ("witness-companions-too-small", OPTIMAL, {"bound_witness": CASE.companions("pool")}),
    ("bound-without-witness", OPTIMAL, {"bound_witness": NONE}),
    (
        "bound-refuted",
        OPTIMAL,
        {
            "runs": ORDER,
            "peak_bytes": 16,
            "extra_cost": 0,
            "lower_bound_bytes": 16,
            "least_extra_cost": 0,
            "bound_witness": EXHAUSTED,
        },
    ),
    # Every cap is 1, and yet an order is lower than claimed.
    (
        "bound-refuted",
        UNKNOWN,
        {
            "budget_bytes": 20,
            "lower_bound_bytes": 17,
            "caps": CASE.caps(1),
            "bound_witness": EXHAUSTED,
        },
    ),
    ("least-cost-without-witness", OPTIMAL, {"cost_witness": NONE}),
    ("least-cost-without-witness", OPTIMAL, {"cost_witness": CASE.companions("big")}),
    (
        "least-cost-refuted",
        OPTIMAL,
        {
            "caps": CASE.caps(3),
            "runs": "stem big pool stem big pool stem join",
            "extra_cost": 12,
            "least_extra_cost": 12,
        },
    ),
]


@pytest.mark.parametrize(("reason", "claim", "changes"), REFUSED)
def test_refusals(reason: str, claim: dict[str, Any], changes: dict[str, Any]) -> None:
    verdict = CASE.check(**{**claim, **changes})
    assert (verdict.accepted, verdict.reason) == (False, reason)
    assert verdict.detail
    assert verdict.status is None
    assert verdict.peak_bytes is verdict.extra_cost is None
    assert verdict.lower_bound_bytes is verdict.least_extra_cost is None


def test_no_time_is_a_refusal() -> None:
    for seconds in (0.0, -1.0, float("nan")):
        assert CASE.check(seconds, **OPTIMAL).reason == "time-limit"


def test_what_the_search_cannot_decide_is_refused() -> None:
    length = 60
    sizes = {f"t{i}": 1 for i in range(2 * length + 1)}
    ops = [op(f"f{i}", f"t{i - 1}" if i else "", f"t{i}") for i in range(length)]
    for i in range(length, 2 * length):
        ops.append(op(f"b{i}", f"t{i - 1} t{2 * length - 1 - i}", f"t{i}"))
    case = Case(sizes, ops, inputs=[], outputs=[f"t{2 * length - 1}"])
    claim = UNKNOWN | {"caps": case.caps(3), "lower_bound_bytes": 6, "budget_bytes": 6}
    verdict = case.check(0.5, **claim | {"bound_witness": EXHAUSTED})
    assert verdict.reason == "undecided"


def test_first_runs_have_to_be_kept() -> None:
    fork = Case(
        {"x": 1, "a": 1, "b": 1, "z": 1},
        [op("left", "x", "a"), op("right", "x", "b"), op("join", "a b", "z")],
        inputs=["x"],
        outputs=["z"],
    )
    given = {"scope": "given-order", "first_runs": "left right join"}
    assert fork.replay("left right join", 3, 0, **given) is None
    assert fork.replay("right left join", 3, 0, **given) == "first-runs-not-kept"
    assert fork.replay("right left join", 3, 0) is None


def test_caps_of_the_graph_hold() -> None:
    limited = held_stem(max_runs=2)
    claim = OPTIMAL | {"bound_witness": limited.companions("big")}
    assert limited.check(**claim).accepted
    for cap in (0, 3):
        changed = claim | {"caps": limited.caps(2, stem=cap)}
        assert limited.check(**changed).reason == "cap-above-max-runs"


# make: s (4), view: v of s, early reads v, mid: b (8), late reads v and b.
VIEWED = Case(
    {"x": 2, "s": 4, "a": 1, "b": 8, "z": 1},
    [
        op("make", "x", "s", 3),
        op("view", "s", "v", 0),
        op("early", "v", "a"),
        op("mid", "a", "b"),
        op("late", "v b", "z"),
    ],
    views={"v": "s", "w": "v"},
    inputs=["x"],
    outputs=["z"],
    pinned=["x"],
)
VIEW_FREE = {"caps": VIEWED.caps(2, view=0)}


def test_views_are_made_again_with_what_they_view() -> None:
    kept = "make view early mid late"
    assert VIEWED.replay(kept, 15, 0) is None
    # early: 2 + 4 + 1; mid: 2 + 1 + 8; late: 2 + 4 + 8 + 1.
    assert VIEWED.replay("make view early mid make view late", 15, 3, **VIEW_FREE) is None
    missing = VIEWED.replay("make view early mid make late", 15, 3, **VIEW_FREE)
    assert missing == "run-reads-missing-view"
    three = "make view view early mid make view late"
    assert VIEWED.replay(three, 15, 3, **VIEW_FREE) is None
    assert VIEWED.replay(three, 15, 3) == "run-above-cap"


def test_a_view_made_by_nobody_needs_the_view_it_is_taken_of() -> None:
    case = Case(
        {"x": 2, "s": 4, "z": 1},
        [op("make", "x", "s"), op("view", "s", "v"), op("late", "w", "z")],
        views={"v": "s", "w": "v"},
        inputs=["x"],
        outputs=["z", "w"],
    )
    assert case.replay("make view late", 6, 0) is None
    assert case.replay("make view make late", 6, 1) == "run-reads-missing-view"
    assert case.replay("make view late make", 7, 1) == "output-missing-view"


# make: s (4); first reads s; over overwrites s; last reads s as overwritten.
OVERWRITTEN = Case(
    {"x": 1, "s": 4, "a": 1, "m": 1, "z": 1},
    [
        op("make", "x", "s"),
        op("first", "s", "a"),
        op("over", "s", "m", mutates=["s"]),
        op("last", "s a m", "z"),
    ],
    inputs=["x"],
    outputs=["z", "s"],
)
ONCE = OVERWRITTEN.caps(2, over=1)


def test_contents_have_to_be_those_of_the_given_order() -> None:
    replay = OVERWRITTEN.replay
    assert replay("make first over last", 7, 0, caps=ONCE) is None
    assert replay("make first over make last", 7, 1, caps=ONCE) == "run-reads-wrong-contents"
    assert replay("make first over first last", 7, 1, caps=ONCE) == "run-reads-wrong-contents"
    assert replay("make first over last make", 7, 1, caps=ONCE) == "output-wrong-contents"
    # Made again before it is overwritten: x (1) stays, the first s is gone.
    assert replay("make first make over last", 7, 1, caps=ONCE) is None
    assert replay("make over first last", 7, 0, caps=ONCE) == "run-breaks-dependency"


def test_ops_that_overwrite_have_cap_one() -> None:
    for caps in (OVERWRITTEN.caps(2), OVERWRITTEN.caps(1, over=0)):
        refused = OVERWRITTEN.replay("make first over last", 7, 0, caps=caps)
        assert refused == "cap-of-overwriting-op"


# make: s (2), copy: c (1) in place over s, over overwrites s and makes m (1), join: z (2).
# A plan may make s and c again after s was overwritten, and then never takes more than 3 bytes.
AGAIN = Case(
    {"s": 2, "c": 1, "m": 1, "z": 2},
    [
        op("make", "", "s", 5),
        op("copy", "s", "c", 8, in_place=[["c", "s"]]),
        op("over", "s", "m", 0, mutates=["s"]),
        op("join", "m c", "z", 8, in_place=[["z", "m"]]),
    ],
    inputs=[],
    outputs=["z"],
)
AGAIN_CAPS = AGAIN.caps(2, over=1, join=1)


def test_values_are_made_again_after_an_overwrite_and_in_place() -> None:
    claim: dict[str, Any] = {
        "caps": AGAIN_CAPS,
        "status": "OPTIMAL",
        "runs": "make copy over make copy join",
        "peak_bytes": 3,
        "extra_cost": 13,
        "lower_bound_bytes": 3,
        "least_extra_cost": 13,
        "bound_witness": AGAIN.companions("over"),
        "cost_witness": EXHAUSTED,
    }
    assert AGAIN.check(**claim).accepted
    order: dict[str, Any] = {
        "runs": "make copy over join",
        "peak_bytes": 4,
        "extra_cost": 0,
        "lower_bound_bytes": 4,
        "least_extra_cost": 0,
        "bound_witness": EXHAUSTED,
    }
    assert AGAIN.check(**claim | order).reason == "bound-refuted"
    assert AGAIN.check(**claim | order | {"max_extra_cost": 12}).accepted


def test_ops_that_make_nothing_have_cap_one() -> None:
    ops = [op("send", "x", ""), op("make", "x", "z")]
    case = Case({"x": 1, "z": 1}, ops, inputs=["x"], outputs=["z"])
    assert case.replay("send make", 2, 0, caps=case.caps(2, send=1)) is None
    for cap in (0, 2):
        refused = case.replay("send make", 2, 0, caps=case.caps(2, send=cap))
        assert refused == "cap-of-op-without-outputs"


def test_in_place_saves_only_where_the_instance_dies() -> None:
    case = Case(
        {"x": 3, "s": 4, "y": 4, "z": 1},
        [
            op("make", "x", "s"),
            op("over", "s", "y", in_place=[["y", "s"]], workspace_bytes=2),
            op("join", "s y", "z"),
        ],
        inputs=["x"],
        outputs=["z"],
        pinned=["x"],
    )
    # over: 3 + 4 + 4 + 2; made again, the first s dies there and saves 4, so join has the peak.
    assert case.replay("make over join", 13, 0) is None
    assert case.replay("make over make join", 12, 1) is None
    claim: dict[str, Any] = {
        "status": "OPTIMAL",
        "runs": "make over make join",
        "peak_bytes": 12,
        "extra_cost": 1,
    }
    bounds: dict[str, Any] = {
        "lower_bound_bytes": 12,
        "least_extra_cost": 1,
        "cost_witness": EXHAUSTED,
    }
    verdict = case.check(**claim, **bounds, bound_witness=case.companions("join"))
    assert verdict.accepted
    # s may die at its first overwriter, unless nobody can make it again.
    once = {"caps": case.caps(2, make=1), "lower_bound_bytes": 13}
    lone: dict[str, Any] = {**once, "runs": "make over join", "peak_bytes": 13, "extra_cost": 0}
    assert case.check(status="OPTIMAL", **lone, bound_witness=case.companions("over")).accepted
    lone["caps"] = case.caps(2)
    refused = case.check(status="OPTIMAL", **lone, bound_witness=case.companions("over"))
    assert refused.reason == "witness-companions-too-small"


def test_a_graph_without_ops() -> None:
    empty = Case({"x": 5}, [], inputs=["x"], outputs=["x"])
    claim: dict[str, Any] = {"status": "OPTIMAL", "runs": (), "peak_bytes": 0, "extra_cost": 0}
    assert empty.check(**claim).accepted
    assert empty.check(**claim, bound_witness=EXHAUSTED).accepted
    nothing: dict[str, Any] = {"status": "INFEASIBLE", "objective": "cost", "budget_bytes": 0}
    for witness in (EXHAUSTED, {"kind": "companions", "op": 0}):
        claims = {**nothing, "lower_bound_bytes": 1, "bound_witness": witness}
        assert not empty.check(**claims).accepted


def test_an_input_is_never_there_again() -> None:
    # x has no reader after the second stem: it waits for that, and no longer.
    chain = Case(
        {"x": 5, "s": 1, "y": 1, "z": 1},
        [op("stem", "x", "s"), op("next", "s", "y"), op("last", "s y", "z")],
        inputs=["x"],
        outputs=["z"],
    )
    assert chain.replay("stem next last", 6, 0) is None
    assert chain.replay("stem next stem last", 7, 1) is None


def test_no_false_certificate_is_accepted() -> None:
    accepted: Counter[bool] = Counter()
    for seed in range(40):
        rng = random.Random(seed)
        wire, caps = random_case(seed)
        found = recompute(wire, build_graph(wire), Question("peak", caps, scope="free"))
        for _ in range(30):
            forged = mutated(rng, found.certificate)
            verdict = check_plan(wire, forged)
            accepted[verdict.accepted] += 1
            assert not verdict.accepted or is_true(wire, forged), (seed, forged, verdict)
    assert accepted[True] > 50
    assert accepted[False] > 300
