"""Lowtide: operator orders with the provably lowest peak activation memory, with certificates.

The road: `lowtide.wire.parse_graph`, `lowtide.build.build_graph`, `lowtide.schedule.schedule`,
`lowtide.checker.check`. Importing this package imports none of them (docs/architecture.md).
"""
