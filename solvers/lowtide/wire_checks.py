"""The rules of `lowtide.graph/1` between fields: who makes what, and who may name it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lowtide.aliases import GRAPH_INPUT, NOBODY, Aliases, index_names, resolve_aliases
from lowtide.wire_errors import ProblemList, pointer_to, quoted, quoted_cycle
from lowtide.wire_in_place import check_in_place
from lowtide.wire_order import check_order

if TYPE_CHECKING:
    from lowtide.wire import GraphFields, WireOp

_MAX_TOTAL = 2**62


def check_rules(graph: GraphFields, problems: ProblemList) -> None:
    """Adds every broken rule (docs/memory-model.md) to `problems`. Linear time."""
    aliases = resolve_aliases(graph.tensors, graph.ops, graph.inputs)
    op_index_of = index_names([op.name for op in graph.ops])
    if len(aliases.index_of) != len(graph.tensors):
        _report_duplicates("tensor", [tensor.name for tensor in graph.tensors], problems)
    if len(op_index_of) != len(graph.ops):
        _report_duplicates("op", [op.name for op in graph.ops], problems)
    _check_views(graph, aliases, problems)
    _check_graph_lists(graph, aliases, problems)
    suspects = _ops_to_look_at(graph, aliases)
    for v in suspects:
        op = graph.ops[v]
        _check_inputs(v, op, aliases, problems)
        _check_outputs(v, op, aliases, problems)
        _check_mutates(v, op, aliases, problems)
        _check_after(v, op, op_index_of, problems)
    check_in_place(graph, aliases, problems)
    check_order(graph, aliases, op_index_of, suspects, problems)
    _check_totals(graph, problems)


def _ops_to_look_at(graph: GraphFields, aliases: Aliases) -> list[int]:
    """All ops but those at which one quick look shows that no rule is broken; most ops are such.

    An op needs no second look if it makes roots only, each once and each first, if everything it
    reads is a graph input or made by an op listed earlier, and if it has no `mutates`, no `after`.
    """
    maker_of = {name: aliases.maker[index] for name, index in aliases.index_of.items()}
    root_made_by = {
        name: aliases.own_maker[index]
        for name, index in aliases.index_of.items()
        if aliases.base[index] is None
    }
    suspects = []
    for v, op in enumerate(graph.ops):
        if op.mutates or op.after or len(set(op.outputs)) != len(op.outputs):
            suspects.append(v)
            continue
        for name in op.inputs:
            if not GRAPH_INPUT <= maker_of.get(name, NOBODY) < v:
                suspects.append(v)
                break
        else:
            for name in op.outputs:
                if root_made_by.get(name) != v:
                    suspects.append(v)
                    break
    return suspects


def _report_duplicates(kind: str, names: Sequence[str], problems: ProblemList) -> None:
    first_at: dict[str, int] = {}
    for index, name in enumerate(names):
        first = first_at.setdefault(name, index)
        if first != index:
            message = (
                f"{kind} {quoted(name)} is already listed at /{kind}s/{first}; rename one of them"
            )
            problems.add(f"duplicate_{kind}", message, f"/{kind}s/{index}/name", name)


def _report_unknown_tensor(pointer: str, name: str, user: str, problems: ProblemList) -> None:
    message = (
        f"{user} names tensor {quoted(name)}, which is not listed in /tensors; add or correct it"
    )
    problems.add("unknown_tensor", message, pointer, name)


def _report_repeats(names: Sequence[str], pointer: str, owner: str, problems: ProblemList) -> None:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            message = f"{owner} lists {quoted(name)} more than once; list it once"
            problems.add("duplicate_entry", message, f"{pointer}/{index}", name)
        seen.add(name)


def _check_views(graph: GraphFields, aliases: Aliases, problems: ProblemList) -> None:
    for index, tensor in enumerate(graph.tensors):
        if tensor.view_of is not None and aliases.base[index] is None:
            pointer = pointer_to("tensors", index, "view_of")
            message = (
                f"tensor {quoted(tensor.name)} is a view of {quoted(tensor.view_of)}, "
                "which is not listed in /tensors; add or correct it"
            )
            problems.add("unknown_tensor", message, pointer, tensor.view_of)
    for start in aliases.on_view_cycle:
        name = graph.tensors[start].name
        chain = [name]
        base = aliases.base[start]
        while base is not None and base != start:
            chain.append(graph.tensors[base].name)
            base = aliases.base[base]
        message = (
            f"tensor {quoted(name)} is a view of itself ({quoted_cycle(chain)}); "
            "one of them must own the storage"
        )
        problems.add("view_cycle", message, pointer_to("tensors", start, "view_of"), name)


def _check_graph_lists(graph: GraphFields, aliases: Aliases, problems: ProblemList) -> None:
    for field in ("inputs", "outputs", "pinned"):
        names: Sequence[str] = getattr(graph, field)
        if len(set(names)) != len(names):
            _report_repeats(names, f"/{field}", f"/{field}", problems)
    listed_inputs = set(graph.inputs)
    for position, name in enumerate(graph.inputs):
        index = aliases.index_of.get(name)
        pointer = f"/inputs/{position}"
        if index is None:
            _report_unknown_tensor(pointer, name, "/inputs", problems)
        elif aliases.base[index] is not None and (
            aliases.own_maker[aliases.root[index]] != GRAPH_INPUT and aliases.root[index] != index
        ):
            root = graph.tensors[aliases.root[index]].name
            message = (
                f"graph input {quoted(name)} is a view of {quoted(root)}, which is not a graph "
                f"input; list {quoted(root)} in /inputs too, or take {quoted(name)} out"
            )
            problems.add("input_view", message, pointer, name)
    for position, name in enumerate(graph.outputs):
        index = aliases.index_of.get(name)
        pointer = f"/outputs/{position}"
        if index is None:
            _report_unknown_tensor(pointer, name, "/outputs", problems)
        elif aliases.maker[index] == NOBODY:
            message = (
                f"graph output {quoted(name)} is made by no op and is not a graph input; "
                "list it among an op's outputs or in /inputs"
            )
            problems.add("never_made", message, pointer, name)
    for position, name in enumerate(graph.pinned):
        pointer = f"/pinned/{position}"
        if name not in aliases.index_of:
            _report_unknown_tensor(pointer, name, "/pinned", problems)
        elif name not in listed_inputs:
            message = (
                f"pinned tensor {quoted(name)} is not a graph input; only /inputs can be pinned"
            )
            problems.add("pinned_not_input", message, pointer, name)


def _check_inputs(v: int, op: WireOp, aliases: Aliases, problems: ProblemList) -> None:
    index_of, maker = aliases.index_of, aliases.maker
    for position, name in enumerate(op.inputs):
        index = index_of.get(name)
        if index is None:
            pointer = pointer_to("ops", v, "inputs", position)
            _report_unknown_tensor(pointer, name, f"op {quoted(op.name)}", problems)
        elif maker[index] == NOBODY:
            message = (
                f"op {quoted(op.name)} reads {quoted(name)}, which no op makes and which is not a "
                "graph input; list it among an op's outputs or in /inputs"
            )
            problems.add("never_made", message, pointer_to("ops", v, "inputs", position), name)


def _check_outputs(v: int, op: WireOp, aliases: Aliases, problems: ProblemList) -> None:
    index_of, own_maker = aliases.index_of, aliases.own_maker
    if len(set(op.outputs)) != len(op.outputs):
        pointer = pointer_to("ops", v, "outputs")
        _report_repeats(op.outputs, pointer, f"op {quoted(op.name)}", problems)
    for position, name in enumerate(op.outputs):
        index = index_of.get(name)
        if index is None:
            pointer = pointer_to("ops", v, "outputs", position)
            _report_unknown_tensor(pointer, name, f"op {quoted(op.name)}", problems)
            continue
        if own_maker[index] == GRAPH_INPUT:
            message = (
                f"op {quoted(op.name)} makes {quoted(name)}, which is a graph input; give what the "
                'op makes another name, or use "mutates" to overwrite an input'
            )
            problems.add("produced_input", message, pointer_to("ops", v, "outputs", position), name)
        elif own_maker[index] != v:
            message = (
                f"{quoted(name)} is made by op {quoted(op.name)} and by the op at "
                f"/ops/{own_maker[index]}; a tensor has one producer: rename one of the outputs"
            )
            problems.add("two_producers", message, pointer_to("ops", v, "outputs", position), name)
        base = aliases.base[index]
        if base is not None and aliases.maker[base] == NOBODY:
            message = (
                f"op {quoted(op.name)} makes {quoted(name)}, a view of a tensor that no op makes "
                'and that is not a graph input; make its base first, or drop its "view_of"'
            )
            problems.add("never_made", message, pointer_to("ops", v, "outputs", position), name)


def _check_mutates(v: int, op: WireOp, aliases: Aliases, problems: ProblemList) -> None:
    if len(set(op.mutates)) != len(op.mutates):
        _report_repeats(
            op.mutates, pointer_to("ops", v, "mutates"), f"op {quoted(op.name)}", problems
        )
    own_inputs = set(op.inputs)
    for position, name in enumerate(op.mutates):
        pointer = pointer_to("ops", v, "mutates", position)
        if name not in aliases.index_of:
            _report_unknown_tensor(pointer, name, f"op {quoted(op.name)}", problems)
        elif name not in own_inputs:
            message = (
                f"op {quoted(op.name)} mutates {quoted(name)}, which is not among its inputs; "
                "list it there"
            )
            problems.add("mutates_not_input", message, pointer, name)


def _check_after(v: int, op: WireOp, op_index_of: dict[str, int], problems: ProblemList) -> None:
    if len(set(op.after)) != len(op.after):
        _report_repeats(op.after, pointer_to("ops", v, "after"), f"op {quoted(op.name)}", problems)
    for position, name in enumerate(op.after):
        if name not in op_index_of:
            message = (
                f"op {quoted(op.name)} runs after op {quoted(name)}, which is not listed in /ops; "
                "add or correct it"
            )
            problems.add("unknown_op", message, pointer_to("ops", v, "after", position), name)


def _check_totals(graph: GraphFields, problems: ProblemList) -> None:
    """Keeps every sum of bytes or costs that an answer can hold within 2^62."""
    storages = [(i, t) for i, t in enumerate(graph.tensors) if t.view_of is None]
    total = sum(t.bytes for _, t in storages) + sum(op.workspace_bytes for op in graph.ops)
    if total > _MAX_TOTAL:
        sizes = [(t.bytes, f"/tensors/{i}/bytes", t.name) for i, t in storages]
        for v, op in enumerate(graph.ops):
            sizes.append((op.workspace_bytes, f"/ops/{v}/workspace_bytes", op.name))
        _, pointer, name = max(sizes)
        message = (
            f"all tensors and workspaces together take {total} bytes, more than 2^62; "
            f"the largest is that of {quoted(name)}: correct the sizes"
        )
        problems.add("total_bytes", message, pointer, name)
    costs = sum(op.cost for op in graph.ops)
    if costs > _MAX_TOTAL:
        v, dearest = max(enumerate(graph.ops), key=lambda item: item[1].cost)
        message = (
            f"the costs of all ops together are {costs}, more than 2^62; the dearest op is "
            f"{quoted(dearest.name)}: choose a larger unit"
        )
        problems.add("total_cost", message, f"/ops/{v}/cost", dearest.name)
