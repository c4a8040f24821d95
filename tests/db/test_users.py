"""Users and their logins, on each backend."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from storebot.core.dashboard.roles import Role
from storebot.db import users
from storebot.db.database import Database
from storebot.db.schema import logins
from storebot.exceptions import ConfigurationError


def add(database: Database, name: str = "anna", role: Role = Role.OPERATOR) -> None:
    with database.write() as conn:
        users.add(conn, name, role, "hash", by="root")


def log_in(database: Database, token: str, name: str = "anna") -> None:
    with database.write() as conn:
        users.log_in(conn, name, token)


def who(database: Database, token: str) -> str | None:
    with database.read() as conn:
        found = users.of_token(conn, token)
    return found[0].name if found else None


def age(database: Database, **by_ms: int) -> None:
    """Have all logins be older."""
    with database.write() as conn:
        conn.execute(update(logins).values({name: logins.c[name] - ms for name, ms in by_ms.items()}))


class TestUsers:
    def test_a_user_is_added_once(self, database: Database) -> None:
        with database.read() as conn:
            assert not users.any_user(conn)
        add(database)
        with pytest.raises(ConfigurationError, match="user anna: is there already"):
            add(database)
        with database.read() as conn:
            assert users.any_user(conn)
            assert [(one.name, one.role, one.seen_at) for one in users.find(conn)] == [("anna", Role.OPERATOR, 0)]

    def test_names_differ_by_case(self, database: Database) -> None:
        add(database)
        add(database, "Anna", Role.VIEWER)
        with database.read() as conn:
            found = users.named(conn, "Anna")
        assert found is not None
        assert found.role is Role.VIEWER

    def test_who_is_not_there_cannot_be_changed(self, database: Database) -> None:
        with database.write() as conn:
            with pytest.raises(ConfigurationError, match="user ben: there is none"):
                users.set_password(conn, "ben", "x")
            with pytest.raises(ConfigurationError, match="user ben: there is none"):
                users.set_role(conn, "ben", Role.VIEWER)
            with pytest.raises(ConfigurationError, match="user ben: there is none"):
                users.remove(conn, "ben")


class TestLogins:
    def test_a_login_is_known_by_its_token_which_is_not_saved(self, database: Database) -> None:
        add(database)
        log_in(database, "secret token")
        assert who(database, "secret token") == "anna"
        assert who(database, "another") is None
        with database.read() as conn:
            assert "secret" not in str(conn.execute(select(logins)).all())

    def test_a_login_ends_when_it_is_ended(self, database: Database) -> None:
        add(database)
        log_in(database, "one")
        log_in(database, "two")
        with database.write() as conn:
            users.log_out(conn, "one")
        assert (who(database, "one"), who(database, "two")) == (None, "anna")

    def test_a_login_that_is_not_used_ends(self, database: Database) -> None:
        add(database)
        log_in(database, "t")
        age(database, used_at=users.IDLE_MS + 1000)
        assert who(database, "t") is None

    def test_a_login_that_is_used_goes_on_until_its_longest_time(self, database: Database) -> None:
        add(database)
        log_in(database, "t")
        age(database, used_at=users.IDLE_MS - 60_000)
        with database.write() as conn:
            found = users.of_token(conn, "t")
            assert found is not None
            assert found[1]  # its use is to be noted
            users.touch(conn, "t")
        with database.read() as conn:
            found = users.of_token(conn, "t")
        assert found is not None
        assert not found[1]
        age(database, created_at=users.LONGEST_MS + 1000)
        assert who(database, "t") is None

    def test_another_password_and_removal_end_all_logins(self, database: Database) -> None:
        add(database)
        log_in(database, "one")
        with database.write() as conn:
            users.set_password(conn, "anna", "other")
        assert who(database, "one") is None
        log_in(database, "two")
        with database.write() as conn:
            users.remove(conn, "anna")
        assert who(database, "two") is None

    def test_logins_that_are_over_are_forgotten_with_the_next(self, database: Database) -> None:
        add(database)
        log_in(database, "old")
        age(database, used_at=users.IDLE_MS + 1000)
        log_in(database, "new")
        with database.read() as conn:
            assert len(conn.execute(select(logins)).all()) == 1
