"""Damage to the graph, under the same certificate or one that says it is for the new graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowtide.wire_errors import GraphError

from tests.oracles.canonical_positions import canonical_positions
from tests.oracles.mutation.draft import Draft, Mutator, Useless


def _change_graph(draft: Draft) -> bool:
    """Another graph, the certificate as it was: the hash has to tell unless they mean the same."""
    before: str = draft.fields["graph_hash"]
    return _hash_of_changed_graph(draft) != before


def _change_graph_and_hash(draft: Draft) -> bool:
    """Another graph, and a certificate that says it is for that one."""
    draft.fields["graph_hash"] = _hash_of_changed_graph(draft)
    return False


def _hash_of_changed_graph(draft: Draft) -> str:
    wire = draft.own_wire()
    _CHANGES_OF_GRAPH[draft.rng.choice(list(_CHANGES_OF_GRAPH))](draft, wire)
    try:
        return canonical_positions(wire).graph_hash
    except GraphError:
        raise Useless from None


def _change_size(draft: Draft, wire: dict[str, Any]) -> None:
    tensor = wire["tensors"][draft.pick(wire["tensors"])]
    tensor["bytes"] = max(0, draft.off_by_some(tensor["bytes"]))


def _change_workspace(draft: Draft, wire: dict[str, Any]) -> None:
    op = wire["ops"][draft.pick(wire["ops"])]
    op["workspace_bytes"] = max(0, draft.off_by_some(op.get("workspace_bytes", 0)))


def _change_dependency(draft: Draft, wire: dict[str, Any]) -> None:
    ops = wire["ops"]
    later = draft.pick(ops)
    after = list(ops[later].get("after", ()))
    if after and draft.rng.random() < 0.5:
        del after[draft.pick(after)]
    else:
        after.append(ops[draft.rng.randrange(later + 1)]["name"])
    ops[later]["after"] = after


def _change_reads(draft: Draft, wire: dict[str, Any]) -> None:
    op = wire["ops"][draft.pick(wire["ops"])]
    if op["inputs"] and draft.rng.random() < 0.6:
        del op["inputs"][draft.pick(op["inputs"])]
    else:
        op["inputs"].append(wire["tensors"][draft.pick(wire["tensors"])]["name"])


def _change_list(field: str) -> Callable[[Draft, dict[str, Any]], None]:
    """Adds a tensor to the graph outputs or to the pinned inputs, or takes one out."""

    def change(draft: Draft, wire: dict[str, Any]) -> None:
        names = list(wire.get(field, ()))
        if names and draft.rng.random() < 0.5:
            del names[draft.pick(names)]
        else:
            made = [name for op in wire["ops"] for name in op["outputs"]]
            possible = wire["inputs"] + (made if field == "outputs" else [])
            names.append(possible[draft.pick(possible)])
        wire[field] = names

    return change


def _drop_from_op(field: str) -> Callable[[Draft, dict[str, Any]], None]:
    def drop(draft: Draft, wire: dict[str, Any]) -> None:
        having = [op for op in wire["ops"] if op.get(field)]
        op = having[draft.pick(having)]
        del op[field][draft.pick(op[field])]

    return drop


_CHANGES_OF_GRAPH: dict[str, Callable[[Draft, dict[str, Any]], None]] = {
    "size": _change_size,
    "workspace": _change_workspace,
    "dependency": _change_dependency,
    "reads": _change_reads,
    "outputs": _change_list("outputs"),
    "pinned": _change_list("pinned"),
    "in_place": _drop_from_op("in_place"),
    "mutates": _drop_from_op("mutates"),
}


GRAPH_MUTATORS: dict[str, Mutator] = {
    "graph.other": _change_graph,
    "graph.other_and_hash": _change_graph_and_hash,
}
