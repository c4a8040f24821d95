"""A database is sound when its contents can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.db import health
from storebot.db.database import Database
from storebot.exceptions import DatabaseUnavailable
from tests.db.shop import Worker


class TestHealth:
    def test_a_sound_database_counts_its_rows(self, database: Database) -> None:
        Worker(database).known("1", "2")
        counts = health.check(database)
        assert (counts["pages"], counts["listings"], counts["holds" if "holds" in counts else "blocks"]) == (2, 2, 0)


def test_a_damaged_file_is_found_though_it_opens(sqlite_url: str) -> None:
    """T04: never 'healthy' with zeros."""
    database = Database.open(sqlite_url)
    Worker(database).known(*map(str, range(300)))
    database.dispose()
    path = Path(str(database.url.database))
    content = bytearray(path.read_bytes())
    far = len(content) * 9 // 10 // 4096 * 4096  # rows of a ledger, not what opening reads
    content[far : far + 8192] = b"\xff" * 8192
    path.write_bytes(content)
    damaged = Database.open(sqlite_url)
    with pytest.raises(DatabaseUnavailable):
        health.check(damaged)
    damaged.dispose()
