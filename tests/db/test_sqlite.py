"""How SQLite is set up."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path, PurePosixPath

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from storebot.db import sqlite
from storebot.db.database import Database
from storebot.db.schema import pages
from storebot.db.sqlite import network_file_system
from tests.db.shop import Worker, counted

UPSERTS = """
import sys
from storebot.db import pages
from storebot.db.database import Database
from storebot.items import Discovered

database = Database.open(sys.argv[1])
for number in range(200):
    with database.write() as conn:
        known = pages.counts(conn, "shop")
        key = f"https://shop.example/{sys.argv[2]}/{number}"
        pages.discover(conn, "shop", [Discovered(key, key)], 1)
database.dispose()
"""


def test_four_processes_write_200_rows_each_and_none_meets_a_lock(sqlite_url: str) -> None:
    """T01: each reads before it writes; a deferred transaction would fail at once."""
    workers = [
        subprocess.Popen([sys.executable, "-c", UPSERTS, sqlite_url, str(number)], stderr=subprocess.PIPE)
        for number in range(4)
    ]
    errors = [worker.communicate()[1].decode() for worker in workers]
    assert errors == [""] * 4
    assert [worker.returncode for worker in workers] == [0] * 4
    database = Database.open(sqlite_url)
    with database.read() as conn:
        assert counted(conn, pages) == 800
    database.dispose()


def test_the_log_is_on_and_bounded_and_keys_are_checked(sqlite_url: str) -> None:
    database = Database.open(sqlite_url)
    with database.read() as conn:
        asked = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "journal_size_limit")
        found = [conn.execute(text(f"PRAGMA {name}")).scalar() for name in asked]
    assert found == ["wal", 1, 1, sqlite.BUSY_TIMEOUT_MS, sqlite.JOURNAL_LIMIT_BYTES]
    database.dispose()


def test_a_writing_transaction_holds_the_lock_from_its_start_and_readers_go_on(sqlite_url: str) -> None:
    database = Database.open(sqlite_url)
    with database.write() as conn, closing(sqlite3.connect(str(database.url.database), timeout=0)) as other:
        conn.execute(select(pages)).all()
        assert other.execute("SELECT count(*) FROM pages").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
    database.dispose()


def test_a_reading_transaction_cannot_turn_into_a_writing_one_under_a_writer(sqlite_url: str) -> None:
    """What `write` avoids: read first, and another commits in between."""
    database = Database.open(sqlite_url)

    def read_then_write() -> None:
        with database.read() as conn:
            conn.execute(select(pages)).all()
            thread = threading.Thread(target=Worker, args=(database,))
            thread.start()
            thread.join()
            conn.execute(pages.delete())

    with pytest.raises(OperationalError, match="locked"):
        read_then_write()
    database.dispose()


def test_the_log_is_cut_when_the_database_is_closed(sqlite_url: str) -> None:
    """T03."""
    database = Database.open(sqlite_url)
    Worker(database).known("1", "2", "3")
    log = Path(f"{database.url.database}-wal")
    assert log.stat().st_size > 0
    with closing(sqlite3.connect(str(database.url.database))) as reader:  # keeps SQLite from deleting the log
        reader.execute("SELECT count(*) FROM pages").fetchone()
        database.dispose()
        assert log.stat().st_size == 0


def test_a_log_that_a_reader_keeps_large_is_reported(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """T03."""
    monkeypatch.setattr(sqlite, "LARGE_LOG_BYTES", 1000)
    database = Database.open(sqlite_url)
    with closing(sqlite3.connect(str(database.url.database), isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM pages").fetchone()
        Worker(database).known("1")
        with caplog.at_level(logging.WARNING):
            database.dispose()
    assert "a reader keeps an old snapshot open" in caplog.text


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/export /mnt/share nfs4 rw 0 0
/dev/sdb1 /mnt/share/local ext4 rw 0 0
//nas/files /mnt/my\\040files cifs rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/store.db", None),
        ("/mnt/share/store.db", "nfs4"),
        ("/mnt/share/local/store.db", None),
        ("/mnt/my files/store.db", "cifs"),
        ("/mnt/shared/store.db", None),
    ],
)
def test_a_network_file_system_is_recognised_by_its_mount(path: str, kind: str | None) -> None:
    """T04."""
    assert network_file_system(PurePosixPath(path), MOUNTS) == kind


def test_on_a_network_file_system_it_warns_and_writes_without_the_log(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """T04."""
    monkeypatch.setattr(sqlite, "network_file_system", lambda path, mounts: "nfs4")
    with caplog.at_level(logging.WARNING):
        database = Database.open(sqlite_url)
    with database.read() as conn:
        assert conn.execute(text("PRAGMA journal_mode")).scalar() == "delete"
    database.dispose()
    assert "network file system (nfs4)" in caplog.text
