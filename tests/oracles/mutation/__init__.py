"""Random damage to a certificate or its graph, to see whether a checker notices.

Each mutation knows whether it breaks the letter of the certificate: then it has to be refused. The
others may leave a true statement with a valid proof behind, say another order that is as good.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from lowtide.certificate import Certificate

from tests.oracles.mutation.claims import CLAIM_MUTATORS
from tests.oracles.mutation.draft import Draft, Mutator, Useless
from tests.oracles.mutation.graph import GRAPH_MUTATORS
from tests.oracles.mutation.search import SEARCH_MUTATORS
from tests.oracles.mutation.traps import TRAP_MUTATORS

MUTATORS: dict[str, Mutator] = {
    **CLAIM_MUTATORS,
    **TRAP_MUTATORS,
    **SEARCH_MUTATORS,
    **GRAPH_MUTATORS,
}


@dataclass(frozen=True)
class Mutation:
    """A damaged certificate and the graph it is now shown with.

    Attributes:
        name: the kind of damage, a key of MUTATORS.
        must_be_refused: whether this cannot be a valid certificate of the graph.
    """

    name: str
    wire: dict[str, Any]
    certificate: Certificate
    must_be_refused: bool


def mutate(wire: dict[str, Any], certificate: Certificate, rng: random.Random) -> Mutation:
    """One random mutation that changes something. `certificate` has to be valid for `wire`."""
    groups = _groups_for(certificate)
    while True:
        # The witness is where damage is least easily seen.
        group = groups[-1] if rng.random() < 0.6 else rng.choice(groups)
        name = rng.choice([name for name in MUTATORS if name.startswith(group)])
        draft = Draft(wire, certificate, rng)
        try:
            must_be_refused = MUTATORS[name](draft)
        except Useless:
            continue
        mutated = Certificate.model_validate(draft.fields)
        if mutated != certificate or draft.wire != wire:
            return Mutation(name, draft.wire, mutated, must_be_refused)


def _groups_for(certificate: Certificate) -> tuple[str, ...]:
    witness = {"working-set": "working_set.", "search": "search."}
    return "claim.", "order.", "graph.", witness.get(certificate.witness.kind, "trap.")
