"""The checker under attack: damaged certificates and forged proofs, random and real graphs."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from lowtide.certificate import Certificate, TrapWitness
from lowtide.checker import check
from lowtide.checker.derive import derive_model
from lowtide.checker.family import check_family
from lowtide.checker.positions import Positions
from lowtide.checker.refusal import Deadline, Refusal
from lowtide.checker.trap import check_trap
from lowtide.wire import parse_graph

from tests.oracles.brute_force import as_set
from tests.oracles.canonical_positions import CanonicalPositions
from tests.oracles.certificates import CertificateMaker
from tests.oracles.claims import claim_is_true
from tests.oracles.forgeries import Forger
from tests.oracles.mutation import MUTATORS, Mutation, mutate
from tests.oracles.mutation.campaign import attack, main
from tests.oracles.random_graphs import random_wire

EXAMPLES = Path(__file__).parents[1] / "examples"
REAL = ["mww_v2_okay_nabu", "light_shufflenet", "swiftnet-cell2", "mlperftiny_vww96_int8"]
FOREVER = Deadline(float("inf"))


def any_certificate(maker: CertificateMaker, rng: random.Random) -> Certificate:
    """A valid certificate, of any kind."""
    makers: list[Callable[[], Certificate]] = [
        maker.working_set,
        maker.forward_trap,
        maker.reverse_trap,
        partial(maker.random_trap, forward=True),
        partial(maker.random_trap, forward=False),
        maker.family,
        maker.family,
        maker.recomputation,
    ]
    return rng.choice(makers)()


def test_2000_mutations_on_random_graphs_leave_nothing_false_accepted() -> None:
    outcomes: Counter[tuple[str, bool]] = Counter()
    for seed in range(500):
        rng = random.Random(seed)
        wire = random_wire(seed, 11)
        maker = CertificateMaker(wire, rng)
        certificate = any_certificate(maker, rng)
        for _ in range(4):
            mutation = mutate(wire, certificate, rng)
            answer = check(parse_graph(mutation.wire), mutation.certificate)
            outcomes[mutation.name, answer.accepted] += 1
            if not answer.accepted:
                continue
            assert not mutation.must_be_refused, (seed, mutation.name)
            assert claim_is_true(mutation.wire, mutation.certificate), (seed, mutation.name)
            assert_trap_proves_bound(mutation)
    assert outcomes.total() == 2000
    assert {name for name, _ in outcomes} == set(MUTATORS)
    refused = {name for name, accepted in outcomes if not accepted}
    # A weaker claim is still true.
    assert refused >= MUTATORS.keys() - {"claim.weaken"}


def assert_trap_proves_bound(mutation: Mutation) -> None:
    """An accepted trap is as good as it says, by brute force."""
    witness = mutation.certificate.witness
    if isinstance(witness, TrapWitness):
        maker = CertificateMaker(mutation.wire, random.Random(0))
        position = maker.names.op_position
        trap = as_set([position.index(p) for p in witness.trap])
        bound = maker.trap_bound(trap, witness.kind == "trap-forward")
        assert bound >= mutation.certificate.lower_bound_bytes


@pytest.mark.parametrize("block", range(10))
def test_forged_proofs_of_false_bounds_are_refused(block: int) -> None:
    reasons: Counter[str] = Counter()
    for seed in range(150 * block, 150 * block + 150):
        rng = random.Random(seed)
        wire = random_wire(seed, 8)
        maker = CertificateMaker(wire, rng)
        model = derive_model(parse_graph(wire))
        positions = positions_of(maker.names)
        forger = Forger(maker, rng)
        for _ in range(2):
            trap, bound = forger.trap()
            with pytest.raises(Refusal) as caught:
                check_trap(model, positions, trap, bound, FOREVER)
            reasons[caught.value.reason] += 1
            family, threshold = forger.family()
            with pytest.raises(Refusal) as caught:
                check_family(model, positions, family, threshold, FOREVER)
            reasons[caught.value.reason] += 1
    assert {
        "flow-bad-arc",
        "flow-negative",
        "flow-not-conserved",
        "flow-over-capacity",
        "family-commit-not-safe",
        "family-not-closed",
        "family-not-dead",
    } <= reasons.keys()


def positions_of(names: CanonicalPositions) -> Positions:
    """The same positions as the checker looks them up."""
    ops, storages = names.op_position, names.storage_position
    return Positions(
        sorted(range(len(ops)), key=ops.__getitem__),
        sorted(range(len(storages)), key=storages.__getitem__),
    )


@pytest.mark.parametrize("name", REAL)
def test_mutations_on_real_graphs_leave_nothing_false_accepted(name: str) -> None:
    wire = json.loads((EXAMPLES / f"{name}.json").read_bytes())
    tally = attack(wire, count=150, seed=11)
    assert tally.outcomes.total() == 150
    assert not tally.faults
    refused = sum(times for (_, reason), times in tally.outcomes.items() if reason is not None)
    assert refused > 75


def test_campaign_command_reports_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    path = EXAMPLES / "mww_v2_okay_nabu.json"
    assert main([str(path), "--count", "20", "--seed", "3"]) == 0
    last_line = capsys.readouterr().out.splitlines()[-1]
    assert last_line.startswith("20 mutations, ")
    assert "of these 0 wrongly" in last_line
