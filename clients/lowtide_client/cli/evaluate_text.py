"""The answer of `lowtide evaluate` for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lowtide_client.cli.profile_text import make_console, print_binding
from lowtide_client.wording import counted, exact, rounded, shown_name

if TYPE_CHECKING:
    from lowtide.answers import EvaluateAnswer

_NAME_CHARACTERS = 100


def print_evaluation(name: str, answer: EvaluateAnswer, *, is_given: bool) -> None:
    """The peak of an order and what binds it."""
    console = make_console()
    shown = shown_name(name or "(unnamed graph)", _NAME_CHARACTERS)
    order = "The given order" if is_given else "This order"
    steps = len(answer.steps)
    console.print(Text(shown, style="bold") + Text(f": {counted(steps, 'op')}"))
    peak = exact(answer.peak_bytes)
    short = f" ({rounded(answer.peak_bytes)})" if answer.peak_bytes >= 1024 else ""
    console.print(Text(f"{order} peaks at {peak}{short}", style="bold"))
    if answer.binding is not None:
        print_binding(console, answer.binding, steps, answer.peak_bytes)
    console.print()
    console.print(Text("(--json prints every step)", style="dim"))
