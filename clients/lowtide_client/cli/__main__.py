"""`python -m lowtide_client.cli`: the command line without an installed script."""

from lowtide_client.cli import main

main()
