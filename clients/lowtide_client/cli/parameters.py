"""Kinds of option values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from lowtide_client.byte_sizes import parse_bytes

Command = TypeVar("Command", bound=Callable[..., Any])


class ByteSize(click.ParamType[int]):
    """A size: `262144`, `256K`, `1.5MiB`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return parse_bytes(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Seconds(click.ParamType[float]):
    """A positive, finite number of seconds."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds > 0):
            self.fail(f"{value!r} is not a positive number of seconds", param, ctx)
        return seconds


def server_option(command: Command) -> Command:
    """`--server URL`."""
    return click.option(
        "--server",
        metavar="URL",
        help="Ask a Lowtide server, as http://host:8000, instead of working here.",
    )(command)


def json_option(command: Command) -> Command:
    """`--json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print the fields of the service's answer as JSON."
    )(command)


def budget_option(command: Command) -> Command:
    """`--budget SIZE`."""
    return click.option(
        "--budget",
        "budget_bytes",
        type=ByteSize(),
        help="Exit with 3 when the peak is larger: 262144, 256K, 1.5MiB.",
    )(command)
