"""Lowtide for Python programs: the SDK, the graph builder and the command line (docs/python.md)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lowtide.memory import OrderError
    from lowtide.wire_errors import GraphError

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
    "GraphError",
    "Lowtide",
    "LowtideClientError",
    "OpRef",
    "OrderError",
    "ServiceConnectionError",
    "ServiceError",
    "ServiceTimeoutError",
    "TensorRef",
    "UnknownCertificateError",
    "View",
]

_MODULE_OF = {
    **dict.fromkeys(__all__, "lowtide_client.errors"),
    **dict.fromkeys(("AsyncLowtide", "Lowtide"), "lowtide_client.sdk"),
    **dict.fromkeys(("GraphBuilder", "OpRef", "TensorRef", "View"), "lowtide_client.builder"),
    "GraphError": "lowtide.wire_errors",
    "OrderError": "lowtide.memory",
}


def __getattr__(name: str) -> object:
    # Loaded on first use: the command line starts without what it does not need.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)
