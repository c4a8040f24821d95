"""Errors that pass by themselves are told by their code, and the whole transaction is tried again."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import psycopg.errors
import pymysql.err
import pytest
from sqlalchemy import Connection, insert, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError

from storebot.db.database import Database
from storebot.db.retry import is_transient, retrying
from storebot.db.schema import stores
from storebot.exceptions import SaveFailed
from tests.db.shop import counted


def wrapped(original: Exception, kind: type[DBAPIError] = OperationalError) -> DBAPIError:
    return kind("SELECT 1", {}, original)


@pytest.mark.parametrize("code", [1205, 1213, 2006, 2013])
@pytest.mark.parametrize("kind", [pymysql.err.OperationalError, pymysql.err.InternalError, pymysql.err.DatabaseError])
def test_mysql_errors_are_known_by_code_whatever_class_the_driver_gives_them(code: int, kind: type[Exception]) -> None:
    """T08."""
    assert is_transient(wrapped(kind(code, "…"), InterfaceError))


@pytest.mark.parametrize(
    "original",
    [
        psycopg.errors.DeadlockDetected(),
        psycopg.errors.SerializationFailure(),
        psycopg.errors.AdminShutdown(),
        psycopg.errors.ConnectionFailure(),
        psycopg.OperationalError("connection failed: refused"),
    ],
)
def test_postgresql_errors_are_known_by_state(original: Exception) -> None:
    assert is_transient(wrapped(original))


@pytest.mark.parametrize(
    "error",
    [
        wrapped(pymysql.err.ProgrammingError(1146, "no such table"), ProgrammingError),
        wrapped(pymysql.err.OperationalError(1045, "access denied")),
        wrapped(psycopg.errors.UndefinedTable("no such table"), ProgrammingError),
        wrapped(psycopg.errors.DiskFull("full")),
        wrapped(sqlite3.OperationalError("no such table")),
        ValueError("ours"),
    ],
)
def test_others_are_not_tried_again(error: Exception) -> None:
    assert not is_transient(error)


def test_a_lock_of_sqlite_passes(sqlite_url: str) -> None:
    database = Database.open(sqlite_url)
    other = sqlite3.connect(str(database.url.database), timeout=0)
    with database.write(), closing(other), pytest.raises(sqlite3.OperationalError) as locked:
        other.execute("BEGIN IMMEDIATE")
    assert is_transient(wrapped(locked.value))
    database.dispose()


class TestRetrying:
    def test_the_whole_transaction_is_done_again(self, database: Database) -> None:
        tries: list[int] = []

        def work(conn: Connection) -> str:
            conn.execute(insert(stores), [{"name": f"store {len(tries)}"}])
            tries.append(counted(conn, stores))
            if len(tries) < 3:
                raise wrapped(pymysql.err.OperationalError(1213, "Deadlock found"))
            return "done"

        assert retrying(database, work, waits_s=[0, 0]) == "done"
        assert tries == [1, 1, 1]

    def test_after_the_last_try_it_fails_and_nothing_is_half_done(self, database: Database) -> None:
        def work(conn: Connection) -> None:
            conn.execute(insert(stores), [{"name": "a"}])
            raise wrapped(pymysql.err.OperationalError(1205, "Lock wait timeout"))

        with pytest.raises(SaveFailed, match=r"Lock wait timeout.*3 times; nothing of this transaction is saved"):
            retrying(database, work, waits_s=[0, 0])
        with database.read() as conn:
            assert counted(conn, stores) == 0

    def test_an_error_that_does_not_pass_is_not_tried_again(self, database: Database) -> None:
        tries: list[int] = []

        def work(conn: Connection) -> None:
            tries.append(1)
            conn.execute(text("SELECT * FROM no_such_table"))

        with pytest.raises(SaveFailed, match="no_such_table"):
            retrying(database, work, waits_s=[0, 0])
        assert tries == [1]

    @pytest.mark.parametrize("backend", ["mariadb", "postgresql"], indirect=True)
    def test_a_connection_that_the_server_cut_is_made_anew(self, database: Database, backend: str) -> None:
        """T08: 'gone away', with a real server."""
        tries: list[int] = []

        def work(conn: Connection) -> None:
            conn.execute(insert(stores), [{"name": "a"}])
            tries.append(1)
            if len(tries) == 1:
                mine, kill = (
                    ("SELECT CONNECTION_ID()", "KILL {}")
                    if backend == "mariadb"
                    else ("SELECT pg_backend_pid()", "SELECT pg_terminate_backend({})")
                )
                number = conn.execute(text(mine)).scalar()
                with database.read() as other:
                    other.execute(text(kill.format(number)))
            conn.execute(insert(stores), [{"name": "b"}])

        retrying(database, work, waits_s=[0, 0])
        assert len(tries) == 2
        with database.read() as conn:
            assert counted(conn, stores) == 2
