"""Amounts and names as people read them. Names come from untrusted files."""

from __future__ import annotations

_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def unit_for(largest_bytes: int) -> tuple[int, str]:
    """The unit, as bytes and as a word, in which an axis up to `largest_bytes` reads best."""
    for unit_bytes, unit in _UNITS:
        if largest_bytes >= unit_bytes:
            return unit_bytes, unit
    return 1, "bytes"


def rounded(amount_bytes: int) -> str:
    """An amount to two decimals of its unit, such as `1.18 MiB`; exact below one KiB."""
    unit_bytes, unit = unit_for(amount_bytes)
    if unit_bytes == 1:
        return exact(amount_bytes)
    hundredths = (amount_bytes * 100 + unit_bytes // 2) // unit_bytes
    return f"{hundredths // 100:,}.{hundredths % 100:02} {unit}"


def exact(amount_bytes: int) -> str:
    """An amount to the byte, such as `1,234,567 bytes`."""
    return counted(amount_bytes, "byte")


def percentage(part: int, whole: int) -> str:
    """`part` of `whole` to one decimal, rounded down; never `0.0%` for a part above 0."""
    if part == 0 or whole == 0:
        return "0%"
    tenths = part * 1000 // whole
    return f"{tenths // 10}.{tenths % 10}%" if tenths else "less than 0.1%"


def printable(text: str) -> str:
    """Text on one line: what does not print, or turns the writing direction, is spelled out."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def shown_name(name: str, max_characters: int) -> str:
    """A name in printable characters, its middle left out where it is too long."""
    safe = printable(name)
    if len(safe) <= max_characters:
        return safe
    tail = (max_characters - 1) // 2
    return f"{safe[: max_characters - 1 - tail]}…{safe[-tail:]}"


def counted(number: int, noun: str) -> str:
    """A number and its noun, such as `1 op`, `2,048 ops`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
