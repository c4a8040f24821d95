"""A database with a shop whose listings change."""

from __future__ import annotations

from tests.db.backends import backend, database, kept_databases
from tests.webhooks.receiving import receiver

__all__ = ["backend", "database", "kept_databases", "receiver"]
