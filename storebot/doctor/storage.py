"""The database, its tables, the clock, and the folders that are written to."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from storebot.core.sizes import size
from storebot.db.addresses import database_url, shown
from storebot.db.database import Database, current_revision, now_ms
from storebot.db.schema import REVISION
from storebot.db.standing import known_stores, last_start
from storebot.doctor.check import Check, failure, ok, warning
from storebot.exceptions import ConfigurationError, DatabaseError, ExitCode
from storebot.notify.alerts_file import read_alerts_file
from storebot.notify.tending import disks

_CLOCK_S = 5.0
_FOLDERS = {
    "STOREBOT_ARCHIVE": "page archive",
    "STOREBOT_FAILED_PAGES": "failed pages",
    "STOREBOT_JOB_LOGS": "job logs",
}


def examine(settings: Any) -> Iterator[Check]:
    """Yield the checks of all that is kept."""
    url = settings.get("STOREBOT_DATABASE_URL")
    try:
        name = shown(database_url(url))
        yield from _database(url, name)
    except ConfigurationError as error:
        yield failure("database", str(error), "correct STOREBOT_DATABASE_URL", error.exit_code)
        return
    yield from _disks(settings)
    for setting, what in _FOLDERS.items():
        folder = settings.get(setting)
        if folder and folder != "off":
            yield _folder(what, Path(folder).absolute(), setting)


def _database(url: str, name: str) -> Iterator[Check]:
    parsed = database_url(url)
    if parsed.get_backend_name() == "sqlite":
        path = Path(str(parsed.database)).absolute()
        if not path.exists():
            yield _folder("database", path.parent, "STOREBOT_DATABASE_URL")
            yield warning("migrations", f"{name} isn't there yet", "nothing: the first crawl makes it")
            return
        if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            yield failure(
                "database",
                f"{path}, or its folder, can't be written by this user",
                f"chown it: SQLite writes files beside it, too (user {os.getuid()})",
                ExitCode.DATABASE,
            )
            return
    try:
        revision = current_revision(url)
        yield ok("database", f"{name} answers")
        if revision != REVISION:
            newer = revision is not None and revision > REVISION
            advice = "install the newer storebot" if newer else "scrapy db backup PATH, then scrapy db upgrade"
            text = f"its tables are at revision {revision or 'none'}, and this version's are {REVISION}"
            yield failure("migrations", text, advice, ExitCode.DATABASE)
            return
        yield ok("migrations", f"its tables are this version's, {REVISION}")
        yield _clock(url)
    except DatabaseError as error:
        yield failure("database", str(error), "is the server up, the address right, the password?", error.exit_code)


def _clock(url: str) -> Check:
    """Compare this machine's clock with the database's, and that with what was written."""
    database = Database.open(url, create=False)
    try:
        with database.explaining(), database.read() as conn:
            here, there = time.time(), now_ms(conn) / 1000
            newest = max((last_start(conn, store) for store in known_stores(conn)), default=0) / 1000
    finally:
        database.dispose()
    if newest > there + _CLOCK_S:
        text = f"a run is {newest - there:,.0f} s younger than the database's clock: it went back"
        return failure("clock", text, "correct the clock (timedatectl); leases and due times go by it")
    if abs(there - here) > _CLOCK_S:
        text = f"the database's clock and this machine's differ by {abs(there - here):,.1f} s"
        return warning("clock", text, "have both synchronised (timedatectl set-ntp true)")
    return ok("clock", "this machine's and the database's agree")


def _disks(settings: Any) -> Iterator[Check]:
    try:
        least = read_alerts_file(settings.get("STOREBOT_ALERTS")).limits.disk_free_bytes
    except ConfigurationError as error:
        yield failure("alerts file", " ".join(str(error).split()), "correct the file that STOREBOT_ALERTS names")
        return
    for what, path in disks(settings).items():
        there = next(parent for parent in (path, *path.parents) if parent.exists())
        free = shutil.disk_usage(there).free
        text = f"{size(free)} are free where the {what} is ({path})"
        if free < least:
            yield failure("disk", text, "make room: scrapy archive prune, scrapy db prune; or move it")
        else:
            yield ok("disk", text)


def _folder(what: str, path: Path, setting: str) -> Check:
    """Say whether a folder can be written to, or made."""
    there = next(parent for parent in (path, *path.parents) if parent.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        text = f"{what}: {there} can't be written by this user"
        return failure("permissions", text, f"chown it (user {os.getuid()}), or let {setting} name another folder")
    return ok("permissions", f"{what}: {path} can be {'written' if there == path else 'made'}")
