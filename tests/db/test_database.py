"""Opening a database: made if it's empty, refused if it's another version's, explained if it doesn't answer."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from storebot.db import database as databases
from storebot.db.database import Database
from storebot.db.schema import REVISION, metadata
from storebot.exceptions import ConfigurationError, DatabaseUnavailable, NeedsMigration
from tests.db.shop import Worker


@pytest.fixture
def opened(empty_url: str) -> Iterator[Database]:
    database = Database.open(empty_url)
    yield database
    database.dispose()


class TestOpening:
    def test_an_empty_database_gets_its_tables_and_opens_again(self, opened: Database, empty_url: str) -> None:
        with opened.read() as conn:
            assert set(inspect(conn).get_table_names()) == {*metadata.tables, "alembic_version"}
        assert databases.current_revision(empty_url) == REVISION
        Database.open(empty_url, create=False).dispose()
        assert databases.upgrade(empty_url) == REVISION

    @pytest.mark.parametrize(
        ("revision", "advice"), [("0000", "scrapy db upgrade"), ("9999", "install the newer version")]
    )
    def test_another_revision_is_refused_with_what_to_do(
        self, opened: Database, empty_url: str, revision: str, advice: str
    ) -> None:
        with opened.write() as conn:
            conn.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
        with pytest.raises(NeedsMigration, match=advice):
            Database.open(empty_url)

    def test_a_newer_database_is_never_upgraded(self, opened: Database, empty_url: str) -> None:
        with opened.write() as conn:
            conn.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        with pytest.raises(NeedsMigration, match="newer"):
            databases.upgrade(empty_url)

    def test_tables_of_somebody_else_are_not_touched(self, empty_url: str) -> None:
        database = Database._connected(empty_url, create=True, require_absolute=False)
        with database.write() as conn:
            conn.execute(text("CREATE TABLE pages (id INTEGER)"))
        database.dispose()
        with pytest.raises(NeedsMigration, match="'pages'"):
            Database.open(empty_url)

    def test_a_reader_does_not_make_one(self, empty_url: str) -> None:
        with pytest.raises((DatabaseUnavailable, NeedsMigration)):
            Database.open(empty_url, create=False)


class TestClock:
    def test_it_is_the_time_of_day_in_milliseconds(self, database: Database) -> None:
        before = time.time() * 1000 - 1000
        with database.read() as conn:
            assert before < databases.now_ms(conn) < time.time() * 1000 + 1000


class TestTransactions:
    def test_one_that_raises_leaves_nothing(self, database: Database) -> None:
        worker = Worker(database)

        def fail() -> None:
            with database.write() as conn:
                conn.execute(text("DELETE FROM runs"))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        with database.read() as conn:
            assert conn.execute(text("SELECT max(id) FROM runs")).scalar() == worker.run.run_id


class TestSqliteFiles:
    def test_its_folder_is_made(self, tmp_path: Path) -> None:
        Database.open(f"sqlite:///{tmp_path}/a/b/store.db").dispose()
        assert (tmp_path / "a/b/store.db").exists()

    def test_a_relative_path_is_refused_where_the_caller_asks(self) -> None:
        with pytest.raises(ConfigurationError, match="absolute path"):
            Database.open("sqlite:///store.db", require_absolute=True)

    @pytest.mark.parametrize("keep", [0.5, 0.9])
    def test_a_torn_file_is_reported_never_begun_anew(self, sqlite_url: str, keep: float) -> None:
        """M03."""
        database = Database.open(sqlite_url)
        Worker(database).known(*map(str, range(50)))
        database.dispose()
        path = Path(str(database.url.database))
        size = path.stat().st_size
        os.truncate(path, int(size * keep))
        with pytest.raises(DatabaseUnavailable, match="malformed"):
            Database.open(sqlite_url)
        assert path.stat().st_size == int(size * keep)

    def test_a_file_that_is_no_database_is_reported(self, sqlite_url: str, tmp_path: Path) -> None:
        """M03."""
        (tmp_path / "store.db").write_bytes(b"garbage" * 1000)
        with pytest.raises(DatabaseUnavailable, match="not a database"):
            Database.open(sqlite_url)

    def test_a_folder_that_can_not_be_made_is_reported(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(DatabaseUnavailable, match="folder"):
            Database.open(f"sqlite:///{tmp_path}/file/store.db")


@pytest.mark.parametrize("url", ["mysql://u:s3cret@127.0.0.1:1/d", "postgresql://u:s3cret@127.0.0.1:1/d"])
def test_a_server_that_does_not_answer_is_named_without_its_password(url: str) -> None:
    with pytest.raises(DatabaseUnavailable) as unavailable:
        Database.open(url)
    assert "127.0.0.1" in str(unavailable.value)
    assert "s3cret" not in str(unavailable.value)
    assert unavailable.value.exit_code == 8
