"""`lowtide verify`: whether a certificate holds, by the independent checker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lowtide_client.cli.exit_codes import DONE, REFUSED
from lowtide_client.cli.failures import problems_of, service_failures
from lowtide_client.cli.files import STANDARD_INPUT, read_input, shown
from lowtide_client.cli.parameters import json_option, server_option
from lowtide_client.cli.streams import print_json
from lowtide_client.cli.watch import Watch, run_watched

if TYPE_CHECKING:
    from lowtide.answers import VerifyAnswer


@click.command("verify", short_help="Check that a certificate holds for a graph.")
@click.argument("graph")
@click.argument("certificate")
@json_option
@server_option
def verify_command(graph: str, certificate: str, as_json: bool, server: str | None) -> int:
    """Check that CERTIFICATE holds for GRAPH, both files; - is standard input.

    Exits with 1 when it does not hold. The checker shares no code with the solver.
    """
    if graph == certificate == STANDARD_INPUT:
        raise click.UsageError("only one of GRAPH and CERTIFICATE can be standard input")
    answer = run_watched(lambda watch: _verdict(graph, certificate, server, watch))
    if as_json:
        print_json(answer)
    else:
        from lowtide_client.cli.verify_text import print_verdict

        print_verdict(answer)
    return DONE if answer.accepted else REFUSED


def _verdict(graph: str, certificate: str, server: str | None, watch: Watch) -> VerifyAnswer:
    from lowtide_client.cli.solving import read_wire
    from lowtide_client.inputs import read_certificate

    wire = read_wire(graph, watch)
    data = read_input(certificate)
    with problems_of(shown(certificate)):
        claim = read_certificate(data)
    watch.phase = "checking" if server is None else f"waiting for {server}"
    if server is None:
        from lowtide.checker import check

        return check(wire, claim)
    from lowtide_client.cli.servers import connect

    with service_failures(), problems_of(shown(graph)), connect(server) as lowtide:
        return lowtide.verify(wire, claim)
