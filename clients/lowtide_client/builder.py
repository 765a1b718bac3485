"""GraphBuilder: `lowtide.graph/1` in a few lines of Python (docs/python.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, SupportsIndex, TypeVar, overload

from lowtide.wire import FORMAT, MAX_AMOUNT, WireGraph, WireOp, WireTensor, parse_graph
from lowtide.wire_errors import GraphError, Problem, pointer_to, quoted

from lowtide_client.builder_checks import check_graph_name, check_op, check_tensor
from lowtide_client.handles import OpRef, TensorRef, View

Out = tuple[str, int] | View
"""An output: its name and size in bytes, or a View of an existing tensor."""
InPlace = TensorRef | tuple[str, TensorRef]
"""An input whose memory an output may take over; with several outputs, after the output's name."""

Handle = TypeVar("Handle", TensorRef, OpRef)

__all__ = ["GraphBuilder", "InPlace", "OpRef", "Out", "TensorRef", "View"]


class GraphBuilder:
    """Builds one graph, op by op, in the order the program has today.

    Each call checks what it is given against everything before it: the line that is wrong is the
        line that raises.
    Tensors and ops are named by the handles that earlier calls returned, so nothing can be
    misspelt, and an op can only come after what it depends on.

    All methods raise GraphError for what the graph format forbids (the pointer says where it would
    stand) and
    TypeError for an argument that is no handle.
    """

    def __init__(self, name: str = "") -> None:
        """`name` is the graph's."""
        check_graph_name(name)
        self._name = name
        self._tensors: dict[str, WireTensor] = {}
        self._ops: dict[str, WireOp] = {}
        self._inputs: list[str] = []
        self._outputs: dict[str, None] = {}
        self._pinned: list[str] = []
        self._total_bytes = 0
        self._total_cost = 0

    def input(self, name: str, size_bytes: int, *, pinned: bool = False) -> TensorRef:
        """A graph input: freed after its last use, unless it is `pinned`: the caller keeps it."""
        self._check_new_names([name])
        tensor = check_tensor({"name": name, "bytes": _plain(size_bytes)}, len(self._tensors))
        self._check_total_bytes(tensor.bytes, self._next_tensor("bytes"), name)
        self._add_tensors([tensor])
        self._inputs.append(name)
        if pinned:
            self._pinned.append(name)
        return TensorRef(name, tensor.bytes, None, None, pinned, self)

    def view(self, name: str, of: TensorRef) -> TensorRef:
        """One more name for a tensor's storage that no op has to make (else, see View)."""
        [base] = self._handles(
            f"view {_shown(name)}", [of], TensorRef, self._next_tensor("view_of")
        )
        self._check_new_names([name])
        tensor = check_tensor({"name": name, "bytes": base.size_bytes}, len(self._tensors))
        self._add_tensors([tensor.model_copy(update={"view_of": base.name})])
        return TensorRef(name, base.size_bytes, base, None, base.is_pinned, self)

    @overload
    def op(
        self,
        name: str,
        kind: str,
        inputs: Sequence[TensorRef],
        *,
        out: Out,
        in_place: Sequence[InPlace] = (),
        mutates: Sequence[TensorRef] = (),
        after: Sequence[OpRef] = (),
        workspace_bytes: int = 0,
        cost: int = 0,
        max_runs: int | None = None,
    ) -> TensorRef: ...

    @overload
    def op(
        self,
        name: str,
        kind: str,
        inputs: Sequence[TensorRef],
        *,
        outs: Sequence[Out],
        in_place: Sequence[InPlace] = (),
        mutates: Sequence[TensorRef] = (),
        after: Sequence[OpRef] = (),
        workspace_bytes: int = 0,
        cost: int = 0,
        max_runs: int | None = None,
    ) -> tuple[TensorRef, ...]: ...

    @overload
    def op(
        self,
        name: str,
        kind: str,
        inputs: Sequence[TensorRef],
        *,
        in_place: Sequence[InPlace] = (),
        mutates: Sequence[TensorRef] = (),
        after: Sequence[OpRef] = (),
        workspace_bytes: int = 0,
        cost: int = 0,
        max_runs: int | None = None,
    ) -> OpRef: ...

    def op(
        self,
        name: str,
        kind: str,
        inputs: Sequence[TensorRef],
        *,
        out: Out | None = None,
        outs: Sequence[Out] | None = None,
        in_place: Sequence[InPlace] = (),
        mutates: Sequence[TensorRef] = (),
        after: Sequence[OpRef] = (),
        workspace_bytes: int = 0,
        cost: int = 0,
        max_runs: int | None = None,
    ) -> TensorRef | tuple[TensorRef, ...] | OpRef:
        """The next op of the program.

        Args:
            inputs: the tensors it reads.
            out: its only output.
            outs: its outputs, when there are several.
            in_place: inputs whose memory its output may take over when the op is their last user.
            mutates: inputs it overwrites: whoever came before keeps seeing the old contents,
                whoever comes later sees the new.
            after: ops it has to follow although it reads nothing of theirs.
            workspace_bytes: scratch it holds only while it runs.
            cost: multiply-accumulates, or any one unit.
            max_runs: how often a recomputation plan may run it.

        Returns:
            The output (`out`), the outputs (`outs`), or the op itself when it has none.
        """
        if out is not None and outs is not None:
            raise TypeError(f"op {_shown(name)}: give either out or outs, not both")
        owner, place = f"op {_shown(name)}", pointer_to("ops", len(self._ops))
        specified = [out] if out is not None else _listed(f"{owner}: outs", outs or ())
        read = self._handles(f"{owner}: inputs", inputs, TensorRef, f"{place}/inputs")
        overwritten = self._handles(f"{owner}: mutates", mutates, TensorRef, f"{place}/mutates")
        earlier = self._handles(f"{owner}: after", after, OpRef, f"{place}/after")
        outputs = [self._output_fields(owner, each, f"{place}/outputs") for each in specified]
        pairs = [
            self._in_place_pair(f"{owner}: in_place", each, outputs, f"{place}/in_place")
            for each in _listed(f"{owner}: in_place", in_place)
        ]
        self._check_new_names([output["name"] for output in outputs])
        if name in self._ops:
            message = f"{owner} is there already; rename one of them"
            raise GraphError([Problem("duplicate_op", message, f"{place}/name", name)])
        fields = {
            "name": name,
            "kind": kind,
            "inputs": [tensor.name for tensor in read],
            "outputs": [output["name"] for output in outputs],
            "in_place": [[output, taken.name] for output, taken in pairs],
            "mutates": [tensor.name for tensor in overwritten],
            "after": [other.name for other in earlier],
            "workspace_bytes": _plain(workspace_bytes),
            "cost": _plain(cost),
            "max_runs": _plain(max_runs),
        }
        bases = [each.of for each in specified if isinstance(each, View)]
        known = [*read, *overwritten, *bases, *(taken for _, taken in pairs)]
        checked = check_op(fields, outputs, known, earlier, len(self._ops), len(self._tensors))
        added_bytes = _own_bytes(checked.outputs) + checked.op.workspace_bytes
        self._check_total_bytes(added_bytes, place, name)
        self._check_total_cost(checked.op.cost, f"{place}/cost", name)
        self._add_tensors(checked.outputs)
        self._add_op(checked.op)
        op = OpRef(name, len(self._ops) - 1, self)
        made = tuple(
            self._made_by(op, tensor, each)
            for tensor, each in zip(checked.outputs, specified, strict=True)
        )
        if out is not None:
            return made[0]
        return op if outs is None else made

    def output(self, *tensors: TensorRef) -> None:
        """Graph outputs: live from their making to the end."""
        place = pointer_to("outputs", len(self._outputs))
        added: dict[str, None] = {}
        for tensor in self._handles("output()", tensors, TensorRef, place):
            if tensor.name in self._outputs or tensor.name in added:
                message = f"{quoted(tensor.name)} is a graph output already; list it once"
                raise GraphError([Problem("duplicate_entry", message, place, tensor.name)])
            added[tensor.name] = None
        self._outputs.update(added)

    def build(self) -> WireGraph:
        """The graph so far. Building goes on afterwards, if wanted.

        Raises:
            GraphError: the in-place pairs of an op combine in too many ways (whether they count
                depends on the graph's outputs, so only now can it be told).
        """
        return parse_graph(
            {
                "format": FORMAT,
                "name": self._name,
                "tensors": list(self._tensors.values()),
                "ops": list(self._ops.values()),
                "inputs": self._inputs,
                "outputs": list(self._outputs),
                "pinned": self._pinned,
            }
        )

    def _output_fields(self, owner: str, out: object, place: str) -> dict[str, Any]:
        if isinstance(out, View):
            what = f"{owner}: View {_shown(out.name)}"
            [base] = self._handles(what, [out.of], TensorRef, place)
            return {"name": out.name, "bytes": base.size_bytes, "view_of": base.name}
        if not isinstance(out, tuple) or len(out) != 2:
            raise TypeError(
                f"{owner}: an output is (name, bytes) or View(name, of=tensor), not {out!r:.200}"
            )
        name, size_bytes = out
        if isinstance(size_bytes, TensorRef):
            raise TypeError(
                f"{owner}: the size of output {_shown(name)} is a tensor; "
                f"for a view of it write View({name!r:.200}, of=...)"
            )
        return {"name": name, "bytes": _plain(size_bytes)}

    def _in_place_pair(
        self, what: str, pair: object, outputs: Sequence[dict[str, Any]], place: str
    ) -> tuple[str, TensorRef]:
        if isinstance(pair, tuple) and len(pair) == 2:
            output, taken = pair
            if not isinstance(output, str):
                raise TypeError(f"{what}: an output is named by its name, not by {output!r:.200}")
        elif len(outputs) == 1:
            output, taken = outputs[0]["name"], pair
        else:
            raise TypeError(
                f"{what}: of the op's {len(outputs)} outputs, say which one takes the memory: "
                "(output name, input)"
            )
        if all(output != made["name"] for made in outputs):
            message = (
                f"{what}: {quoted(output)} is not an output of this op; a pair is (output, input)"
            )
            raise GraphError([Problem("in_place_output", message, place, output)])
        [checked] = self._handles(what, [taken], TensorRef, place)
        return output, checked

    def _handles(self, what: str, items: object, kind: type[Handle], place: str) -> list[Handle]:
        """The items, if all are handles of this kind and this builder."""
        handles = _listed(what, items)
        for handle in handles:
            if not isinstance(handle, kind):
                raise TypeError(
                    f"{what}: {_shown(handle)} is of type {type(handle).__name__}; "
                    f"pass {_WANTED[kind]}"
                )
            if handle.owner is not self:
                message = (
                    f"{what}: {quoted(handle.name)} belongs to another GraphBuilder; "
                    "use handles of this one"
                )
                raise GraphError([Problem("foreign_handle", message, place, handle.name)])
        return handles

    def _made_by(self, op: OpRef, tensor: WireTensor, specified: Out) -> TensorRef:
        base = specified.of if isinstance(specified, View) else None
        pinned = base is not None and base.is_pinned
        return TensorRef(tensor.name, tensor.bytes, base, op, pinned, self)

    def _next_tensor(self, field: str) -> str:
        return pointer_to("tensors", len(self._tensors), field)

    def _check_new_names(self, names: Sequence[object]) -> None:
        """Raises GraphError for a tensor name that is taken. What is no name the format refuses."""
        taken = dict.fromkeys(name for name in names if isinstance(name, str))
        for position, name in enumerate(names):
            if isinstance(name, str) and (name in self._tensors or name not in taken):
                message = f"tensor {quoted(name)} is there already; rename one of them"
                place = pointer_to("tensors", len(self._tensors) + position, "name")
                raise GraphError([Problem("duplicate_tensor", message, place, name)])
            if isinstance(name, str):
                del taken[name]

    def _check_total_bytes(self, added: int, place: str, subject: str) -> None:
        total = self._total_bytes + added
        if total > MAX_AMOUNT:
            message = (
                f"with {quoted(subject)}, all tensors and workspaces together take {total} bytes, "
                "more than 2^62; correct the sizes"
            )
            raise GraphError([Problem("total_bytes", message, place, subject)])

    def _check_total_cost(self, added: int, place: str, subject: str) -> None:
        total = self._total_cost + added
        if total > MAX_AMOUNT:
            message = (
                f"with {quoted(subject)}, the costs of all ops together are {total}, "
                "more than 2^62; choose a larger unit"
            )
            raise GraphError([Problem("total_cost", message, place, subject)])

    def _add_tensors(self, tensors: Sequence[WireTensor]) -> None:
        self._tensors.update((tensor.name, tensor) for tensor in tensors)
        self._total_bytes += _own_bytes(tensors)

    def _add_op(self, op: WireOp) -> None:
        self._ops[op.name] = op
        self._total_bytes += op.workspace_bytes
        self._total_cost += op.cost


_WANTED: dict[type, str] = {
    TensorRef: "tensors that this builder's input(), view() or op() returned",
    OpRef: "ops: what op() returns for an op without outputs, or the .op of a tensor",
}


def _own_bytes(tensors: Sequence[WireTensor]) -> int:
    return sum(tensor.bytes for tensor in tensors if tensor.view_of is None)


def _plain(value: object) -> object:
    """Integers of other libraries (numpy's, say) as Python's own; anything else as it is."""
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return index(value)
    return value


def _listed(what: str, items: object) -> list[Any]:
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise TypeError(f"{what}: a list is wanted, not {_shown(items)}")
    return list(items)


def _shown(value: object) -> str:
    if isinstance(value, TensorRef | OpRef | View):
        return quoted(value.name)
    return quoted(value) if isinstance(value, str) else repr(value)[:200]
