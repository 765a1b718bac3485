"""The answer of `lowtide verify` for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lowtide_client.cli.profile_text import make_console
from lowtide_client.wording import exact, printable

if TYPE_CHECKING:
    from lowtide.answers import VerifyAnswer

_METHODS = {
    "working-set": "from the op that needs it alone",
    "flow": "from the flows of its trap",
    "family": "from its closed family of states",
    "recomputation": "by searching again",
}


def print_verdict(answer: VerifyAnswer) -> None:
    """Accepted, with what is thereby certain; or refused, with the reason."""
    console = make_console()
    if not answer.accepted:
        console.print(Text(f"REFUSED ({answer.reason})", style="bold red"))
        console.print(printable(answer.detail))
        return
    console.print(Text("ACCEPTED", style="bold green"))
    if answer.peak_bytes is not None and answer.lower_bound_bytes is not None:
        console.print(f"The order peaks at {exact(answer.peak_bytes)}.")
        console.print(f"No order peaks below {exact(answer.lower_bound_bytes)}.")
    console.print(f"The bound was checked {_METHODS.get(answer.method, answer.method)}.")
