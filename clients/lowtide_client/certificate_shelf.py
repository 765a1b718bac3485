"""The certificates made in this process, kept in memory up to a bound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from lowtide_client.errors import UnknownCertificateError

if TYPE_CHECKING:
    from lowtide.certificate import Certificate

MAX_ENTRIES = 1_000_000
"""Positions and flow entries of all kept certificates together: at most some 200 MB."""


class CertificateShelf:
    """Keeps the last certificates put here, the newest one always. Threads may share it."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._max_entries = max_entries
        self._certificates: OrderedDict[str, Certificate] = OrderedDict()
        self._entries = 0
        self._lock = threading.Lock()

    def put(self, certificate_id: str, certificate: Certificate) -> None:
        """Keeps a certificate; the oldest ones go until all fit."""
        with self._lock:
            if certificate_id in self._certificates:
                self._certificates.move_to_end(certificate_id)
                return
            self._certificates[certificate_id] = certificate
            self._entries += _entries_of(certificate)
            while self._entries > self._max_entries and len(self._certificates) > 1:
                _, oldest = self._certificates.popitem(last=False)
                self._entries -= _entries_of(oldest)

    def get(self, certificate_id: str) -> Certificate:
        """The certificate of this name.

        Raises:
            UnknownCertificateError: it was not made here, or was dropped since.
        """
        with self._lock:
            certificate = self._certificates.get(certificate_id)
        if certificate is None:
            raise UnknownCertificateError(certificate_id)
        return certificate


def _entries_of(certificate: Certificate) -> int:
    witness = certificate.witness
    entries = len(certificate.order)
    if witness.kind == "working-set":
        return entries + 1
    if witness.kind == "search":
        states = witness.states or ()
        return entries + sum(1 + len(state.run) + len(state.then_run) for state in states)
    flows = sum(1 + len(each.storage_flow) + len(each.order_flow) for each in witness.exits)
    return entries + len(witness.trap) + flows
