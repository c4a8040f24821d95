"""Which page each page calls its true address, where that isn't its own (docs/decisions/0018-canonical-links.md)."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column

from storebot.db.types import URL_KEY_LENGTH, key

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column; it fills as pages are read again."""
    op.add_column("pages", Column("canonical_key", key(URL_KEY_LENGTH)))


def downgrade() -> None:
    """Drop it; the next run of a newer version judges anew."""
    op.drop_column("pages", "canonical_key")
