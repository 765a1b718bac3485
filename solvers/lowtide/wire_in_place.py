"""The rules for in-place pairs (docs/memory-model.md, "In-place saving" and "In-place modes")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowtide.aliases import Aliases
from lowtide.graph import InPlacePair
from lowtide.in_place import MAX_MODES, TooManyModesError, modes
from lowtide.wire_errors import ProblemList, pointer_to, quoted

if TYPE_CHECKING:
    from lowtide.wire import GraphFields, WireOp

_ALWAYS_FEW_PAIRS = 11  # k pairs have at most 3^(k/3) maximal matchings: 56 for 11 (Moon and Moser)


def check_in_place(graph: GraphFields, aliases: Aliases, problems: ProblemList) -> None:
    """Adds every broken rule about in-place pairs to `problems`."""
    held: set[int] | None = None
    for v, op in enumerate(graph.ops):
        if not op.in_place:
            continue
        _check_pairs(v, op, aliases, problems)
        if len(op.in_place) > _ALWAYS_FEW_PAIRS:
            if held is None:
                held = _held_roots(graph, aliases)
            _check_mode_count(v, op, aliases, held, problems)


def _held_roots(graph: GraphFields, aliases: Aliases) -> set[int]:
    named = (aliases.index_of.get(name) for name in (*graph.outputs, *graph.pinned))
    return {aliases.root[index] for index in named if index is not None}


def _check_pairs(v: int, op: WireOp, aliases: Aliases, problems: ProblemList) -> None:
    owner = f"op {quoted(op.name)}"
    own_outputs, own_inputs = set(op.outputs), set(op.inputs)
    seen: set[tuple[str, str]] = set()
    for position, (output, taken) in enumerate(op.in_place):
        pointer = pointer_to("ops", v, "in_place", position)
        if (output, taken) in seen:
            message = f"{owner} lists [{quoted(output)}, {quoted(taken)}] twice; list it once"
            problems.add("duplicate_entry", message, pointer, output)
            continue
        seen.add((output, taken))
        output_index = aliases.index_of.get(output)
        taken_index = aliases.index_of.get(taken)
        for side, (name, index) in enumerate(((output, output_index), (taken, taken_index))):
            if index is None:
                message = (
                    f"{owner} names tensor {quoted(name)}, which is not listed in /tensors; "
                    "add or correct it"
                )
                problems.add("unknown_tensor", message, f"{pointer}/{side}", name)
        if output_index is None or taken_index is None:
            continue
        if output not in own_outputs:
            message = (
                f"{owner} cannot make {quoted(output)} in place: it is not one of its outputs; "
                "a pair is [output, input]"
            )
            problems.add("in_place_output", message, f"{pointer}/0", output)
        elif aliases.base[output_index] is not None:
            message = (
                f"{owner} cannot make {quoted(output)} in place: it is a view, without memory of "
                "its own; drop the pair"
            )
            problems.add("in_place_output", message, f"{pointer}/0", output)
        if taken not in own_inputs:
            message = (
                f"{owner} cannot take over the memory of {quoted(taken)}: it is not one of its "
                "inputs; a pair is [output, input]"
            )
            problems.add("in_place_input", message, f"{pointer}/1", taken)
        elif aliases.root[taken_index] == aliases.root[output_index]:
            message = (
                f"{owner}: {quoted(output)} and {quoted(taken)} share one storage already; "
                "drop the pair"
            )
            problems.add("in_place_same_storage", message, pointer, output)


def _check_mode_count(
    v: int, op: WireOp, aliases: Aliases, held: set[int], problems: ProblemList
) -> None:
    pairs = []
    for output, taken in op.in_place:
        output_index, taken_index = aliases.index_of.get(output), aliases.index_of.get(taken)
        if output_index is None or taken_index is None:
            continue
        pair = InPlacePair(aliases.root[output_index], aliases.root[taken_index])
        if pair.input not in held and pair.input != pair.output:
            pairs.append(pair)
    try:
        modes(pairs)
    except TooManyModesError:
        message = (
            f"the in-place pairs of op {quoted(op.name)} can be combined in more than "
            f"{MAX_MODES} ways; keep fewer alternatives"
        )
        problems.add("too_many_modes", message, pointer_to("ops", v, "in_place"), op.name)
