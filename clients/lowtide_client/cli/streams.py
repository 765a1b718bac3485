"""Standard input, output and error as a shell may leave them: closed, full, not in UTF-8."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

import click

from lowtide_client.wording import printable

if TYPE_CHECKING:
    from pydantic import BaseModel


def prepare_streams() -> None:
    """Makes every standard stream usable.

    What the caller closed becomes the null device, before some file gets its number; what the
    output's encoding lacks is spelled out as an escape.
    """
    sys.stdin = sys.stdin or _null_device(os.O_RDONLY)
    sys.stdout = sys.stdout or _null_device(os.O_WRONLY)
    sys.stderr = sys.stderr or _null_device(os.O_WRONLY)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def print_json(answer: BaseModel) -> None:
    """An answer on standard output, in UTF-8 whatever the terminal's encoding: JSON has no other.

    Raises:
        OSError: standard output takes no more.
    """
    click.echo(answer.model_dump_json(indent=2).encode())


def complain(line: str) -> None:
    """A line on standard error. When that is full too, only the exit code is left to tell."""
    try:
        click.echo(printable(line), err=True)
    except OSError:
        give_up(sys.stderr)


def explain_usage(error: click.ClickException) -> None:
    """What is wrong with the arguments, on standard error; likewise."""
    try:
        error.show()
    except OSError:
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """Discards what a stream could not write: the interpreter would fail on it when it ends."""
    with suppress(OSError, ValueError):
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, stream.fileno())
        os.close(null_device)


def _null_device(mode: int) -> TextIO:
    return open(os.open(os.devnull, mode), "r" if mode == os.O_RDONLY else "w", encoding="utf-8")
