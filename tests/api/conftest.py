"""The database fixtures, for the API."""

from __future__ import annotations

from tests.db.backends import backend, database, kept_databases

__all__ = ["backend", "database", "kept_databases"]
