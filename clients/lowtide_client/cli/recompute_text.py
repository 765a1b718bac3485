"""The answer of `lowtide recompute` for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from lowtide_client.cli.profile_text import bare_table, make_console, print_heading
from lowtide_client.wording import counted, exact, percentage, rounded, shown_name

if TYPE_CHECKING:
    from lowtide.recomputation.answer import RecomputeAnswer
    from lowtide.recomputation.model import RecomputationModel

_MAX_ROWS = 20
_NAME_CHARACTERS = 100


def print_recomputation(
    model: RecomputationModel, answer: RecomputeAnswer, budget_bytes: int | None
) -> None:
    """Before, after, what it costs, which ops run again, and what is proved."""
    console = make_console()
    graph = model.graph
    name = shown_name(graph.name or "(unnamed graph)", _NAME_CHARACTERS)
    console.print(Text(name, style="bold") + Text(f": {counted(len(graph.ops), 'op')}"))
    console.print()
    table = bare_table(console, "left", "right", "left")
    amounts = [("best order", answer.order_peak_bytes), ("lower bound", answer.lower_bound_bytes)]
    if answer.peak_bytes is not None:
        amounts.insert(1, ("this plan", answer.peak_bytes))
    if budget_bytes is not None:
        amounts.append(("budget", budget_bytes))
    for label, amount in amounts:
        table.add_row(f"  {label}", rounded(amount), exact(amount) if amount >= 1024 else "")
    if answer.peak_bytes is not None and answer.extra_cost is not None:
        won = answer.order_peak_bytes - answer.peak_bytes
        table.add_row("  gain", percentage(won, answer.order_peak_bytes), f"{exact(won)} less")
        table.add_row(
            "  extra cost",
            percentage(answer.extra_cost, model.total_cost),
            f"{answer.extra_cost:,}",
        )
    console.print(table)
    console.print()
    good = answer.status in ("OPTIMAL", "INFEASIBLE")
    console.print(Text(_verdict(answer), style="bold green" if good else "bold yellow"))
    if answer.front:
        _print_front(console, model, answer)
    if answer.runs is not None:
        _print_repeated(console, model, answer)
    print_heading(console, "What is proved")
    console.print(_proof(answer))
    console.print()
    console.print(Text("(--json prints the runs themselves)", style="dim"))


def _verdict(answer: RecomputeAnswer) -> str:
    plans = (
        "no plan of any order"
        if answer.scope == "free"
        else "no plan that keeps the certified order of first runs"
    )
    seconds = f"{answer.solve_seconds:.2f} s"
    if answer.status == "OPTIMAL":
        return f"OPTIMAL in scope {answer.scope}: {plans} does better (solved in {seconds})"
    if answer.status == "INFEASIBLE":
        return f"INFEASIBLE in scope {answer.scope}: {plans} fits (solved in {seconds})"
    if answer.status == "FEASIBLE":
        return f"FEASIBLE: a better plan may exist (stopped after {seconds})"
    return f"UNKNOWN: no plan was found, and none is excluded (stopped after {seconds})"


def _print_front(console: Console, model: RecomputationModel, answer: RecomputeAnswer) -> None:
    print_heading(console, "Every trade-off found")
    table = bare_table(console, "right", "right", "right", "right", "left")
    table.show_header = False
    for point in answer.front:
        won = answer.order_peak_bytes - point.peak_bytes
        rate = f"{won / point.extra_cost:.3g} bytes won per cost" if point.extra_cost else ""
        table.add_row(
            f"  {exact(point.peak_bytes)}",
            f"-{percentage(won, answer.order_peak_bytes)}",
            f"cost +{point.extra_cost:,}",
            f"(+{percentage(point.extra_cost, model.total_cost)})",
            f"{point.status}  {rate}".rstrip(),
        )
    console.print(table)


def _print_repeated(console: Console, model: RecomputationModel, answer: RecomputeAnswer) -> None:
    assert answer.runs is not None
    repeats = Counter(run.op for run in answer.runs if run.run > 1)
    if not repeats:
        return
    cost_of = {op.name: op.cost for op in model.graph.ops}
    print_heading(console, f"What runs again: {counted(repeats.total(), 'run')} more")
    table = bare_table(console, "left", "right", "left")
    dearest = sorted(repeats, key=lambda op: -cost_of[op] * repeats[op])
    for op in dearest[:_MAX_ROWS]:
        table.add_row(
            f"  {shown_name(op, _NAME_CHARACTERS)}",
            f"cost +{cost_of[op] * repeats[op]:,}",
            counted(repeats[op] + 1, "run"),
        )
    if len(dearest) > _MAX_ROWS:
        rest = dearest[_MAX_ROWS:]
        cost = sum(cost_of[op] * repeats[op] for op in rest)
        table.add_row(f"  ({len(rest)} more ops)", f"cost +{cost:,}", "")
    console.print(table)


def _proof(answer: RecomputeAnswer) -> str:
    scope = "of any order" if answer.proof == "companions" else f"of scope {answer.scope}"
    bound = f"No plan {scope} peaks below {exact(answer.lower_bound_bytes)}: "
    if answer.proof == "companions":
        return bound + (
            "so much is held when one op first runs, with the values nobody can make again that "
            "are still needed then; nothing computed twice changes that."
        )
    return bound + (
        "an exact search has seen every plan. That word stands alone: the certificate says so, and "
        "a checker has to search again."
    )
