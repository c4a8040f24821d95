"""The plans of store files in the database: faulty files leave their store as it is, folders that are gone don't."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from storebot.db import jobs
from storebot.db.database import Database
from storebot.exceptions import ConfigurationError
from storebot.jobs.planning import sync_all
from tests.db.backends import sqlite_url
from tests.stores.writing import LEAST, written

__all__ = ["sqlite_url"]
PLANNED = f'{LEAST}[schedule]\nstage = "every 24h"\n'


@pytest.fixture
def database(sqlite_url: str) -> Iterator[Database]:
    made = Database.open(sqlite_url)
    yield made
    made.dispose()


def statuses(database: Database) -> dict[str, str]:
    with database.read() as conn:
        return {job.store: job.status.value for job in jobs.find(conn)}


def test_every_store_with_a_schedule_has_its_jobs(database: Database, tmp_path: Path) -> None:
    written(tmp_path / "stores", PLANNED)
    written(tmp_path / "stores", LEAST, "unplanned")
    sync_all(database, [tmp_path / "stores"], lambda: 0.0)
    assert statuses(database) == {"acme": "pending"}


def test_a_faulty_file_is_named_and_its_jobs_stay(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path / "stores", PLANNED)
    sync_all(database, [tmp_path / "stores"], lambda: 0.0)
    path.write_text(PLANNED.replace("24h", "24"))
    written(tmp_path / "stores", PLANNED, "other")
    caplog.set_level(logging.ERROR)
    sync_all(database, [tmp_path / "stores"], lambda: 0.0)
    assert statuses(database) == {"acme": "pending", "other": "pending"}
    assert "acme: its jobs stay as they are until the file is mended" in caplog.text
    assert "schedule.stage" in caplog.text


def test_the_jobs_of_a_store_that_is_gone_are_taken_out(database: Database, tmp_path: Path) -> None:
    written(tmp_path / "stores", PLANNED)
    sync_all(database, [tmp_path / "stores"], lambda: 0.0)
    shutil.rmtree(tmp_path / "stores" / "acme")
    sync_all(database, [tmp_path / "stores"], lambda: 0.0)
    assert statuses(database) == {"acme": "cancelled"}


def test_a_folder_that_isn_t_there_takes_nothing_out(database: Database, tmp_path: Path) -> None:
    """A disk that isn't mounted is no reason to forget all stores."""
    written(tmp_path / "stores", PLANNED)
    sync_all(database, [tmp_path / "stores"], lambda: 0.0)
    with pytest.raises(ConfigurationError, match="no such folder"):
        sync_all(database, [tmp_path / "unmounted"], lambda: 0.0)
    assert statuses(database) == {"acme": "pending"}
