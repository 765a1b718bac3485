"""What the command line says to the shell (docs/command-line.md)."""

DONE = 0
REFUSED = 1
"""`verify`: the certificate does not hold for the graph."""
BAD_INPUT = 2
"""A graph, certificate, order or argument is wrong; nothing was done."""
OVER_BUDGET = 3
FAILED = 4
"""It could not be done: server out of reach, extra not installed, disk full."""
INTERRUPTED = 130
"""Ctrl-C, as shells count it: 128 + SIGINT."""
BROKEN_PIPE = 141
"""Whoever read the output stopped reading: 128 + SIGPIPE."""
