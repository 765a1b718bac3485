"""Alembic's entry: runs migrations on the connection it is handed, in its transaction."""

from __future__ import annotations

from alembic import context
from lowtide_service.store.tables import metadata
from sqlalchemy import Connection

connection = context.config.attributes["connection"]
if not isinstance(connection, Connection):
    raise TypeError("the migrations run on an open connection: see lowtide_service.store.migrate")
context.configure(connection=connection, target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
