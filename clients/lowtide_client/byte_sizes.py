"""Sizes in bytes as people write them."""

from __future__ import annotations

import re

_FORM = re.compile(r"([0-9]{1,19})(?:\.([0-9]{1,18}))? ?([A-Za-z]*)", re.ASCII)
_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_UNITS: dict[str, int] = {
    "": 1,
    "B": 1,
    **_BINARY,
    **{f"{prefix}iB": factor for prefix, factor in _BINARY.items()},
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}


def parse_bytes(text: str) -> int:
    """The number of bytes: `262144`, `256K`, `256KiB` (times 1024), `1.5M`, `256kB` (times 1000).

    The same units as GNU tools.

    Raises:
        ValueError: another form, or not a whole number of bytes.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None or match[3] not in _UNITS:
        raise ValueError(
            f"{text!r} is not a size: write bytes, as 262144, or with a unit, as 256K, 1.5MiB "
            "(powers of 1024) or 256kB, 1MB (powers of 1000)"
        )
    whole, fraction = match[1], match[2] or ""
    scaled = int(whole + fraction) * _UNITS[match[3]]
    size_bytes, rest = divmod(scaled, int("1" + "0" * len(fraction)))
    if rest:
        raise ValueError(f"{text!r} is not a whole number of bytes")
    return size_bytes
