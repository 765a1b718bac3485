"""One tensor or op checked by itself, by the rules of the format and in their words.

An op is put into the smallest graph that has everything it names: what `lowtide.wire` says of that
graph is what it
would say of the op in the whole one, apart from what depends on later lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lowtide.wire import FORMAT, WireOp, WireTensor, parse_graph
from lowtide.wire_errors import GraphError, Problem, pointer_to

from lowtide_client.handles import OpRef, TensorRef

# How in-place pairs combine depends on which tensors are graph outputs, which only the whole graph
# tells.
_DECIDED_LATER = "too_many_modes"


@dataclass(frozen=True, slots=True)
class CheckedOp:
    """An op and the tensors it makes, each valid."""

    op: WireOp
    outputs: tuple[WireTensor, ...]


def check_graph_name(name: str) -> None:
    """Raises GraphError unless this can be a graph's name."""
    parse_graph(_document([], [], []) | {"name": name})


def check_tensor(fields: Mapping[str, object], index: int) -> WireTensor:
    """The tensor with these fields, none of them `view_of`, which comes to stand at /tensors/index.

    Raises:
        GraphError: a field is wrong.
    """
    try:
        return parse_graph(_document([fields], [], [])).tensors[0]
    except GraphError as error:
        raise _moved(error, {pointer_to("tensors", 0): pointer_to("tensors", index)}) from None


def check_op(
    fields: Mapping[str, object],
    outputs: Sequence[Mapping[str, object]],
    known: Sequence[TensorRef],
    after: Sequence[OpRef],
    op_index: int,
    first_output_index: int,
) -> CheckedOp:
    """The op with these fields, which comes to stand at /ops/op_index, and the tensors it makes.

    Args:
        outputs: fields of the tensors it makes, under new names; they come to stand from
            /tensors/first_output_index on.
        known: every existing tensor it names.
        after: every op it names.

    Raises:
        GraphError: a field is wrong, or they do not go together.
    """
    existing = _with_bases(known)
    tensors = [_as_known(tensor) for tensor in existing.values()]
    earlier = {op.name: {"name": op.name, "inputs": (), "outputs": ()} for op in after}
    document = _document([*tensors, *outputs], [*earlier.values(), fields], list(existing)) | {
        "pinned": [tensor.name for tensor in existing.values() if tensor.is_pinned]
    }
    try:
        graph = parse_graph(document)
    except GraphError as error:
        places = {pointer_to("ops", len(earlier)): pointer_to("ops", op_index)}
        for i in range(len(outputs)):
            here = pointer_to("tensors", len(tensors) + i)
            places[here] = pointer_to("tensors", first_output_index + i)
        now = [problem for problem in error.problems if problem.code != _DECIDED_LATER]
        if now:
            raise _moved(GraphError(now, error.omitted), places) from None
        return CheckedOp(
            WireOp.model_validate(fields),
            tuple(WireTensor.model_validate(each) for each in outputs),
        )
    return CheckedOp(graph.ops[-1], graph.tensors[len(tensors) :])


def _document(
    tensors: Sequence[Mapping[str, object]],
    ops: Sequence[Mapping[str, object]],
    inputs: Sequence[str],
) -> dict[str, object]:
    """A graph whose existing tensors are inputs: who makes them does not matter to a later op."""
    return {"format": FORMAT, "tensors": tensors, "ops": ops, "inputs": inputs, "outputs": ()}


def _with_bases(tensors: Sequence[TensorRef]) -> dict[str, TensorRef]:
    found: dict[str, TensorRef] = {}
    for each in tensors:
        tensor: TensorRef | None = each
        while tensor is not None and tensor.name not in found:
            found[tensor.name] = tensor
            tensor = tensor.view_of
    return found


def _as_known(tensor: TensorRef) -> dict[str, object]:
    base = None if tensor.view_of is None else tensor.view_of.name
    return {"name": tensor.name, "bytes": 0, "view_of": base}


def _moved(error: GraphError, places: Mapping[str, str]) -> GraphError:
    """The error with its pointers into the small graph replaced by pointers into the whole one."""
    return GraphError([_moved_problem(each, places) for each in error.problems], error.omitted)


def _moved_problem(problem: Problem, places: Mapping[str, str]) -> Problem:
    steps = problem.pointer.split("/", 3)  # "", "ops", "3", rest
    place = places.get("/".join(steps[:3]))
    if place is None:
        return problem
    pointer = "/".join([place, *steps[3:]])
    return Problem(problem.code, problem.message, pointer, problem.subject)
