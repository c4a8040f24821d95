"""What the sources of a store name, beside what the database holds: counted in one pass, or listed page by page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import ColumnElement, Connection, Select, and_, case, exists, func, literal, or_, select, update

from storebot.core.coverage import DELISTED, MISSING, ON_SALE, UNREAD, Coverage, SourceCoverage
from storebot.core.rounds import Source
from storebot.db.dialects import insert_missing, now_ms
from storebot.db.schema import listings, namings, pages, scopes, stores
from storebot.db.types import AnyRow
from storebot.items import ListingStatus, PageStatus

LISTS = ("missing", "extra", "unread", "delisted", *(source.value for source in Source))

_NAMED, _LACKED, _YOUNGER = 1, 0, 2  # of one source: a page that is younger than its last whole reading isn't lacking
_ON_SALE = exists().where(listings.c.page_id == pages.c.id, listings.c.status == ListingStatus.ACTIVE.value)
_STATE = case(
    (and_(pages.c.content_hash.is_(None), pages.c.misses == 0), UNREAD),  # else a dead link
    (pages.c.delisted_at.is_not(None), DELISTED),
    (_ON_SALE, ON_SALE),
    else_=MISSING,
)


class PageLine(NamedTuple):
    """One page of a list, with since when. Times are milliseconds; None: never."""

    url: str
    state: str
    first_seen_at: int
    checked_at: int | None
    first_missed_at: int | None
    named: dict[str, int | None]  # by source: when it last named the page


class Kept(NamedTuple):
    """What was counted last of a store: `Coverage.as_json`, and when."""

    at: int
    found: dict[str, Any]


class _Scope(NamedTuple):
    """A source as its store file describes it now, and its rows of `namings`."""

    row: AnyRow
    named: Any  # an alias of `namings`

    @property
    def names(self) -> ColumnElement[bool]:
        """Whether it named a page in its last whole reading; or at all, if it never was read whole."""
        return func.coalesce(self.named.c.at, -1) >= (self.row.whole_from or 0)

    @property
    def lacks(self) -> ColumnElement[bool]:
        """Whether it doesn't name a page that was known when it was last read whole."""
        return ~self.names & (pages.c.first_seen_at <= literal(self.row.whole_at or 0))


def coverage(conn: Connection, store: str) -> Coverage:
    """Count the store's pages by how they stand, and by which sources name them."""
    known = _scopes(conn, store)
    bits = [
        case((scope.names, _NAMED), (scope.lacks, _LACKED), else_=_YOUNGER).label(f"in_{place}")
        for place, scope in enumerate(known)
    ]
    query = _pages(select(_STATE.label("state"), *bits, func.count().label("pages")), store, known)
    counted = conn.execute(query.group_by(_STATE, *bits)).all()
    states: Counter[str] = Counter()
    overlaps: Counter[str] = Counter()
    named, unread, lacks = Counter[str](), Counter[str](), Counter[str]()
    everywhere = unlisted = 0
    for state, *flags, count in counted:
        states[state] += count
        inside = [scope.row.source for scope, flag in zip(known, flags, strict=True) if flag == _NAMED]
        named.update(dict.fromkeys(inside, count))
        unread.update(dict.fromkeys(inside, count if state == UNREAD else 0))
        lacking = [scope.row.source for scope, flag in zip(known, flags, strict=True) if flag == _LACKED]
        lacks.update(dict.fromkeys(lacking, count if state == ON_SALE else 0))
        everywhere += count if state == ON_SALE and known and len(inside) == len(known) else 0
        unlisted += count if state == ON_SALE and not inside else 0
        if 0 < len(inside) < len(known):
            overlaps[" + ".join(inside)] += count
    sources = [
        SourceCoverage(
            source=scope.row.source,
            named=named[scope.row.source],
            unread=unread[scope.row.source],
            lacks=lacks[scope.row.source],
            whole_from=scope.row.whole_from,
            whole_at=scope.row.whole_at,
            reason=scope.row.reason,
        )
        for scope in known
    ]
    return Coverage(
        store=store, sources=sources, states=states, everywhere=everywhere, unlisted=unlisted, overlaps=overlaps
    )


def keep(conn: Connection, found: Coverage) -> None:
    """Keep what was counted, for those who can't wait until a million pages are."""
    insert_missing(conn, stores, [{"name": found.store}])
    text = orjson.dumps({"at": now_ms(conn), "found": found.as_json()}).decode()
    conn.execute(update(stores).where(stores.c.name == found.store).values(coverage=text))


def kept(conn: Connection, store: str) -> Kept | None:
    """Return what was counted last; None where nothing ever was."""
    text = conn.execute(select(stores.c.coverage).where(stores.c.name == store)).scalar()
    return Kept(**orjson.loads(text)) if text else None


def lines(conn: Connection, store: str, which: str, *, limit: int) -> list[PageLine]:
    """Return the pages of one of `LISTS`, the first known first: named and not on sale (``missing``), on sale and named
    by none (``extra``), never read, delisted, or on sale and not named by one source.

    A source that no run has read names nothing, and its list is empty.
    """
    known = _scopes(conn, store)
    columns = (pages.c.url, _STATE.label("state"), pages.c.first_seen_at, pages.c.checked_at, pages.c.first_missed_at)
    times = [scope.named.c.at.label(f"at_{place}") for place, scope in enumerate(known)]
    query = _pages(select(*columns, *times), store, known).where(_belongs(which, known))
    return [
        PageLine(
            row.url,
            row.state,
            row.first_seen_at,
            row.checked_at,
            row.first_missed_at,
            {scope.row.source: getattr(row, f"at_{place}") for place, scope in enumerate(known)},
        )
        for row in conn.execute(query.order_by(pages.c.id).limit(limit))
    ]


def _belongs(which: str, known: Sequence[_Scope]) -> ColumnElement[bool]:
    anyone = or_(literal(False), *(scope.names for scope in known))
    match which:
        case "missing":
            return and_(_STATE != ON_SALE, anyone)
        case "extra":
            return and_(_STATE == ON_SALE, ~anyone)
        case "unread" | "delisted":
            return _STATE.in_([which])
    return or_(literal(False), *(and_(_STATE == ON_SALE, one.lacks) for one in known if one.row.source == which))


def _scopes(conn: Connection, store: str) -> list[_Scope]:
    """Return the sources that runs of a store have read, each by the scope that was begun last."""
    rows = conn.execute(select(scopes).where(scopes.c.store == store).order_by(scopes.c.at, scopes.c.id))
    newest = {row.source: row for row in rows}
    return [_Scope(newest[source], namings.alias(f"named_{place}")) for place, source in enumerate(sorted(newest))]


def _pages(query: Select[Any], store: str, known: Sequence[_Scope]) -> Select[Any]:
    source: Any = pages
    for scope in known:
        its = (scope.named.c.scope_id == scope.row.id) & (scope.named.c.page_id == pages.c.id)
        source = source.outerjoin(scope.named, its)
    return query.select_from(source).where(pages.c.store == store, pages.c.status != PageStatus.GONE.value)
