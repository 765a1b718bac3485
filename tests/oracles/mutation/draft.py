"""A certificate and its graph as plain data that can be changed."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

from lowtide.certificate import Certificate


class Draft:
    """The graph and the certificate as plain data, to be changed in place."""

    def __init__(self, wire: dict[str, Any], certificate: Certificate, rng: random.Random) -> None:
        self.original = wire
        self.wire = wire
        self.fields = certificate.model_dump()
        self.rng = rng

    @property
    def witness(self) -> dict[str, Any]:
        fields: dict[str, Any] = self.fields["witness"]
        return fields

    def own_wire(self) -> dict[str, Any]:
        """The graph, copied so that it can be changed."""
        self.wire = copy.deepcopy(self.original)
        return self.wire

    def off_by_some(self, amount: int) -> int:
        return amount + self.rng.choice((-1, 1)) * self.rng.choice((1, 1, 2, 1000))

    def position(self, real: bool) -> int:
        """A position of an op, or one that is none."""
        count = len(self.wire["ops"])
        return self.rng.randrange(count) if real else self.rng.choice((-1, count, -count, 2**70))

    def pick(self, items: Any) -> int:
        """An index into a list; raises Useless if it is empty."""
        if not items:
            raise Useless
        return self.rng.randrange(len(items))


class Useless(Exception):  # noqa: N818 - not an error
    """This mutation does not apply here."""


Mutator = Callable[[Draft], bool]
"""Changes the draft; returns whether what comes out cannot be a valid certificate of its graph."""
