"""What a database knows of the changes of its shop: which it had in time, which were overwritten before any look."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.freshness.shop import What
from bench.freshness.simulate import IN_TIME_H
from storebot.demo.client import Changed

_PAGES = """
SELECT pages.url, checked_at, listed_at, content_hash, misses, delisted_at, price_minor, availability, name
FROM pages LEFT JOIN listings ON listings.page_id = pages.id
"""


KINDS = {
    "price": What.PRICE,
    "stock": What.STOCK,
    "title": What.CONTENT,
    "appeared": What.NEW,
    "vanished": What.GONE,
}


@dataclass(slots=True)
class _Pending:
    """Changes of one field of one page since it was seen last."""

    count: int = 0
    last_s: int = 0
    value: Any = None  # what the field is now


@dataclass(slots=True)
class Judge:
    """Counts for one database; every product has one listing. A change that is seen after `IN_TIME_H` isn't caught."""

    database: Path
    events: Counter[What] = field(default_factory=Counter)
    caught: Counter[What] = field(default_factory=Counter)
    missed: Counter[What] = field(default_factory=Counter)  # changed again before any look
    _pending: dict[tuple[What, str], _Pending] = field(default_factory=dict)

    @property
    def caught_share(self) -> float:
        """Share of all changes that were seen in time."""
        return self.caught.total() / max(self.events.total(), 1)

    def happened(self, change: Changed, now_s: int) -> None:
        """Take in one change of the shop."""
        what = KINDS[change.kind]
        self.events[what] += 1
        pending = self._pending.setdefault((what, change.url), _Pending())
        pending.count += 1
        pending.last_s, pending.value = now_s, _value(what, change)

    def look(self, now_s: int) -> None:
        """Settle what the database has seen by now, a run's end."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            rows = {row["url"]: row for row in connection.execute(_PAGES)}
        for (what, url), pending in [*self._pending.items()]:
            row = rows.get(url)
            if row is not None and _is_seen(what, row, pending):
                self.caught[what] += now_s - pending.last_s <= IN_TIME_H * 3600
                self.missed[what] += pending.count - 1
                del self._pending[what, url]

    def end(self) -> None:
        """Count what nobody saw before it was overwritten."""
        for (what, _), pending in self._pending.items():
            self.missed[what] += pending.count - 1


def _is_seen(what: What, row: sqlite3.Row, pending: _Pending) -> bool:
    since_ms = pending.last_s * 1000
    at_page = (row["checked_at"] or 0) >= since_ms
    match what:
        case What.NEW:
            return row["content_hash"] is not None
        case What.GONE:
            return at_page and bool(row["misses"] or row["delisted_at"])
        case What.PRICE:  # a card tells of it, too
            return (at_page or bool(row["listed_at"] >= since_ms)) and bool(row["price_minor"] == pending.value)
        case What.STOCK:
            return at_page and bool(row["availability"] == pending.value)
    return at_page and bool(row["name"] == pending.value)


def _value(what: What, change: Changed) -> Any:
    return round(float(change.after) * 100) if what is What.PRICE else change.after
