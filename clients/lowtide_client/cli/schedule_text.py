"""The answer of `lowtide schedule` for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowtide.answer_builder import evaluate_answer
from rich.text import Text

from lowtide_client.cli.profile_text import (
    bare_table,
    make_console,
    print_binding,
    print_heading,
)
from lowtide_client.wording import counted, exact, percentage, rounded, shown_name

if TYPE_CHECKING:
    from lowtide.answers import ScheduleAnswer

    from lowtide_client.cli.solving import Solved, Told

_NAME_CHARACTERS = 100
_LIMITS = {
    "time": "stopped by the time limit",
    "states": "stopped by the limit on states",
    "cancelled": "stopped by Ctrl-C",
}


def print_schedule(solved: Solved, told: Told) -> None:
    """Before, after, the bound, the gain; what binds the peak; why nothing better exists."""
    graph, answer = solved.graph, solved.answer
    console = make_console()
    name = shown_name(graph.name or "(unnamed graph)", _NAME_CHARACTERS)
    sizes = f"{counted(len(graph.ops), 'op')}, {counted(len(graph.storages), 'storage')}"
    console.print(Text(name, style="bold") + Text(f": {sizes}"))
    console.print()
    table = bare_table(console, "left", "right", "left")
    for label, amount in (
        ("given order", answer.given_order_peak_bytes),
        ("this order", answer.peak_bytes),
        ("lower bound", answer.lower_bound_bytes),
    ):
        table.add_row(f"  {label}", rounded(amount), exact(amount) if amount >= 1024 else "")
    table.add_row("  gain", *_gain(answer))
    console.print(table)
    console.print()
    optimal = answer.status == "OPTIMAL"
    console.print(Text(_verdict(answer), style="bold green" if optimal else "bold yellow"))
    profile = evaluate_answer(graph, told.best)
    if profile.binding is not None:
        print_binding(console, profile.binding, len(graph.ops), answer.peak_bytes)
    print_heading(console, "Why nothing better exists" if optimal else "What is proved")
    for paragraph in told.explanation.split("\n\n"):
        console.print(paragraph)
    console.print()
    console.print(Text("(--json prints the order itself)", style="dim"))


def _gain(answer: ScheduleAnswer) -> tuple[str, str]:
    given = answer.given_order_peak_bytes
    gained = given - answer.peak_bytes
    if gained == 0:
        best = "and is the best" if answer.status == "OPTIMAL" else ""
        return "0%", f"the given order peaks there too {best}".rstrip()
    return percentage(gained, given), f"{exact(gained)} less"


def _verdict(answer: ScheduleAnswer) -> str:
    if answer.status == "OPTIMAL":
        took = "known already" if answer.cached else f"solved in {_duration(answer.solve_seconds)}"
        return f"OPTIMAL: no order peaks lower ({took})"
    gap = answer.peak_bytes - answer.lower_bound_bytes
    share = percentage(gap, answer.peak_bytes)
    stopped = "stopped" if answer.limit is None else _LIMITS[answer.limit]
    after = f"{stopped} after {_duration(answer.solve_seconds)}"
    return f"FEASIBLE: at most {exact(gap)} ({share}) above the best possible ({after})"


def _duration(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"
