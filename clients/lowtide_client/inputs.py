"""Graphs and certificates in every form callers have them, as values of one type."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lowtide.wire import WireGraph, parse_graph
from lowtide.wire_errors import GraphError, Problem

from lowtide_client.errors import CertificateError

if TYPE_CHECKING:
    from lowtide.certificate import Certificate

GraphSource = WireGraph | Mapping[str, object] | str | bytes | Path
"""A graph; a dict of its JSON; JSON text; or the path of a file. A `str` is text, never a path."""

if TYPE_CHECKING:
    CertificateSource = Certificate | Mapping[str, object] | str | bytes | Path

MAX_FILE_BYTES = 256 * 1024 * 1024
"""Largest file that is read: some ten times a graph of 100,000 ops."""


def read_graph(source: GraphSource) -> WireGraph:
    """The graph, checked from end to end.

    Raises:
        GraphError: not a graph, with every problem; or a file past MAX_FILE_BYTES.
        OSError: the file cannot be read.
        TypeError: none of the forms of GraphSource.
    """
    if isinstance(source, WireGraph):
        return source
    if isinstance(source, Path):
        return parse_graph(read_file(source))
    if isinstance(source, str) and not source.lstrip().startswith("{"):
        message = "not a JSON object; to read a file, pass a pathlib.Path"
        raise GraphError([Problem("not_json", message, "")])
    if isinstance(source, Mapping | str | bytes):
        return parse_graph(source)
    raise TypeError(
        "a graph is a WireGraph, a dict, JSON text or a pathlib.Path, "
        f"not {type(source).__name__} (of a GraphBuilder, pass what build() returns)"
    )


def read_certificate(source: CertificateSource) -> Certificate:
    """The certificate: well formed, whatever it claims.

    Raises:
        CertificateError: not a certificate, with every problem; or a file past MAX_FILE_BYTES.
        OSError: the file cannot be read.
        TypeError: none of the forms of CertificateSource.
    """
    from lowtide.certificate import Certificate, parse_certificate

    if isinstance(source, Certificate):
        return source
    if not isinstance(source, Mapping | str | bytes | Path):
        raise TypeError(
            "a certificate is a Certificate, a dict, JSON text or a pathlib.Path, "
            f"not {type(source).__name__}"
        )
    try:
        return parse_certificate(read_file(source) if isinstance(source, Path) else source)
    except GraphError as error:
        raise CertificateError(error.problems, error.omitted) from None


def read_file(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        GraphError: larger than MAX_FILE_BYTES.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return read_bounded(file, str(path))


def read_bounded(stream: BinaryIO, name: str) -> bytes:
    """Everything in the stream; `name` is for the message.

    Raises:
        GraphError: more than MAX_FILE_BYTES.
    """
    data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        message = f"{name} is larger than {MAX_FILE_BYTES} bytes, the most that is read"
        raise GraphError([Problem("too_large", message, "")])
    return data
