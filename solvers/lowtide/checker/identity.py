"""Is a certificate about this graph?"""

from __future__ import annotations

from lowtide.canonical import CanonicalForm, CanonicalInput, canonical_form
from lowtide.checker.model import Model
from lowtide.checker.refusal import Refusal, shown


def form_of(model: Model) -> CanonicalForm:
    """The hash and the canonical positions of the checker's own model."""
    return canonical_form(
        CanonicalInput(
            storage_bytes=model.size_bytes,
            storage_flags=[
                output + 2 * pinned
                for output, pinned in zip(model.is_output, model.is_pinned, strict=True)
            ],
            storage_creator=model.creator,
            storage_users=model.users,
            op_predecessors=model.predecessors,
            op_workspace_bytes=model.workspace_bytes,
            # Every pair that can ever apply is in some mode.
            op_in_place=[
                sorted({(pair.output, pair.input) for mode in modes for pair in mode})
                for modes in model.modes
            ],
        )
    )


def check_hash(form: CanonicalForm, graph_hash: str) -> None:
    """Accepts the hash of this graph; raises Refusal otherwise."""
    if graph_hash != form.graph_hash:
        claimed, actual = shown(graph_hash), shown(form.graph_hash)
        raise Refusal("hash-mismatch", f"the certificate is for graph {claimed}, this is {actual}")
