"""The fixtures of `tests.db.backends`, for all tests of this folder."""

from __future__ import annotations

from tests.db.backends import backend, database, empty_url, kept_databases, sqlite_url

__all__ = ["backend", "database", "empty_url", "kept_databases", "sqlite_url"]
