"""What a benchmark run looks like on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from rich.box import SIMPLE_HEAD
from rich.table import Table

from benchmarks.aims import Aim
from benchmarks.graph_files import Reference
from benchmarks.schedule_rows import ExactPeerRow, ScheduleRow

_LEFT_COLUMNS = ("graph", "ops", "given order")
_INDUCTOR_COLUMNS = ("lpmf", "bfs", "dfs", "Inductor takes")
_EXACT_COLUMNS = ("OLLA", "tflite-tools")
_WHOLE_COLUMNS = ("graph", *_EXACT_COLUMNS)
_OUR_COLUMNS = (
    "ours",
    "bound",
    "proof",
    "Inductor / ours",
    "Inductor ms",
    "kernel ms",
    "library ms",
    "command ms",
    "MiB",
)


def schedule_table(
    rows: Sequence[ScheduleRow],
    olla: Mapping[str, ExactPeerRow],
    tflite_tools: Mapping[str, ExactPeerRow],
    references: Mapping[str, Reference],
) -> Table:
    """One line per graph, peaks and bounds in bytes; the best known peak where it is not ours."""
    title = "Peak bytes and times (exact peers: peak, seconds; * stopped by its limit)"
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False)
    for column in (*_LEFT_COLUMNS, *_INDUCTOR_COLUMNS, *_EXACT_COLUMNS, *_OUR_COLUMNS):
        is_text = column in ("graph", "proof")
        table.add_column(
            column, justify="left" if is_text else "right", no_wrap=column in _WHOLE_COLUMNS
        )
    for row in rows:
        reference = references.get(row.name)
        best_known = row.peak if reference is None else reference.best_known
        table.add_row(
            row.name,
            str(row.op_count),
            str(row.given_peak),
            *(
                str(peak)
                for peak in (
                    row.inductor.lpmf_peak,
                    row.inductor.bfs_peak,
                    row.inductor.dfs_peak,
                    row.inductor.chosen_peak,
                )
            ),
            _exact_cell(olla.get(row.name)),
            _exact_cell(tflite_tools.get(row.name)),
            f"{row.peak}" if best_known == row.peak else f"{row.peak} ({best_known} known)",
            str(row.lower_bound),
            row.proof if row.status == "OPTIMAL" else "not proved",
            _ratio(row.inductor.chosen_peak, row.peak),
            *(
                _milliseconds(seconds)
                for seconds in (
                    row.inductor.seconds,
                    row.kernel_seconds,
                    row.library_seconds,
                    row.command_seconds,
                )
            ),
            f"{row.resident_bytes / 2**20:.0f}",
        )
    return table


def aims_table(aims: Sequence[Aim]) -> Table:
    """One line per aim."""
    table = Table(title="Aims", box=SIMPLE_HEAD, pad_edge=False)
    for column in ("aim", "at most", "measured", "verdict", "over"):
        table.add_column(column, justify="right" if column in ("at most", "measured") else "left")
    for aim in aims:
        table.add_row(
            aim.name,
            f"{aim.limit:g} {aim.unit}",
            f"{aim.measured:.3g} {aim.unit}",
            aim.verdict(),
            aim.detail,
        )
    return table


def gains(
    rows: Sequence[ScheduleRow],
    olla: Mapping[str, ExactPeerRow],
    tflite_tools: Mapping[str, ExactPeerRow],
) -> Table:
    """Per alternative: how often its peak is higher than ours, by what factor, and its time."""
    table = Table(title="What a user would take instead (medians)", box=SIMPLE_HEAD, pad_edge=False)
    for column in (
        "instead",
        "graphs",
        "higher peak",
        "factor",
        "largest",
        "time / kernel",
        "time / library",
    ):
        table.add_column(column, justify="left" if column == "instead" else "right")
    table.add_row("given order", *_gain([(row.given_peak, row.peak) for row in rows]), "", "")
    inductor = [(row.inductor.chosen_peak, row.peak) for row in rows]
    seconds = {row.name: row.inductor.seconds for row in rows}
    table.add_row("Inductor", *_gain(inductor), *_time_ratios(seconds, rows))
    peak_of = {row.name: row.peak for row in rows}
    for label, answers in (("OLLA on HiGHS", olla), ("tflite-tools", tflite_tools)):
        found = [(a.peak, peak_of[name]) for name, a in answers.items() if a.peak is not None]
        unfinished = sum(a.outcome != "optimal" for a in answers.values())
        label += f" ({unfinished} of {len(answers)} not finished)"
        seconds = {name: answer.seconds for name, answer in answers.items()}
        table.add_row(label, *_gain(found), *_time_ratios(seconds, rows))
    return table


def _time_ratios(seconds: Mapping[str, float], rows: Sequence[ScheduleRow]) -> tuple[str, str]:
    """Medians of a peer's time over our kernel's and over our whole library call's."""
    measured = [row for row in rows if row.name in seconds]
    if not measured:
        return "", ""
    kernel = median(seconds[row.name] / row.kernel_seconds for row in measured)
    library = median(seconds[row.name] / row.library_seconds for row in measured)
    return f"{kernel:.3g}", f"{library:.3g}"


def _gain(peaks: Sequence[tuple[int, int]]) -> tuple[str, str, str, str]:
    ratios = [theirs / ours for theirs, ours in peaks if ours]
    higher = [ratio for ratio in ratios if ratio > 1]
    if not higher:
        return str(len(peaks)), "0", "", ""
    return str(len(peaks)), str(len(higher)), f"{median(higher):.3f}", f"{max(higher):.3f}"


def _exact_cell(answer: ExactPeerRow | None) -> str:
    if answer is None:
        return ""
    peak = "none" if answer.peak is None else str(answer.peak)
    return f"{peak}, {answer.seconds:.2f}{'' if answer.outcome == 'optimal' else '*'}"


def _ratio(theirs: int, ours: int) -> str:
    return f"{theirs / ours:.3f}" if ours else ""


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"
