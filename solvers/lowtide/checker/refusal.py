"""How the checker says no, and when it gives up."""

from __future__ import annotations

import time

_MAX_QUOTED_CHARACTERS = 200
_MAX_EXACT_AMOUNT = 10**30


class Refusal(Exception):  # noqa: N818 - a verdict, not an error
    """A certificate does not hold.

    Attributes:
        reason: a stable code (docs/certificates.md).
        detail: a sentence with names and numbers.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class Deadline:
    """The moment at which the checker stops looking, and the reason code it then gives."""

    def __init__(self, seconds: float, reason: str = "time-limit") -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._reason = reason

    def named(self, reason: str) -> Deadline:
        """The same moment with another reason code."""
        renamed = Deadline(self._seconds, reason)
        renamed._end = self._end
        return renamed

    def check(self) -> None:
        """Raises Refusal once the time is over; a limit that is not a number is over at once."""
        if not time.monotonic() < self._end:
            text = f"not decided within {self._seconds:g} seconds; allow more time"
            raise Refusal(self._reason, text)


def shown(value: int | str) -> str:
    """A number or text of a certificate as a message may quote it: short and printable."""
    if isinstance(value, str):
        start = value[:_MAX_QUOTED_CHARACTERS]
        ellipsis = "..." if len(value) > len(start) else ""
        safe = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in start)
        return f'"{safe}{ellipsis}"'
    if -_MAX_EXACT_AMOUNT < value < _MAX_EXACT_AMOUNT:
        return str(value)
    # Python refuses to print integers of thousands of digits.
    return f"about {'-' if value < 0 else ''}2^{value.bit_length() - 1}"
