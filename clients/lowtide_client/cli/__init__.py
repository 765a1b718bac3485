"""The command line `lowtide` (docs/command-line.md)."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from lowtide_client.cli.evaluate_command import evaluate_command
from lowtide_client.cli.exit_codes import BROKEN_PIPE, DONE, FAILED, INTERRUPTED
from lowtide_client.cli.failures import CommandError
from lowtide_client.cli.recompute_command import recompute_command
from lowtide_client.cli.schedule_command import schedule_command
from lowtide_client.cli.selftest_command import selftest_command
from lowtide_client.cli.serve_command import serve_command
from lowtide_client.cli.streams import complain, explain_usage, give_up, prepare_streams
from lowtide_client.cli.verify_command import verify_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lowtide")
def commands() -> None:
    """Operator orders with the provably lowest peak activation memory, each with a certificate."""


for _command in (
    schedule_command,
    recompute_command,
    evaluate_command,
    verify_command,
    selftest_command,
    serve_command,
):
    commands.add_command(_command)


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    prepare_streams()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command; returns its exit code, whatever a user can run into (`exit_codes.py`)."""
    try:
        code = commands.main(arguments, prog_name="lowtide", standalone_mode=False)
        sys.stdout.flush()
    except CommandError as failure:
        for line in failure.lines:
            complain(line)
        return failure.exit_code
    except click.ClickException as error:
        explain_usage(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        complain("lowtide: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        give_up(sys.stdout)  # nobody reads on
        return BROKEN_PIPE
    except OSError as error:
        # Files and servers have errors of their own by now: this is standard output.
        complain(f"lowtide: standard output cannot be written: {error.strerror or error}")
        give_up(sys.stdout)
        return FAILED
    return DONE if code is None else int(code)
