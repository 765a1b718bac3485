"""`lowtide.graph/1`: the graph as it comes in and goes out (design, section 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from lowtide.wire_checks import check_rules
from lowtide.wire_errors import EnoughProblemsError, GraphError, Problem, ProblemList
from lowtide.wire_json import parse_json

FORMAT = "lowtide.graph/1"
MAX_AMOUNT = 2**62
"""Largest size, workspace or cost, of one op or tensor and of a whole graph."""
MAX_NAME_CHARACTERS = 4096
MAX_RUNS = 2**31 - 1

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_CHARACTERS)]
Text = Annotated[str, StringConstraints(max_length=MAX_NAME_CHARACTERS)]
Amount = Annotated[int, Field(ge=0, le=MAX_AMOUNT)]
# A JSON list is a Python list, which strict mode would refuse for a tuple. One bad entry of a list
# of names speaks for the list: millions of them must not become millions of errors.
Names = Annotated[tuple[Name, ...], Strict(False), Field(fail_fast=True)]
NamePair = Annotated[tuple[Name, Name], Strict(False)]
NamePairs = Annotated[tuple[NamePair, ...], Strict(False), Field(fail_fast=True)]


class _Wire(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class WireTensor(_Wire):
    """A tensor. With `view_of` it is a further name for that tensor's storage, `bytes` ignored."""

    name: Name
    bytes: Amount
    view_of: Name | None = None


class WireOp(_Wire):
    """An op. `after` names ops, every other list tensors; `in_place` pairs are [output, input]."""

    name: Name
    kind: Text = ""
    inputs: Names
    outputs: Names
    cost: Amount = 0
    workspace_bytes: Amount = 0
    in_place: NamePairs = ()
    mutates: Names = ()
    after: Names = ()
    max_runs: Annotated[int, Field(ge=1, le=MAX_RUNS)] | None = None


class GraphFields(_Wire):
    """The fields of a graph, each valid by itself."""

    format: Literal["lowtide.graph/1"]
    name: Text = ""
    tensors: Annotated[tuple[WireTensor, ...], Strict(False), Field(fail_fast=True)]
    ops: Annotated[tuple[WireOp, ...], Strict(False), Field(fail_fast=True)]
    inputs: Names
    outputs: Names
    pinned: Names = ()


class WireGraph(GraphFields):
    """A graph that obeys every rule of the format, as every value of this type does.

    Ops are listed in the given order, which respects all dependencies. Construction raises
    pydantic's ValidationError; `parse_graph` turns that into a GraphError with every problem.
    """

    @model_validator(mode="after")
    def _rules_hold(self) -> Self:
        problems = ProblemList(enough=1)
        try:
            check_rules(self, problems)
        except EnoughProblemsError:
            first = str(problems.error())
            # As a value, not as the template: names may hold braces.
            raise PydanticCustomError("graph_rules", "{problem}", {"problem": first}) from None
        return self


def parse_graph(data: bytes | bytearray | str | Mapping[str, object]) -> WireGraph:
    """A graph from JSON text, or from the dicts and lists that JSON text stands for.

    Time and memory are linear in the input, right or wrong.

    Raises:
        GraphError: with every problem, each with its JSON pointer and the op or tensor at fault.
    """
    document = parse_json(data) if isinstance(data, bytes | bytearray | str) else data
    if not isinstance(document, Mapping):
        message = f"a graph is a JSON object, not {_kind_of(document)}"
        raise GraphError([Problem("wrong_type", message, "")])
    fields = dict(document)
    try:
        return WireGraph.model_validate(fields)
    except ValidationError:
        # Validation stops at the first problem of a list; what follows looks for all of them.
        from lowtide.wire_problems import find_problems

        raise find_problems(fields) from None


def dump_graph(graph: WireGraph) -> bytes:
    """The graph as compact JSON, defaults left out; `parse_graph` reads it back."""
    return graph.model_dump_json(exclude_defaults=True).encode()


def _kind_of(value: object) -> str:
    return "null" if value is None else type(value).__name__
