"""Graphs that keep a search busy, and ways to relist a graph, for tests of limits, cancellation and
caching.
"""

from __future__ import annotations

import random
from typing import Any


def hard_wire(width: int = 40, layers: int = 6, seed: int = 11) -> dict[str, Any]:
    """A random layered graph that no bound settles: every op reads three of the layer before."""
    rng = random.Random(seed)
    tensors, ops = [], []
    for layer in range(layers):
        for at in range(width):
            name = f"t{layer}_{at}"
            tensors.append({"name": name, "bytes": rng.randrange(1000, 9000)})
            inputs = [f"t{layer - 1}_{b}" for b in rng.sample(range(width), 3)] if layer else []
            workspace = rng.randrange(0, 4000)
            ops.append(
                {
                    "name": f"op{layer}_{at}",
                    "kind": "Any",
                    "inputs": inputs,
                    "outputs": [name],
                    "workspace_bytes": workspace,
                }
            )
    return {
        "format": "lowtide.graph/1",
        "name": "hard",
        "tensors": tensors,
        "ops": ops,
        "inputs": [],
        "outputs": [f"t{layers - 1}_{at}" for at in range(width)],
    }


def relisted(wire: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The same graph with all names changed, tensors shuffled and ops in another valid listing.

    For graphs without `mutates`, whose meaning depends on the listing.
    """
    tensor_names = {t["name"]: f"tensor-{n}" for n, t in enumerate(_shuffled(wire["tensors"], rng))}
    op_names = {op["name"]: f"op-{n}" for n, op in enumerate(_shuffled(wire["ops"], rng))}

    def renamed(names: list[str]) -> list[str]:
        return [tensor_names[name] for name in names]

    ops = [
        {
            **op,
            "name": op_names[op["name"]],
            "inputs": renamed(op.get("inputs", [])),
            "outputs": renamed(op.get("outputs", [])),
            "in_place": [renamed(pair) for pair in op.get("in_place", [])],
            "after": [op_names[name] for name in op.get("after", [])],
        }
        for op in _another_listing(wire, rng)
    ]
    tensors = [
        {
            **tensor,
            "name": tensor_names[tensor["name"]],
            **({"view_of": tensor_names[tensor["view_of"]]} if tensor.get("view_of") else {}),
        }
        for tensor in _shuffled(wire["tensors"], rng)
    ]
    return {
        **wire,
        "name": "relisted",
        "tensors": tensors,
        "ops": ops,
        **{key: renamed(wire[key]) for key in ("inputs", "outputs", "pinned") if key in wire},
    }


def _shuffled(items: list[Any], rng: random.Random) -> list[Any]:
    return rng.sample(items, len(items))


def _another_listing(wire: dict[str, Any], rng: random.Random) -> list[dict[str, Any]]:
    base = {t["name"]: t.get("view_of") for t in wire["tensors"]}
    maker = {name: op["name"] for op in wire["ops"] for name in op.get("outputs", [])}

    def makers(name: str | None) -> set[str]:
        found = set()
        while name is not None:
            if name in maker:
                found.add(maker[name])
            name = base[name]
        return found

    waiting = {}
    for op in wire["ops"]:
        names = [*op.get("inputs", []), *op.get("outputs", [])]
        needs = set(op.get("after", [])).union(*map(makers, names)) if names else set()
        waiting[op["name"]] = needs - {op["name"]}
    by_name = {op["name"]: op for op in wire["ops"]}
    listing: list[dict[str, Any]] = []
    done: set[str] = set()
    while waiting:
        name = rng.choice(sorted(n for n, needs in waiting.items() if needs <= done))
        del waiting[name]
        done.add(name)
        listing.append(by_name[name])
    return listing
