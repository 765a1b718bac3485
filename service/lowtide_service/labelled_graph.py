"""A graph written down in canonical positions: equal texts prove that two graphs are the same."""

from __future__ import annotations

import hashlib

from lowtide.canonical import CanonicalForm
from lowtide.graph import Graph


def labelled_digest(graph: Graph, form: CanonicalForm) -> str:
    """SHA-256 of all that decides the graph's schedules, in canonical positions. Linear time.

    Equal digests: the map from position to position preserves sizes, flags, creators, users,
    dependencies, workspace and in-place pairs, so an order, a bound and a witness of one graph are
    those of the other. Different digests prove nothing: ties may have been split differently.
    Storages that are never live are left out, as they are of the hash.
    """
    op_position, storage_position = form.op_position, form.storage_position
    description = hashlib.sha256()
    for index in form.op_at:
        op = graph.ops[index]
        predecessors = sorted([op_position[u] for u in op.predecessors])
        pairs = sorted(
            [(storage_position[p.output], storage_position[p.input]) for p in op.in_place]
        )
        description.update(f"{op.workspace_bytes}{predecessors}{pairs}".encode())
    for index in form.storage_at:
        storage = graph.storages[index]
        flags = storage.is_output + 2 * storage.is_pinned
        if storage.creator is None and not storage.users and not flags:
            continue
        creator = -1 if storage.creator is None else op_position[storage.creator]
        users = sorted([op_position[user] for user in storage.users])
        description.update(f"{storage.size_bytes},{flags},{creator}{users}".encode())
    return description.hexdigest()
