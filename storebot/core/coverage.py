"""How a store's sources and the database cover each other: what is in all of them, what one of them lacks.

Complete is proven, never assumed: a source that was never read to its end says what it named, and that it isn't known
what else there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from storebot.core.summary import table

ON_SALE, UNREAD, MISSING, DELISTED = "active", "unread", "missing", "delisted"  # how a page stands in the database
STATES = (ON_SALE, UNREAD, MISSING, DELISTED)
_HEADERS = ("", "pages", "not in the database", "on sale, not named", "read whole (UTC)", "complete")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCoverage:
    """One source, by its last whole reading. Times are milliseconds; None: it was never read whole."""

    source: str
    named: int  # pages
    unread: int  # of these, without a record
    lacks: int  # pages that are on sale in the database, and that it doesn't name
    whole_from: int | None
    whole_at: int | None
    reason: str = ""  # why the last reading isn't whole; "" if it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """A store, counted in product pages. Pages that were retired into another are left out."""

    store: str
    sources: Sequence[SourceCoverage]
    states: Mapping[str, int] = field(default_factory=dict)  # of `STATES`
    everywhere: int = 0  # on sale, and named by every source
    unlisted: int = 0  # on sale, and named by none
    overlaps: Mapping[str, int] = field(default_factory=dict)  # "catalogue + sitemap" -> pages named by just these

    @property
    def doubts(self) -> list[str]:
        """Say what keeps the picture from being proven, a sentence each."""
        found = [f"{one.source}: {_doubt(one)}" for one in self.sources if one.reason or one.whole_at is None]
        if not self.sources:
            found.append("no source was read yet: run `scrapy crawl backfill` first")
        if unread := self.states.get(UNREAD, 0):
            found.append(f"{unread} pages are named and were never read")
        return found

    @property
    def status(self) -> str:
        """``complete``, or ``partial`` where there is a doubt."""
        return "partial" if self.doubts else "complete"

    def as_json(self) -> dict[str, object]:
        """Return it as values of JSON."""
        return {
            "store": self.store,
            "status": self.status,
            "reason": "; ".join(self.doubts),
            "sources": {
                one.source: {
                    "named": one.named,
                    "unread": one.unread,
                    "lacks": one.lacks,
                    "whole_from": one.whole_from,
                    "whole_at": one.whole_at,
                    "complete": not one.reason and one.whole_at is not None,
                    "reason": one.reason,
                }
                for one in self.sources
            },
            "database": {state: self.states.get(state, 0) for state in STATES},
            "everywhere": self.everywhere,
            "unlisted": self.unlisted,
            "overlaps": dict(self.overlaps),
        }


def _doubt(one: SourceCoverage) -> str:
    return one.reason or "it was never read whole"


def render(found: Coverage, at: Mapping[int, str]) -> str:
    """Return it as text. ``at`` writes the times that occur in it."""
    rows = [
        [
            one.source,
            str(one.named),
            str(one.unread),
            str(one.lacks),
            at[one.whole_at] if one.whole_at is not None else "never",
            "no" if one.reason or one.whole_at is None else "yes",
        ]
        for one in found.sources
    ]
    counts = ", ".join(f"{found.states.get(state, 0)} {state}" for state in STATES)
    lines = [table(_HEADERS, rows)] if rows else []
    lines.append(f"database: {counts}")
    lines.append(f"on sale and named by every source: {found.everywhere}; by none: {found.unlisted}")
    lines += [f"  named by {names} alone: {count}" for names, count in sorted(found.overlaps.items())]
    lines.append(f"{found.store}: {found.status}" + "".join(f"\n  {doubt}" for doubt in found.doubts))
    return "\n".join(lines)
