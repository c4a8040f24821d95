"""Backups are whole, and appear at once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sqlalchemy import select

from storebot.db.backup import backup
from storebot.db.database import Database
from storebot.db.schema import pages
from storebot.exceptions import ConfigurationError, DatabaseUnavailable, NeedsMigration
from tests.db.shop import Worker, counted


def test_a_backup_has_what_was_committed_though_a_plain_copy_has_not(sqlite_url: str, tmp_path: Path) -> None:
    """T10: recent commits live in the write-ahead log."""
    database = Database.open(sqlite_url)
    Worker(database).discover("1", "2", "3")
    with database.write() as conn:
        conn.execute(pages.update().values(tries=7))
        size = backup(sqlite_url, tmp_path / "copy.db")
    shutil.copy(str(database.url.database), tmp_path / "plain.db")
    assert size == (tmp_path / "copy.db").stat().st_size
    assert sorted(path.name for path in tmp_path.glob("*copy*")) == ["copy.db"]
    copy = Database.open(f"sqlite:///{tmp_path / 'copy.db'}")
    with copy.read() as conn:
        assert counted(conn, pages) == 3
        assert set(conn.execute(select(pages.c.tries)).scalars()) == {0}, "what wasn't committed is not in it"
    copy.dispose()
    with pytest.raises(NeedsMigration, match="revision none"):
        Database.open(f"sqlite:///{tmp_path / 'plain.db'}", create=False)
    database.dispose()


def test_a_file_that_exists_is_kept(sqlite_url: str, tmp_path: Path) -> None:
    Database.open(sqlite_url).dispose()
    (tmp_path / "copy.db").write_text("precious")
    with pytest.raises(ConfigurationError, match="exists"):
        backup(sqlite_url, tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "precious"


def test_a_database_that_is_not_there_leaves_no_file(sqlite_url: str, tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="no such file"):
        backup(sqlite_url, tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_database_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"garbage" * 1000)
    with pytest.raises(DatabaseUnavailable, match="can't be copied"):
        backup(f"sqlite:///{tmp_path / 'store.db'}", tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir()] == ["store.db"]


@pytest.mark.parametrize(
    ("url", "tool"), [("mysql://u:s3cret@h/d", "mariadb-dump"), ("postgresql://u:s3cret@h/d", "pg_dump")]
)
def test_a_server_has_its_own_tool(url: str, tool: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=tool) as refused:
        backup(url, tmp_path / "copy.db")
    assert "s3cret" not in str(refused.value)
