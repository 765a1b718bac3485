"""Alembic's entry: runs migrations on the connection it is handed, inside the caller's transaction."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from lowtide_service.store.tables import metadata

connection = context.config.attributes["connection"]
if not isinstance(connection, Connection):
    raise TypeError("the migrations run on an open connection: see lowtide_service.store.migrate")
context.configure(connection=connection, target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
