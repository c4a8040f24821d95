"""A dashboard over an empty SQLite database, asked as a browser on this machine would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from storebot.dashboard.app import create_app
from storebot.dashboard.site import Site
from storebot.db.database import Database
from tests.db.backends import backend, database, empty_url, kept_databases, sqlite_url

__all__ = ["backend", "database", "empty_url", "kept_databases", "sqlite_url"]

HERE = "http://127.0.0.1"


@pytest.fixture
def local_database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(f"sqlite:///{tmp_path / 'store.db'}")
    yield opened
    opened.dispose()


@pytest.fixture
def site(local_database: Database) -> Site:
    return Site(database=local_database, local_user="tester")


@pytest.fixture
def client(site: Site) -> Iterator[TestClient]:
    with TestClient(create_app(site), base_url=HERE, follow_redirects=False) as asking:
        yield asking
