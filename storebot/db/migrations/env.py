"""What Alembic runs: the migrations, on the connection and in the transaction that the caller gives."""

from __future__ import annotations

from alembic import context

from storebot.db.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
