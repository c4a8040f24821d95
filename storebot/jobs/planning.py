"""The plans of the store files, brought into the database."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from storebot.db import job_plans
from storebot.db.database import Database
from storebot.db.jobs import Plan
from storebot.db.retry import retrying
from storebot.exceptions import ConfigurationError, StoreFileError
from storebot.stores import list_stores, load_store
from storebot.stores.model import Store

logger = logging.getLogger(__name__)


def plans_of(store: Store) -> list[Plan]:
    """Return what ``[schedule]`` of a store asks for."""
    said = store.schedule
    return [
        Plan(store=store.name, kind=kind, schedule=when, priority=said.priority, time_limit_s=said.time_limit_s)
        for kind, when in said.schedules.items()
    ]


def sync_all(database: Database, folders: Sequence[Path | str], chance: Callable[[], float]) -> None:
    """Bring the jobs to what the store files say.

    A file that can't be read is named in the log, and the jobs of its store stay as they are. Those of a store whose
    folder is gone are taken out. Raises ConfigurationError where a folder of stores isn't there at all.
    """
    there = list_stores(folders)
    with database.explaining(), database.read() as conn:
        gone = [name for name in job_plans.stores_with_plans(conn) if name not in there and name]
    wanted: dict[str, list[Plan]] = {name: [] for name in gone}
    for name in there:
        try:
            wanted[name] = plans_of(load_store(name, folders))
        except (StoreFileError, ConfigurationError) as error:
            logger.error("%s: its jobs stay as they are until the file is mended: %s", name, error)
    for name, plans in wanted.items():
        for sentence in retrying(database, partial(job_plans.sync, store=name, plans=plans, chance=chance())):
            logger.info("%s", sentence)
