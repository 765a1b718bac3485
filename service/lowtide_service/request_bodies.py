"""Request bodies as strangers send them: counted while streaming, timed, of one media type."""

from __future__ import annotations

import anyio
from starlette.requests import Request

from lowtide_service import problems
from lowtide_service.settings import Settings

_MAX_SHOWN_CHARACTERS = 100


async def read_body(request: Request, settings: Settings) -> bytes:
    """The whole body, never more than the limit in memory, whatever Content-Length says.

    Raises:
        ServiceError: wrong media type or coding (415), too large (413), too slow (408).
        starlette.requests.ClientDisconnect: the client went away.
    """
    _require_plain_json(request)
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > settings.max_body_bytes:
        raise problems.too_large(settings.max_body_bytes)
    chunks: list[bytes] = []
    received_bytes = 0
    try:
        with anyio.fail_after(settings.body_seconds):
            async for chunk in request.stream():
                received_bytes += len(chunk)
                if received_bytes > settings.max_body_bytes:
                    raise problems.too_large(settings.max_body_bytes)
                chunks.append(chunk)
    except TimeoutError:
        raise problems.too_slow(settings.body_seconds) from None
    return b"".join(chunks)


def _require_plain_json(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        found = f"not {_shown(media_type)}" if media_type else "and say so in its Content-Type"
        raise problems.unsupported_media_type(f"The body must be application/json, {found}.")
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        raise problems.unsupported_media_type(
            f"The body must be sent as it is, not with Content-Encoding {_shown(coding)}."
        )


def _shown(header: str) -> str:
    return repr(header[:_MAX_SHOWN_CHARACTERS])
