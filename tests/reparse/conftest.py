"""The fixtures of `tests.db.backends`, for the tests of this folder that want a database server."""

from __future__ import annotations

from tests.db.backends import backend, empty_url

__all__ = ["backend", "empty_url"]
