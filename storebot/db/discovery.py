"""Pages that a sitemap or a catalogue page names: saved once each, under their URL key."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from sqlalchemy import Connection, bindparam, select, update

from storebot.db import rounds
from storebot.db.canonicals import give_back
from storebot.db.dialects import insert_missing
from storebot.db.schema import aliases, pages
from storebot.db.types import URL_KEY_LENGTH, AnyRow
from storebot.items import Discovered, PageStatus, Round

if TYPE_CHECKING:
    from storebot.db.learning import Learner

logger = logging.getLogger(__name__)

_CHUNK = 500  # keys a statement: far below every dialect's limit of parameters

_LOOKED = (
    pages.c.id,
    pages.c.status,
    pages.c.misses,
    pages.c.first_missed_at,
    pages.c.unnamed_since,
    pages.c.checked_at,
)
_SIGNALLED = (pages.c.listed_at, pages.c.carded_at, pages.c.signal, pages.c.next_due_at)
_KNOWN = select(pages.c.url_key, pages.c.sitemap_lastmod, pages.c.canonical_key, *_LOOKED, *_SIGNALLED).where(
    pages.c.store == bindparam("store"), pages.c.url_key.in_(bindparam("keys", expanding=True))
)
_ALIASED = (
    select(aliases.c.old_key, *_LOOKED)
    .join(pages, pages.c.id == aliases.c.page_id)
    .where(aliases.c.store == bindparam("store"), aliases.c.old_key.in_(bindparam("keys", expanding=True)))
)
_LASTMOD = (
    update(pages)
    .where(pages.c.id == bindparam("page_id"))
    .values(sitemap_lastmod=bindparam("lastmod"), signal=bindparam("flag"), next_due_at=bindparam("due"))
)


def discover(
    conn: Connection,
    store: str,
    found: Sequence[Discovered],
    now: int,
    *,
    due_at: int = 0,
    named: Round | None = None,
    learner: Learner | None = None,
) -> int:
    """Save the pages that aren't known yet, as due at once or at ``due_at``, and return how many there were.

    A known page keeps all it has but the sitemap's lastmod, written only if it moved. A key that was moved to another
    page (an alias) isn't new; one that a page has by its canonical link alone is, and that page gives it up. Rows are
    written in the order of their keys: two writers of the same keys wait for each other instead of meeting in a
    deadlock. Keys that no index can hold are left out, with a warning.

    With a round it's noted that its source names them, or the pages that they lead to; those that went missing, and
    that it names for the first time since, or with another lastmod, are due at once.

    With a learner, a lastmod that moved to a time after the page's last look is a signal for the planner.
    """
    if learner is not None:
        learner.lastmods.read((entry.lastmod for entry in found), now)
    wanted = iter(sorted(_usable(store, found).items()))
    new = 0
    while chunk := dict(islice(wanted, _CHUNK)):
        new += _discover_chunk(conn, store, chunk, now, due_at, named, learner)
    return new


def is_key(text: str) -> bool:
    """Whether the tables can hold ``text`` as a URL key, on each backend."""
    return 0 < len(text) <= URL_KEY_LENGTH and text.isascii() and text.isprintable()


def _usable(store: str, found: Iterable[Discovered]) -> dict[str, Discovered]:
    usable: dict[str, Discovered] = {}
    refused: list[str] = []
    for entry in found:
        if not is_key(entry.url_key) or "\0" in entry.url or not _encodes(entry.url):
            refused.append(entry.url)
        elif entry.url_key not in usable or (entry.lastmod and not usable[entry.url_key].lastmod):
            usable[entry.url_key] = entry
    if refused:
        logger.warning(
            "%s: %d URLs left out, their keys are longer than %d characters or not ASCII; the first: %.200r",
            store,
            len(refused),
            URL_KEY_LENGTH,
            refused[0],
        )
    return usable


def _discover_chunk(
    conn: Connection,
    store: str,
    chunk: dict[str, Discovered],
    now: int,
    due_at: int,
    named: Round | None,
    learner: Learner | None,
) -> int:
    parameters = {"store": store, "keys": list(chunk)}
    known = {row.url_key: row for row in conn.execute(_KNOWN, parameters)}
    held = [key for key, row in known.items() if row.canonical_key == key]
    if held and give_back(conn, store, held):
        known = {row.url_key: row for row in conn.execute(_KNOWN, parameters)}
    retired = any(row.status == PageStatus.GONE for row in known.values())
    asked = len(known) < len(chunk) or retired
    aliased = {row.old_key: row for row in conn.execute(_ALIASED, parameters)} if asked else {}
    new = [entry for key, entry in chunk.items() if key not in known and key not in aliased]
    insert_missing(conn, pages, [_row(store, entry, now, due_at) for entry in new])
    moved = [
        {"page_id": row.id, "lastmod": lastmod, **_told(row, lastmod, now, learner)}
        for key, row in known.items()
        if (lastmod := _lastmod(chunk[key])) and lastmod != row.sitemap_lastmod
    ]
    if learner is not None:
        learner.lastmods.watched(
            sum(row.checked_at is not None and bool(chunk[key].lastmod) for key, row in known.items()), now
        )
    if moved:
        conn.execute(_LASTMOD, moved)
    if named is not None:
        own = {key: row for key, row in known.items() if row.status != PageStatus.GONE}
        holders = {row.id: row for row in ({**aliased, **own}).values() if row.status != PageStatus.GONE}
        fresh = conn.execute(_KNOWN, {"store": store, "keys": [entry.url_key for entry in new]}) if new else ()
        _name(conn, named, holders, [row.id for row in fresh], {row["page_id"] for row in moved}, now)
    return len(new)


def _told(page: AnyRow, lastmod: str, now: int, learner: Learner | None) -> dict[str, int]:
    """Return flag and due date of a page whose lastmod moved; in a store with a plan one that is flagged is due."""
    flag, due = page.signal, page.next_due_at
    if learner is not None and page.status != PageStatus.GONE:
        flag = learner.lastmods.signal(page, lastmod, now).value
        if flag != page.signal:
            learner.flagged.append(page.id)
            due = min(due, now) if learner.planned else due
    return {"flag": flag, "due": due}


def _name(
    conn: Connection,
    named: Round,
    holders: Mapping[int, AnyRow],
    fresh: Sequence[int],
    moved: Collection[object],
    at: int,
) -> None:
    """Note that a round names pages, and welcome those among them that were away and that this run hasn't looked at."""
    missed = {row.id: row.first_missed_at or 0 for row in holders.values() if row.misses}
    before = rounds.last_named(conn, named, missed)
    back = {row.id for row in holders.values() if row.unnamed_since is not None}
    back |= {page_id for page_id, since in missed.items() if before.get(page_id, 0) < since or page_id in moved}
    rounds.name(conn, named, {*holders, *fresh}, at)
    rounds.welcome(conn, back, {page_id for page_id in back if (holders[page_id].checked_at or 0) < named.since_ms})


def _row(store: str, entry: Discovered, now: int, due_at: int) -> dict[str, object]:
    return {
        "store": store,
        "url_key": entry.url_key,
        "url": entry.url,
        "status": PageStatus.PENDING.value,
        "sitemap_lastmod": _lastmod(entry),
        "first_seen_at": now,
        "next_due_at": due_at,  # 0 is by no clock: it's due whatever the database's says
    }


def _lastmod(entry: Discovered) -> str | None:
    """Return the sitemap's text if it can be a date at all (W3C datetimes are shorter, and ASCII)."""
    text = entry.lastmod
    return text if text and len(text) <= 64 and text.isascii() and text.isprintable() else None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
