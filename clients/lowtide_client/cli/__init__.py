"""The command line `lowtide` (docs/command-line.md)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from lowtide_client.cli.evaluate_command import evaluate_command
from lowtide_client.cli.exit_codes import BROKEN_PIPE, DONE, INTERRUPTED
from lowtide_client.cli.failures import CommandError
from lowtide_client.cli.schedule_command import schedule_command
from lowtide_client.cli.serve_command import serve_command
from lowtide_client.cli.verify_command import verify_command
from lowtide_client.wording import printable


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lowtide")
def commands() -> None:
    """Operator orders with the provably lowest peak activation memory, each with a certificate."""


for _command in (schedule_command, evaluate_command, verify_command, serve_command):
    commands.add_command(_command)


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command; returns its exit code, whatever a user can run into (`exit_codes.py`)."""
    try:
        code = commands.main(arguments, prog_name="lowtide", standalone_mode=False)
        sys.stdout.flush()
    except CommandError as failure:
        for line in failure.lines:
            click.echo(printable(line), err=True)
        return failure.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("lowtide: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads on; the interpreter must not fail once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return DONE if code is None else int(code)
