"""What goes wrong, as RFC 9457 problem documents (`application/problem+json`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lowtide.wire_errors import Problem
from pydantic import BaseModel, ConfigDict

PROBLEM_MEDIA_TYPE = "application/problem+json"
_TYPE_PREFIX = "urn:problem-type:lowtide:"


class InputProblem(BaseModel):
    """One thing wrong with a request: where (JSON pointer), and with which op or tensor."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    pointer: str
    message: str
    subject: str | None


class ProblemDocument(BaseModel):
    """The body of every answer that is not a success (RFC 9457).

    `problems` is present when the request itself is wrong, `omitted` counts those left out of it;
    `instance` is the request's number in the server's log.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = None
    problems: tuple[InputProblem, ...] | None = None
    omitted: int | None = None


class ServiceError(Exception):
    """A request that ends in a problem document.

    Attributes:
        document: what the client is told.
        headers: further response headers, such as Retry-After.
    """

    def __init__(self, document: ProblemDocument, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(document.title)
        self.document = document
        self.headers = dict(headers or {})


def problem(
    slug: str,
    status: int,
    title: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
) -> ServiceError:
    """An error of the service's own kind `slug`."""
    document = ProblemDocument(type=_TYPE_PREFIX + slug, title=title, status=status, detail=detail)
    return ServiceError(document, headers)


def invalid_input(problems: Sequence[Problem], omitted: int = 0) -> ServiceError:
    """A request whose body is wrong: 400 when it is not JSON at all, 422 otherwise."""
    not_json = any(each.code == "not_json" for each in problems)
    listed = tuple(
        InputProblem(
            code=each.code,
            pointer=_encodable(each.pointer),
            message=_encodable(each.message),
            subject=None if each.subject is None else _encodable(each.subject),
        )
        for each in problems
    )
    first = problems[0]
    more = len(problems) - 1 + omitted
    detail = _encodable(first.message) + (f" (and {more} more)" if more else "")
    return ServiceError(
        ProblemDocument(
            type=_TYPE_PREFIX + ("not-json" if not_json else "invalid-input"),
            title="The body is not JSON" if not_json else "The request is not valid",
            status=400 if not_json else 422,
            detail=detail,
            problems=listed,
            **({"omitted": omitted} if omitted else {}),
        )
    )


def too_large(max_body_bytes: int) -> ServiceError:
    """The body is larger than the server takes."""
    return problem(
        "too-large",
        413,
        "The request body is too large",
        f"This server takes bodies of at most {max_body_bytes} bytes.",
    )


def too_slow(body_seconds: float) -> ServiceError:
    """The body did not arrive in time."""
    return problem(
        "too-slow",
        408,
        "The request body did not arrive in time",
        f"This server waits at most {body_seconds:g} seconds for a body.",
        {"Connection": "close"},
    )


def unsupported_media_type(detail: str) -> ServiceError:
    """The body is of a kind that is not read here."""
    return problem("unsupported-media-type", 415, "The body is not plain JSON", detail)


def overloaded(retry_after_seconds: int) -> ServiceError:
    """No room for one more request."""
    return problem(
        "overloaded",
        503,
        "The server is busy",
        f"Too many requests are waiting; try again in {retry_after_seconds} seconds.",
        {"Retry-After": str(retry_after_seconds)},
    )


def worker_died() -> ServiceError:
    """The process that worked on the request ended without an answer."""
    return problem(
        "worker-died",
        500,
        "The worker process died",
        "The process working on this request ended before it had an answer, most likely for want "
        "of memory; it has been replaced. Other requests are not affected.",
    )


def worker_overran(seconds: float) -> ServiceError:
    """The process that worked on the request did not stop when told and was killed."""
    return problem(
        "worker-overran",
        504,
        "The worker process overran its deadline",
        f"The process working on this request had no answer after {seconds:g} seconds and was "
        "stopped. Try a smaller graph.",
    )


def out_of_memory(worker_memory_bytes: int) -> ServiceError:
    """The work does not fit into a worker's memory."""
    return problem(
        "out-of-memory",
        500,
        "The worker process ran out of memory",
        f"The work does not fit into the {worker_memory_bytes} bytes a worker here may use.",
    )


def stopping(retry_after_seconds: int) -> ServiceError:
    """The server stops before the request is done."""
    return problem(
        "stopping",
        503,
        "The server is stopping",
        "The request was not finished; try again once the server has been restarted.",
        {"Retry-After": str(retry_after_seconds), "Connection": "close"},
    )


def internal_error() -> ServiceError:
    """A fault of the service; the traceback is in its log only."""
    return problem(
        "internal-error",
        500,
        "The service failed",
        "A fault of the service itself; its log has the details.",
    )


def store_unavailable() -> ServiceError:
    """The certificate database does not answer."""
    return problem(
        "store-unavailable",
        503,
        "The certificate store is not available",
        "The database of certificates could not be read.",
    )


def certificate_not_found() -> ServiceError:
    """No certificate of that name is kept here."""
    return problem(
        "certificate-not-found",
        404,
        "No such certificate",
        "No certificate of this name is kept here; those not used for long are dropped.",
    )


def _encodable(text: str) -> str:
    # JSON may spell half a surrogate pair, which UTF-8 cannot.
    return text.encode("utf-8", "backslashreplace").decode()
