"""Lowtide for Python programs: the SDK, the graph builder and the command line (docs/python.md)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lowtide_client.builder import GraphBuilder, OpRef, TensorRef, View
    from lowtide_client.errors import (
        CertificateError,
        LowtideClientError,
        ServiceConnectionError,
        ServiceError,
        ServiceTimeoutError,
        UnknownCertificateError,
    )
    from lowtide_client.sdk import AsyncLowtide, Lowtide

__all__ = [
    "AsyncLowtide",
    "CertificateError",
    "GraphBuilder",
    "Lowtide",
    "LowtideClientError",
    "OpRef",
    "ServiceConnectionError",
    "ServiceError",
    "ServiceTimeoutError",
    "TensorRef",
    "UnknownCertificateError",
    "View",
]

_MODULE_OF = {
    **dict.fromkeys(("AsyncLowtide", "Lowtide"), "sdk"),
    **dict.fromkeys(("GraphBuilder", "OpRef", "TensorRef", "View"), "builder"),
}


def __getattr__(name: str) -> object:
    # Loaded on first use: the command line starts without what it does not need.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF.get(name, 'errors')}"), name)
