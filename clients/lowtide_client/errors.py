"""What can go wrong beside bad input, in process and against a server (docs/python.md).

Bad input raises what the library raises: `lowtide.wire_errors.GraphError` and
`lowtide.memory.OrderError`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lowtide.wire_errors import GraphError, Problem


class LowtideClientError(Exception):
    """Base of the errors below."""


class CertificateError(LowtideClientError, ValueError):
    """The input is not a certificate in `lowtide.certificate/1`.

    Attributes:
        problems: where and why.
        omitted: how many more problems were found and left out.
    """

    def __init__(self, problems: Sequence[Problem], omitted: int = 0) -> None:
        self.problems = tuple(problems)
        self.omitted = omitted
        super().__init__(self.problems, omitted)

    def __str__(self) -> str:
        return str(GraphError(self.problems, self.omitted))


class UnknownCertificateError(LowtideClientError, LookupError):
    """No certificate of this name is kept, or no longer. `certificate_id` is the name."""

    def __init__(self, certificate_id: str) -> None:
        self.certificate_id = certificate_id
        super().__init__(certificate_id)

    def __str__(self) -> str:
        return (
            f"no certificate {self.certificate_id!r} is kept; those not used for long are dropped: "
            "schedule the graph again"
        )


class ServiceError(LowtideClientError):
    """The server refused or failed, as its problem document (RFC 9457) says.

    Attributes:
        status: HTTP status.
        title, detail, type: from the problem document; `type` is `about:blank` without one.
        problems: what is wrong with the request, when the server said so; pointers into the request
            body.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        type: str = "about:blank",
        problems: Sequence[Problem] = (),
    ) -> None:
        self.status = status
        self.title = title
        self.detail = detail
        self.type = type
        self.problems = tuple(problems)
        super().__init__(status, title, detail, type, self.problems)

    def __str__(self) -> str:
        return f"{self.title} (status {self.status}): {self.detail}"


class ServiceConnectionError(LowtideClientError, ConnectionError):
    """The server could not be reached, or broke off."""


class ServiceTimeoutError(LowtideClientError, TimeoutError):
    """The server gave no answer in time. The solve may still be running there."""
