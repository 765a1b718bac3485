"""What is wrong with a graph, as data: problems, how they are collected, and their error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_REPORTED_PROBLEMS = 100
"""A graph with more problems than this reports the first ones and counts the rest."""
MAX_COUNTED_PROBLEMS = 10_000
"""After so many nobody looks for more: a hostile document must not cost time and memory."""

_MAX_QUOTED_CHARACTERS = 200
_MAX_POINTER_CHARACTERS = 10_000
_MAX_SHOWN_NAMES = 20
# A lone surrogate: no valid name contains one, so no reference can meet a placeholder.
_PLACEHOLDER_MARK = "\ud800"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a graph.

    Attributes:
        code: a stable word for programs, such as `unknown_tensor`.
        message: a sentence for people: what is wrong and what to do.
        pointer: JSON pointer (RFC 6901) to the offending value; empty for the whole document.
        subject: the name of the op or tensor at fault, or None when there is no such name.
    """

    code: str
    message: str
    pointer: str
    subject: str | None = None

    def __str__(self) -> str:
        return f"{self.pointer or '(document)'}: {self.message} [{self.code}]"


class GraphError(ValueError):
    """The input is not a graph in `lowtide.graph/1`.

    Attributes:
        problems: what was found, at most MAX_REPORTED_PROBLEMS.
        omitted: how many more problems were found and left out; a lower bound when it is
            MAX_COUNTED_PROBLEMS - MAX_REPORTED_PROBLEMS, because nobody looked further.
    """

    def __init__(self, problems: Sequence[Problem], omitted: int = 0) -> None:
        self.problems = tuple(problems)
        self.omitted = omitted
        super().__init__(self.problems, omitted)

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        if self.omitted:
            more = len(lines) + self.omitted >= MAX_COUNTED_PROBLEMS
            lines.append(f"... and {'at least ' if more else ''}{self.omitted} more problems")
        return "\n".join(lines)


class EnoughProblemsError(Exception):
    """As many problems as are worth looking for have been found."""


class ProblemList:
    """Collects problems: keeps the first MAX_REPORTED_PROBLEMS, counts on, drops muted codes.

    A code is muted when an earlier problem already explains its reports: where one tensor's name
    could not be read, that some op names an unknown tensor says nothing.
    """

    def __init__(self, enough: int = MAX_COUNTED_PROBLEMS) -> None:
        self._enough = enough
        self._kept: list[Problem] = []
        self._omitted = 0
        self._muted: set[str] = set()

    def mute(self, codes: Iterable[str]) -> None:
        """Drops every later problem with one of these codes."""
        self._muted.update(codes)

    def add(self, code: str, message: str, pointer: str, subject: str | None = None) -> None:
        """Records one problem.

        Raises:
            EnoughProblemsError: this was the last one worth recording; `error` gives them all.
        """
        if code in self._muted:
            return
        if len(self._kept) < MAX_REPORTED_PROBLEMS:
            named = None if subject is None or subject.startswith(_PLACEHOLDER_MARK) else subject
            self._kept.append(Problem(code, message, pointer, named))
        else:
            self._omitted += 1
        if len(self._kept) + self._omitted == self._enough:
            raise EnoughProblemsError

    def error(self) -> GraphError:
        """The problems so far, as an error."""
        return GraphError(self._kept, self._omitted)


def quoted(name: str) -> str:
    """A name as it appears in a message: in quotes, printable, at most about 200 characters."""
    mark = "" if name.startswith(_PLACEHOLDER_MARK) else '"'
    text = name.removeprefix(_PLACEHOLDER_MARK)
    shown = text[:_MAX_QUOTED_CHARACTERS]
    ellipsis = "..." if len(text) > len(shown) else ""
    safe = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
    return f"{mark}{safe}{ellipsis}{mark}"


def quoted_cycle(names: Sequence[str]) -> str:
    """Names along a cycle, the first one again at the end, the middle left out where it is long."""
    shown = [quoted(name) for name in names[:_MAX_SHOWN_NAMES]]
    if len(names) > len(shown):
        shown.append(f"({len(names) - len(shown)} more)")
    return " -> ".join([*shown, quoted(names[0])])


def placeholder_name(text: str) -> str:
    """Stands for a name that could not be read; messages show `text`, problems carry no subject."""
    return _PLACEHOLDER_MARK + text


def pointer_to(*steps: str | int) -> str:
    """JSON pointer (RFC 6901) to the value reached by these keys and indices.

    Where a key is so long that the pointer would pass _MAX_POINTER_CHARACTERS, it stops at the
    object that holds the key.
    """
    pointer = ""
    for step in steps:
        if isinstance(step, str):
            if len(step) > _MAX_POINTER_CHARACTERS:
                break
            step = step.replace("~", "~0").replace("/", "~1")
            step = step.encode("utf-8", "backslashreplace").decode()
        if len(pointer) + len(str(step)) > _MAX_POINTER_CHARACTERS:
            break
        pointer += f"/{step}"
    return pointer
