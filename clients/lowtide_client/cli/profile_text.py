"""What binds a peak, for people: the step, its op, and every tensor that is live there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lowtide_client.wording import counted, exact, shown_name

if TYPE_CHECKING:
    from lowtide.answers import BindingStep

_MAX_ROWS = 20
_NAME_CHARACTERS = 120
_USUAL_COLUMNS = 80
_NARROW_COLUMNS = 72  # fewer may not hold the largest amounts, and half a number is a wrong one


class _Console(Console):
    """Leaves it to the command line what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def make_console() -> Console:
    """Standard output; prints text as it is: names may hold what looks like markup."""
    console = _Console(markup=False, highlight=False, emoji=False)
    console.width = console.width or _USUAL_COLUMNS  # COLUMNS=0: of no known width
    return console


def print_heading(console: Console, text: str) -> None:
    """A line above a paragraph."""
    console.print()
    console.print(Text(text, style="bold"))


def bare_table(console: Console, *justify: Literal["left", "right"]) -> Table:
    """A table without lines or header; the last column may be folded, in a narrow terminal all."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    narrow = console.width < _NARROW_COLUMNS
    for column, how in enumerate(justify, start=1):
        whole = column < len(justify) and not narrow
        table.add_column(justify=how, no_wrap=whole, overflow="fold")
    return table


def print_binding(console: Console, binding: BindingStep, step_count: int, peak_bytes: int) -> None:
    """The binding step of an order of `step_count` steps; the listed amounts add up to the peak."""
    step = f"step {binding.step + 1:,} of {step_count:,}"
    name = shown_name(binding.op, _NAME_CHARACTERS)
    print_heading(console, f'What binds the peak: {step}, op "{name}"')
    table = bare_table(console, "right", "left", "left")
    for live in binding.tensors[:_MAX_ROWS]:
        table.add_row(
            f"  {exact(live.bytes)}",
            "idle" if live.idle else "in use",
            shown_name(live.tensor, _NAME_CHARACTERS),
            style="yellow" if live.idle else "",
        )
    rest = binding.tensors[_MAX_ROWS:]
    if rest:
        idle = sum(live.bytes for live in rest if live.idle)
        smaller = f"({counted(len(rest), 'smaller tensor')}, {exact(idle)} of them idle)"
        table.add_row(f"  {exact(sum(live.bytes for live in rest))}", "", smaller)
    if binding.workspace_bytes:
        table.add_row(f"  {exact(binding.workspace_bytes)}", "in use", "(workspace of the op)")
    if binding.saved_in_place_bytes:
        saved = f"  -{exact(binding.saved_in_place_bytes)}"
        table.add_row(saved, "in place", "(memory of a dying input taken over)")
    table.add_row(f"  {exact(peak_bytes)}", "peak", "", style="bold")
    console.print(table)
    idle_bytes = sum(live.bytes for live in binding.tensors if live.idle)
    if idle_bytes:
        console.print(
            f"  Idle: {exact(idle_bytes)} that this op does not touch and later ops need."
        )
