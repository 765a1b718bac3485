"""Why nothing better exists, in words: the numbers are the proof's, the names the caller's."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from lowtide.build import build_graph
from lowtide.certificate import Certificate, Exit, SearchWitness, TrapWitness, WorkingSetWitness
from lowtide.graph import Graph
from lowtide.graph_identity import graph_canonical_form
from lowtide.schedule import Limits, Schedule, schedule
from lowtide.wire import parse_graph
from lowtide_client import GraphBuilder
from lowtide_client.explain import MisfitError, explain

from tests.oracles.random_graphs import random_wire
from tests.service_graphs import example, hard


def explained(graph: Graph, solved: Schedule) -> str:
    """The explanation of a schedule of this graph."""
    return explain(graph, graph_canonical_form(graph), solved.certificate, solved.limit)


def amounts(text: str) -> list[int]:
    """Every exact amount of bytes in a text."""
    return [int(found.replace(",", "")) for found in re.findall(r"([\d,]+) bytes?\b", text)]


def test_working_set_names_the_op_and_everything_it_holds() -> None:
    b = GraphBuilder("one")
    x, kept = b.input("x", 1000), b.input("kept", 30, pinned=True)
    y = b.op("wide", "", [x], out=("y", 500), workspace_bytes=7)
    b.output(b.op("end", "", [y, kept], out=("z", 1)))
    graph = build_graph(b.build())
    text = explained(graph, schedule(graph))
    assert text == (
        'No order of these ops peaks below 1,537 bytes. Op "wide" alone needs 1,537 bytes while it '
        'runs, wherever it stands in the order: "x" (1,000 bytes, which it reads), "y" (500 bytes, '
        "which it makes), 7 bytes of workspace and 30 bytes of graph inputs that are kept "
        "throughout."
    )


def test_trap_names_the_cheapest_exit_and_adds_up() -> None:
    graph = build_graph(parse_graph(example("swiftnet-cell2")))
    solved = schedule(graph)
    assert solved.certificate.witness.kind.startswith("trap")
    text = explained(graph, solved)
    peak, needed, own, waiting = amounts(text)
    assert peak == needed == own + waiting == solved.peak_bytes
    assert any(f'"{op.name}"' in text for op in graph.ops)


# Both kinds of trap, searches and single ops all come up among these; the test says so.
SEEDS = range(400)


def test_every_proof_of_random_graphs_is_told_with_its_own_numbers() -> None:
    kinds: Counter[str] = Counter()
    for seed in SEEDS:
        graph = build_graph(parse_graph(random_wire(seed)))
        solved = schedule(graph)
        assert solved.status == "OPTIMAL"
        text = explained(graph, solved)
        kind = solved.certificate.witness.kind
        kinds[kind] += 1
        bound = solved.lower_bound_bytes
        told = amounts(text)
        assert told[0] == bound, text
        if kind.startswith("trap"):
            # The best order leaves through some exit, so no flow can show more than the peak there,
            # and all flows together show the bound: the cheapest exit needs exactly the bound.
            assert told[1] == bound == sum(told[2:4] or [bound]), (seed, text)
        elif kind == "search":
            assert "exhausted" in text
        else:
            assert told[1] == bound
    assert set(kinds) >= {"working-set", "trap-forward", "trap-reverse"}, kinds


def test_search_says_how_much_was_exhausted() -> None:
    graph = build_graph(parse_graph(hard(20, 0)))
    solved = schedule(graph)
    witness = solved.certificate.witness
    assert isinstance(witness, SearchWitness)
    assert f"exhausted {witness.count} states" in explained(graph, solved)
    assert "The certificate lists them; traps close" in explained(graph, solved)
    unlisted = solved.certificate.model_copy(
        update={"witness": witness.model_copy(update={"states": None, "count": 1234})}
    )
    text = explain(graph, graph_canonical_form(graph), unlisted, None)
    assert "exhausted 1,234 states" in text
    assert "a check repeats the search" in text


def test_feasible_says_the_gap_what_struck_and_what_to_do() -> None:
    graph = build_graph(parse_graph(hard(300, 5)))
    solved = schedule(graph, Limits(time_seconds=0.3))
    assert solved.limit == "time"
    text = explained(graph, solved)
    bound, peak, gap = amounts(text)[:3]
    assert (bound, peak) == (solved.lower_bound_bytes, solved.peak_bytes)
    assert gap == peak - bound > 0
    assert "The time limit struck first. Give the search more time" in text
    assert text.startswith("Not proved to be the best.")


def test_feasible_under_the_limit_on_states_says_that_time_does_not_help() -> None:
    graph = build_graph(parse_graph(hard(150, 5)))
    solved = schedule(graph, Limits(time_seconds=50, max_states=2))
    assert solved.limit == "states"
    assert "more time alone does not help" in explained(graph, solved)


def chain_certificate(graph: Graph, witness: WorkingSetWitness | TrapWitness) -> Certificate:
    """A certificate for a graph with a witness of the test's making."""
    solved = schedule(graph)
    return solved.certificate.model_copy(update={"witness": witness})


@pytest.mark.parametrize(
    "witness",
    [
        WorkingSetWitness(op=99),
        WorkingSetWitness(op=-1),
        TrapWitness(kind="trap-forward", trap=(0, 99), exits=(Exit(op=1),)),
        TrapWitness(kind="trap-forward", trap=(0,), exits=(Exit(op=-2),)),
        TrapWitness(kind="trap-reverse", trap=(0,), exits=(Exit(op=1, in_place=((0, 99),)),)),
        TrapWitness(
            kind="trap-reverse", trap=(0,), exits=(Exit(op=1, storage_flow=((0, 99, 1),)),)
        ),
        TrapWitness(kind="trap-forward", trap=(0,), exits=()),
    ],
)
def test_a_certificate_that_does_not_fit_is_refused(
    witness: WorkingSetWitness | TrapWitness,
) -> None:
    b = GraphBuilder()
    t = b.input("t", 1)
    for i in range(3):
        t = b.op(f"op{i}", "", [t], out=(f"t{i}", 1))
    b.output(t)
    graph = build_graph(b.build())
    form = graph_canonical_form(graph)
    with pytest.raises(MisfitError):
        explain(graph, form, chain_certificate(graph, witness), None)


def test_a_certificate_of_another_graph_is_refused() -> None:
    one = build_graph(parse_graph(example("swiftnet-cell2")))
    other = build_graph(parse_graph(example("light_shufflenet")))
    with pytest.raises(MisfitError, match="another graph"):
        explain(one, graph_canonical_form(one), schedule(other).certificate, None)


def test_names_cannot_break_the_text() -> None:
    b = GraphBuilder()
    x = b.input("x\n\x1b[31m", 10)
    b.output(b.op("a" * 4000, "", [x], out=("y\u202e", 1)))
    graph = build_graph(b.build())
    text = explained(graph, schedule(graph))
    assert text.isprintable()
    assert len(text) < 1000
