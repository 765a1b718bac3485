"""The checker: does this certificate hold for this graph (docs/certificates.md)?"""

from __future__ import annotations

from lowtide.answers import VerifyAnswer
from lowtide.canonical import CanonicalForm, canonical_form
from lowtide.certificate import Certificate
from lowtide.checker.derive import derive_model
from lowtide.checker.model import Model
from lowtide.checker.order import peak_of
from lowtide.checker.positions import Positions
from lowtide.checker.refusal import Deadline, Refusal, shown
from lowtide.checker.witness import Method, check_witness, method_of
from lowtide.wire import WireGraph
