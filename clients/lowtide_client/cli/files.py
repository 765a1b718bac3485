"""Files in and out: `-` is standard input, outputs appear whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lowtide_client.cli.exit_codes import BAD_INPUT, FAILED
from lowtide_client.cli.failures import CommandError, problems_of

STANDARD_INPUT = "-"


def shown(path: str) -> str:
    """How messages call an input."""
    return "standard input" if path == STANDARD_INPUT else path


def read_input(path: str) -> bytes:
    """The bytes of an input file, or of standard input.

    Raises:
        CommandError: it cannot be read, or is larger than any graph.
    """
    from lowtide_client.inputs import read_bounded, read_file

    try:
        with problems_of(shown(path)):
            if path == STANDARD_INPUT:
                return read_bounded(sys.stdin.buffer, "standard input")
            return read_file(Path(path))
    except OSError as error:
        raise CommandError(
            BAD_INPUT, [f"{shown(path)}: cannot be read: {error.strerror}"]
        ) from None


def check_writable(path: Path) -> None:
    """Raises CommandError when a file surely cannot be written: not only after a long solve."""
    if path.is_dir():
        raise CommandError(BAD_INPUT, [f"{shown(str(path))}: is a directory; name a file"])
    folder = path.parent
    if not folder.is_dir():
        raise CommandError(
            BAD_INPUT, [f"{shown(str(path))}: there is no directory {shown(str(folder))}"]
        )
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise CommandError(BAD_INPUT, [f"{shown(str(path))}: permission to write is missing"])


def check_distinct(files: Mapping[str, Path | None]) -> None:
    """Raises CommandError when two of these are one file, which would overwrite the other.

    Args:
        files: by the name of the argument; devices may be named twice.
    """
    seen: dict[str, str] = {}
    for argument, path in files.items():
        if path is None or (path.exists() and not path.is_file()):
            continue
        other = seen.setdefault(os.path.realpath(path), argument)
        if other != argument:
            line = f"{shown(str(path))}: is both {other} and {argument}; name two files"
            raise CommandError(BAD_INPUT, [line])


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file so that readers find either what was there before or all of the new content.

    Raises:
        CommandError: it cannot be written.
    """
    with replacing(path) as draft:
        draft.write_bytes(data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to; when that went well, what is there takes the place of `path`.

    Raises:
        CommandError: it cannot be written.
    """
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            yield path  # a device or a pipe: there is nothing to replace
            return
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{os.getpid()}.{target.name[-100:]}.part")
        try:
            yield draft
            if target.exists():
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(
            FAILED, [f"{shown(str(path))}: cannot be written: {error.strerror}"]
        ) from None
