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
from storebot.exports.format import format_of, formats
from storebot.stores import list_stores, load_store
from storebot.stores.model import Store
from storebot.stores.wording import nearest

logger = logging.getLogger(__name__)


def plans_of(store: Store) -> list[Plan]:
    """Return what ``[schedule]`` of a store asks for. Raises StoreFileError for a format that there isn't."""
    said = store.schedule
    check_formats(store)
    return [
        Plan(
            store=store.name,
            kind=kind,
            args=said.arguments(kind),
            schedule=when,
            priority=said.priority,
            time_limit_s=said.time_limit_s,
        )
        for kind, when in said.schedules.items()
    ]


def check_formats(store: Store) -> None:
    """Raise StoreFileError where ``[schedule.export]`` names a format that there isn't, or that can't hold its rows.

    The file is read without knowing them: formats are found where they are, and not by who reads files.
    """
    plan = store.schedule.export
    if plan is None:
        return
    for name in plan.formats:
        try:
            format_of(name, plan.what)
        except ConfigurationError as error:
            close = nearest(name, formats()) if name not in formats() else None
            raise StoreFileError(store.path, "schedule.export.formats", str(error), close) from error


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
