"""The pages that a run couldn't read, as `storebot.failed_pages` kept them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from storebot.core.page import Page
from storebot.dashboard.files import inside
from storebot.db.runs import Run
from storebot.exceptions import ConfigurationError
from storebot.stores import saved_pages

MOST_CHARACTERS = 200_000  # of a page's text that are shown
_MOST_FILES = 1000
_MOST_FACTS = 100_000  # bytes
_MOST_BODY = 8 * 1024 * 1024


class Kept(NamedTuple):
    """One of them. ``name`` is that of its files, without what follows the first dot."""

    name: str
    url: str
    status: int
    reason: str
    fetched_at: datetime | None
    path: Path
    facts: dict[str, Any]


def of_run(folder: Path | None, run: Run) -> list[Kept]:
    """Return the pages that were kept while a run went on, the newest first."""
    begun, ended = run.started_at / 1000, (run.finished_at or 2**53) / 1000
    found = [one for one in _all(folder, run.store) if one.fetched_at and begun - 1 <= one.fetched_at.timestamp()]
    mine = [one for one in found if one.fetched_at and one.fetched_at.timestamp() <= ended]
    return sorted(mine, key=lambda one: one.fetched_at or datetime.min, reverse=True)


def named(folder: Path | None, run: Run, name: str) -> Kept | None:
    """Return the one of a run with a name; no path is ever made of that name."""
    return next((one for one in of_run(folder, run) if one.name == name), None)


def page_of(kept: Kept) -> Page | None:
    """Return a kept page; None where it's gone by now, or larger than a page may be."""
    try:
        if kept.path.stat().st_size > _MOST_BODY:
            return None
        page = saved_pages.read_page(kept.path, kept.facts)
    except (OSError, ValueError, TypeError):
        return None
    return page if len(page.body) <= _MOST_BODY else None


def _all(folder: Path | None, store: str) -> Iterator[Kept]:
    """Yield what is kept of a store; what isn't readable, or leads out of the folder, isn't there."""
    if folder is None or inside(folder, folder / store) is None:
        return
    for count, path in enumerate(saved_pages.bodies(folder / store)):
        if count >= _MOST_FILES:
            return
        if (one := _read(folder, path)) is not None:
            yield one


def _read(folder: Path, path: Path) -> Kept | None:
    beside = saved_pages.facts_path(path)
    if inside(folder, path) is None or inside(folder, beside) is None:
        return None
    try:
        if not path.is_file() or not beside.is_file() or beside.stat().st_size > _MOST_FACTS:
            return None
        facts = saved_pages.read_facts(path)
        at = datetime.fromisoformat(str(facts.get("fetched_at", "")))
        status = int(facts.get("status", 200))
    except (OSError, ConfigurationError, ValueError, TypeError):  # half written, or by hand
        return None
    name = saved_pages.name_of(path)
    return Kept(name, facts["url"], status, str(facts.get("reason", "")), at if at.tzinfo else None, path, facts)
