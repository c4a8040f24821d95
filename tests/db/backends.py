"""Scratch databases on each backend, made and dropped by fixtures.

``database`` is open and empty, with this version's tables; ``empty_url`` is an address where nothing is yet. A server
that doesn't answer skips the test with a sentence, and fails it where ``STOREBOT_REQUIRE`` (a comma list of mariadb,
postgresql, redis, chromium) names it. Other folders import the fixtures into their conftest.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy import URL, create_engine, text
from sqlalchemy.exc import DBAPIError

from storebot.db.addresses import database_url
from storebot.db.database import Database
from storebot.db.schema import metadata

BACKENDS = ("sqlite", "mariadb", "postgresql")
SERVERS = {
    "mariadb": ("STOREBOT_TEST_MARIADB", "mysql://root@127.0.0.1:3306/test"),
    "postgresql": ("STOREBOT_TEST_POSTGRESQL", "postgresql://root@127.0.0.1:5432/test"),
}


def missing(service: str, why: str) -> NoReturn:
    """Skip the test, or fail it where STOREBOT_REQUIRE names the service."""
    required = {name.strip() for name in os.environ.get("STOREBOT_REQUIRE", "").split(",")}
    if service in required:
        pytest.fail(f"{service} is required by STOREBOT_REQUIRE: {why}")
    pytest.skip(f"{service} can't be used here: {why}")


class Scratch:
    """A database of its own on a server, which goes by a random name."""

    def __init__(self, service: str) -> None:
        variable, default = SERVERS[service]
        self._home = database_url(os.environ.get(variable, default))
        self.name = f"storebot_test_{secrets.token_hex(6)}"
        try:
            self.run(f"CREATE DATABASE {self.name}")
        except DBAPIError as error:
            missing(
                service,
                f"{type(error.orig).__name__} at {self._home.host}:{self._home.port} ({variable} names another)",
            )

    @property
    def url(self) -> str:
        return self._home.set(database=self.name).render_as_string(hide_password=False)

    def drop(self) -> None:
        """Drop the database, whoever still uses it."""
        force = " WITH (FORCE)" if self._home.get_backend_name() == "postgresql" else ""
        self.run(f"DROP DATABASE {self.name}{force}")

    def run(self, statement: str) -> None:
        """Run one statement on the server, in its home database."""
        engine = create_engine(self._home, isolation_level="AUTOCOMMIT", connect_args={"connect_timeout": 5})
        with engine.connect() as conn:
            conn.execute(text(statement))
        engine.dispose()


class Kept:
    """One open database for each backend and session: making its tables anew takes MariaDB a second a test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._scratches: list[Scratch] = []
        self._open: dict[str, Database] = {}

    def emptied(self, backend: str) -> Database:
        if backend not in self._open:
            self._open[backend] = Database.open(self._url(backend))
        with self._open[backend].write() as conn:
            for table in reversed(metadata.sorted_tables):
                conn.execute(table.delete())
        return self._open[backend]

    def drop(self) -> None:
        for database in self._open.values():
            database.dispose()
        for scratch in self._scratches:
            scratch.drop()

    def _url(self, backend: str) -> str:
        if backend == "sqlite":
            return f"sqlite:///{self._folder / 'kept.db'}"
        self._scratches.append(Scratch(backend))
        return self._scratches[-1].url


@pytest.fixture(scope="session")
def kept_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """Keep one database a backend for the session."""
    kept = Kept(tmp_path_factory.mktemp("databases"))
    yield kept
    kept.drop()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Return the name of a backend: a test that uses it, or a fixture below, runs once on each.

    A test for some of them alone says ``@pytest.mark.parametrize("backend", ["mariadb"], indirect=True)``.
    """
    return str(request.param)


@pytest.fixture
def database(backend: str, kept_databases: Kept) -> Database:
    """Return an open database of the backend that holds nothing but its tables."""
    return kept_databases.emptied(backend)


@pytest.fixture
def empty_url(backend: str, tmp_path: Path) -> Iterator[str]:
    """Return the URL of a database that has no tables; dropped after the test."""
    if backend == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    scratch = Scratch(backend)
    yield scratch.url
    scratch.drop()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Return the URL of a SQLite file that isn't there yet."""
    return URL.create("sqlite", database=str(tmp_path / "store.db")).render_as_string()
