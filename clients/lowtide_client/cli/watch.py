"""Runs a command's work so that Ctrl-C always gets through and long work shows what it is at."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from lowtide_client.background import BackgroundCall
from lowtide_client.wording import percentage, rounded

if TYPE_CHECKING:
    from lowtide.schedule import Progress

Result = TypeVar("Result")

_QUIET_SECONDS = 1.0
_REDRAW_SECONDS = 0.1


class Cancellable(Protocol):
    """Something that stops early when told to."""

    def cancel(self) -> None: ...


class Watch:
    """What the work is at; the work writes, the display reads.

    Attributes:
        phase: for people, such as `reading graph.json`.
        progress: the latest word from the solver.
        solving_since: when the solve began, by `time.monotonic`; None before.
        time_limit_seconds: of the solve, where it is known.
        stop: what Ctrl-C cancels instead of ending the command; None outside of a solve.
    """

    def __init__(self) -> None:
        self.phase = "starting"
        self.progress: Progress | None = None
        self.solving_since: float | None = None
        self.time_limit_seconds: float | None = None
        self.stop: Cancellable | None = None

    def solving(self, time_limit_seconds: float | None, stop: Cancellable | None) -> None:
        """A solve begins."""
        self.solving_since = time.monotonic()
        self.time_limit_seconds, self.stop = time_limit_seconds, stop

    def report(self, progress: Progress) -> None:
        """Takes the solver's word."""
        self.progress = progress


def run_watched(work: Callable[[Watch], Result]) -> Result:
    """The result of the work. After a second, a terminal on standard error shows how it goes.

    Raises:
        KeyboardInterrupt: Ctrl-C where the work cannot be stopped with a result, or twice.
    """
    watch = Watch()
    call = BackgroundCall(lambda: work(watch))
    try:
        if sys.stderr.isatty() and not call.wait(_QUIET_SECONDS):
            _show_until_done(watch, call)
        return call.result()
    except KeyboardInterrupt:
        if watch.stop is None:
            raise
        watch.stop.cancel()
        return call.result()


def _show_until_done(watch: Watch, call: BackgroundCall[Result]) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as display:
        task = display.add_task(watch.phase, total=None)
        while not call.wait(_REDRAW_SECONDS):
            since = watch.solving_since
            display.update(
                task,
                description=_described(watch),
                total=watch.time_limit_seconds,
                completed=0.0 if since is None else time.monotonic() - since,
            )


def _described(watch: Watch) -> str:
    progress = watch.progress
    if progress is None:
        return watch.phase
    peak, bound = progress.peak_bytes, progress.lower_bound_bytes
    return (
        f"{watch.phase}: peak {rounded(peak)}, bound {rounded(bound)} "
        f"(gap {percentage(peak - bound, peak)}), {progress.states:,} states"
    )
