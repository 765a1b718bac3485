"""What a GraphBuilder hands out: tensors and ops of one graph, to be named in later calls."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class OpRef:
    """An op of a graph under construction. `index` is its place in the given order."""

    name: str
    index: int
    owner: object = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class TensorRef:
    """A tensor of a graph under construction.

    Attributes:
        name: its name.
        size_bytes: the size of its storage.
        view_of: the tensor it is a view of, or None when it owns its storage.
        maker: the op that makes it; None for a graph input, and for a view that exists as soon as
            its base does.
        is_pinned: a graph input that the caller keeps.
    """

    name: str
    size_bytes: int
    view_of: TensorRef | None
    maker: OpRef | None
    is_pinned: bool
    owner: object = field(repr=False)

    @property
    def op(self) -> OpRef:
        """The op that makes this tensor, for `after`.

        Raises:
            ValueError: no op makes it.
        """
        if self.maker is None:
            raise ValueError(f'no op makes "{self.name}": it is there from the start')
        return self.maker


@dataclass(frozen=True, slots=True)
class View:
    """An op's output that is one more name for an existing tensor's storage (reshape, slice)."""

    name: str
    of: TensorRef
