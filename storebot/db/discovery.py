"""Pages that a sitemap or a catalogue page names: saved once each, under their URL key."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from itertools import islice

from sqlalchemy import Connection, bindparam, select, update

from storebot.db.dialects import insert_missing
from storebot.db.schema import aliases, pages
from storebot.db.types import URL_KEY_LENGTH
from storebot.items import Discovered, PageStatus

logger = logging.getLogger(__name__)

_CHUNK = 500  # keys a statement: far below every dialect's limit of parameters

_KNOWN = select(pages.c.url_key, pages.c.id, pages.c.sitemap_lastmod).where(
    pages.c.store == bindparam("store"), pages.c.url_key.in_(bindparam("keys", expanding=True))
)
_ALIASED = select(aliases.c.old_key).where(
    aliases.c.store == bindparam("store"), aliases.c.old_key.in_(bindparam("keys", expanding=True))
)
_LASTMOD = update(pages).where(pages.c.id == bindparam("page_id")).values(sitemap_lastmod=bindparam("lastmod"))


def discover(conn: Connection, store: str, found: Sequence[Discovered], now: int) -> int:
    """Save the pages that aren't known yet, as due at once, and return how many there were.

    A known page keeps all it has but the sitemap's lastmod, written only if it moved. A key that was moved to another
    page (an alias) isn't new. Rows are written in the order of their keys: two writers of the same keys wait for each
    other instead of meeting in a deadlock. Keys that no index can hold are left out, with a warning.
    """
    wanted = iter(sorted(_usable(store, found).items()))
    new = 0
    while chunk := dict(islice(wanted, _CHUNK)):
        new += _discover_chunk(conn, store, chunk, now)
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


def _discover_chunk(conn: Connection, store: str, chunk: dict[str, Discovered], now: int) -> int:
    parameters = {"store": store, "keys": list(chunk)}
    known = {row.url_key: row for row in conn.execute(_KNOWN, parameters)}
    aliased = set(conn.execute(_ALIASED, parameters).scalars()) if len(known) < len(chunk) else set()
    new = [entry for key, entry in chunk.items() if key not in known and key not in aliased]
    insert_missing(conn, pages, [_row(store, entry, now) for entry in new])
    moved = [
        {"page_id": row.id, "lastmod": lastmod}
        for key, row in known.items()
        if (lastmod := _lastmod(chunk[key])) and lastmod != row.sitemap_lastmod
    ]
    if moved:
        conn.execute(_LASTMOD, moved)
    return len(new)


def _row(store: str, entry: Discovered, now: int) -> dict[str, object]:
    return {
        "store": store,
        "url_key": entry.url_key,
        "url": entry.url,
        "status": PageStatus.PENDING.value,
        "sitemap_lastmod": _lastmod(entry),
        "first_seen_at": now,
        "next_due_at": 0,  # by no clock: it's due whatever the database's says
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
