"""Claims: pages handed to one worker at a time, under a token that expires by the database's clock."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, case, or_, select, update
from sqlalchemy.sql.dml import ReturningUpdate

from storebot.core.planner.hazard import Flag
from storebot.core.planner.lanes import Lane
from storebot.db.dialects import family, now_ms
from storebot.db.schema import pages
from storebot.db.types import AnyRow
from storebot.db.validators import entity_tag, http_date
from storebot.items import PageStatus, Target

logger = logging.getLogger(__name__)

SUSPECT_TRIES = 3  # claims without a saved visit after which a page is suspected of killing its worker
MAX_TRIES = 6  # and after which it's set aside
SET_ASIDE_MS = 7 * 24 * 3600 * 1000  # a week: by then the parser may have been repaired
_EVER = 2**62  # a time after all others

_COLUMNS = (
    pages.c.id,
    pages.c.url,
    pages.c.url_key,
    pages.c.etag,
    pages.c.last_modified,
    pages.c.content_hash,
    pages.c.details_hash,
    pages.c.source_hash,
    pages.c.hash_version,
    pages.c.parser_version,
    pages.c.canonical_key,
    pages.c.fetched_at,
    pages.c.checked_at,
    pages.c.tries,
    pages.c.next_due_at,
)
_NEVER_PARSED = pages.c.content_hash.is_(None)
_IDLE_STATUS = case((_NEVER_PARSED, PageStatus.PENDING.value), else_=PageStatus.PARSED.value)
_HELD = pages.c.status == PageStatus.IN_PROGRESS.value

_SUSPECT = pages.c.tries >= SUSPECT_TRIES
_BY_DUE = (pages.c.next_due_at, pages.c.id)


def _lane(status: PageStatus) -> ColumnElement[bool]:
    return and_(
        pages.c.store == bindparam("of_store"), pages.c.status == status.value, pages.c.next_due_at <= bindparam("due")
    )


_EXPIRED = and_(pages.c.store == bindparam("of_store"), _HELD, pages.c.claim_expires_at <= bindparam("now"))

# Each lane walks the index (store, status, next_due_at, id) and stops at the limit, however long the queue is.
_PENDING_LANES = (
    _lane(PageStatus.PENDING),
    and_(_EXPIRED, _NEVER_PARSED),
    and_(_lane(PageStatus.ERROR), _NEVER_PARSED),
)
_KNOWN_LANES = tuple(
    and_(_lane(status), pages.c.content_hash.is_not(None)) for status in (PageStatus.PARSED, PageStatus.ERROR)
)
_THESE = pages.c.id.in_(bindparam("ids", expanding=True))
_CLAIM = update(pages).values(
    status=PageStatus.IN_PROGRESS.value,
    claim_token=bindparam("token"),
    claim_expires_at=bindparam("expires"),
    tries=pages.c.tries + 1,
)
_UNSEEN = or_(pages.c.checked_at.is_(None), pages.c.checked_at < bindparam("seen"))
_UNCARDED = or_(pages.c.carded_at.is_(None), pages.c.carded_at < bindparam("seen"))
_SIGNALLED = pages.c.signal != Flag.NONE.value
_DUE_LANES = (
    _lane(PageStatus.PARSED),
    and_(_EXPIRED, pages.c.content_hash.is_not(None)),
    and_(_lane(PageStatus.ERROR), pages.c.content_hash.is_not(None)),
)


def claim_pending(
    conn: Connection,
    store: str,
    token: str,
    limit: int,
    ttl_s: float,
    due_before: int | None = None,
    *,
    parser_version: str,
    hash_version: int,
    validators: bool = True,
) -> list[Target]:
    """Claim up to ``limit`` pages that were never parsed: discovered ones, failed ones whose time has come again.

    With ``due_before`` (None: now) a run doesn't come back to a page that failed in it, however short the wait.

    Pages whose claim expired come back. A page that was claimed three times without a saved visit is suspected of
    killing its worker: such pages come last and one at a time, and after six claims are set aside for a week.
    """
    now = now_ms(conn)
    rows = _claim(
        conn, _PENDING_LANES, store, token, limit, ttl_s, now=now, due=now if due_before is None else due_before
    )
    return [_target(store, token, row, parser_version, hash_version, Lane.NEW, validators) for row in rows]


def claim_due(
    conn: Connection,
    store: str,
    token: str,
    limit: int,
    ttl_s: float,
    due_before: int | None = None,
    *,
    parser_version: str,
    hash_version: int,
    validators: bool = True,
    withheld: str = "",
) -> list[Target]:
    """Claim up to ``limit`` parsed pages that are due before a time (None: now), the longest due first.

    Pages whose record is of the parser version ``withheld`` stay where they are. The validators of the others come
    along only where a parse by this parser and hash stands behind them, and ``validators`` are to be trusted.
    Otherwise as `claim_pending`.
    """
    now = now_ms(conn)
    lanes = [and_(lane, *_not_of(withheld)) for lane in _DUE_LANES] if withheld else _DUE_LANES
    rows = _claim(conn, lanes, store, token, limit, ttl_s, now=now, due=now if due_before is None else due_before)
    return [_target(store, token, row, parser_version, hash_version, Lane.DUE, validators) for row in rows]


def claim_these(
    conn: Connection,
    store: str,
    token: str,
    wanted: Mapping[int, Lane],
    ttl_s: float,
    *,
    parser_version: str,
    hash_version: int,
    validators: bool = True,
    withheld: str = "",
    seen_before: int = _EVER,
    due_before: int = _EVER,
    by_signal: Collection[int] = (),
) -> list[Target]:
    """Claim these pages, each in its lane, in their order; without those that can't be claimed any more.

    A page that was never parsed isn't claimed by this, nor one that was looked at since ``seen_before``, nor one of
    ``by_signal`` that none names any more: a card has told of the change. One that is suspected comes alone, where no
    other of them is left.
    """
    if not wanted:
        return []
    untold = [or_(pages.c.id.not_in(bindparam("by_signal", expanding=True)), _SIGNALLED)] if by_signal else []
    lanes = [and_(lane, _THESE, _UNSEEN, *untold, *_not_of(withheld)) for lane in _KNOWN_LANES]
    more = {"ids": list(wanted), "seen": seen_before} | ({"by_signal": list(by_signal)} if by_signal else {})
    rows = _claim(conn, lanes, store, token, len(wanted), ttl_s, now=now_ms(conn), due=due_before, more=more)
    places = {page_id: place for place, page_id in enumerate(wanted)}
    return [
        _target(store, token, row, parser_version, hash_version, wanted[row.id], validators)
        for row in sorted(rows, key=lambda row: places[row.id])
    ]


def claim_next(
    conn: Connection,
    store: str,
    token: str,
    limit: int,
    ttl_s: float,
    *,
    parser_version: str,
    hash_version: int,
    validators: bool = True,
    withheld: str = "",
    seen_before: int,
) -> list[Target]:
    """Claim the parsed pages that are due next, whenever that is, of those that weren't looked at since a time, and of
    which no card told a change since.

    Pages that are away, or failed, go by their own dates, and aren't claimed by this.
    """
    healthy = and_(pages.c.misses == 0, pages.c.last_failure == "")
    lane = and_(_lane(PageStatus.PARSED), _UNSEEN, _UNCARDED, healthy, *_not_of(withheld))
    rows = _claim(conn, [lane], store, token, limit, ttl_s, now=now_ms(conn), due=_EVER, more={"seen": seen_before})
    return [_target(store, token, row, parser_version, hash_version, Lane.HAZARD, validators) for row in rows]


def _not_of(version: str) -> list[ColumnElement[bool]]:
    return [pages.c.parser_version != version] if version else []


def extend_claims(conn: Connection, store: str, token: str, ttl_s: float) -> int:
    """Keep the token's claims for ``ttl_s`` from now; return how many there are."""
    mine = and_(pages.c.store == store, _HELD, pages.c.claim_token == token)
    return conn.execute(update(pages).where(mine).values(claim_expires_at=now_ms(conn) + round(ttl_s * 1000))).rowcount


def release(conn: Connection, store: str, *, keep_token: str | None = None, token: str | None = None) -> int:
    """Give claimed pages back and return how many: all, all but those of ``keep_token``, or those of ``token`` alone.

    Call it under the store's lease: then claims of another token belong to the dead. A run that stops in good order
    names its own ``token``: the try is taken back too, for those pages did nothing wrong.
    """
    theirs = and_(pages.c.store == store, _HELD)
    values: dict[str, Any] = {"status": _IDLE_STATUS, "claim_token": "", "claim_expires_at": 0}
    if keep_token is not None:
        theirs = and_(theirs, pages.c.claim_token != keep_token)
    if token is not None:
        theirs = and_(theirs, pages.c.claim_token == token)
        values["tries"] = case((pages.c.tries > 0, pages.c.tries - 1), else_=0)
    return conn.execute(update(pages).where(theirs).values(values)).rowcount


def _claim(
    conn: Connection,
    lanes: Sequence[ColumnElement[bool]],
    store: str,
    token: str,
    limit: int,
    ttl_s: float,
    *,
    now: int,
    due: int,
    more: Mapping[str, Any] | None = None,
) -> list[AnyRow]:
    parameters = {"of_store": store, "now": now, "due": due, "token": token, "expires": now + round(ttl_s * 1000)}
    parameters |= more or {}
    claimed: list[AnyRow] = []
    for lane in lanes:
        if len(claimed) < limit:
            claimed += _take(conn, _unsuspected(lane), _BY_DUE, limit - len(claimed), parameters)
    if claimed or limit < 1:
        return claimed
    _set_aside(conn, lanes, parameters)
    for lane in lanes:
        if suspect := _take(conn, and_(lane, _SUSPECT), (pages.c.tries, *_BY_DUE), 1, parameters):
            return suspect
    return []


def _take(
    conn: Connection,
    free: ColumnElement[bool],
    order: tuple[ColumnElement[Any], ...],
    limit: int,
    parameters: dict[str, Any],
) -> list[AnyRow]:
    """Claim in one atomic step: SQLite's UPDATE … RETURNING under its write lock, SKIP LOCKED elsewhere."""
    if family(conn) == "sqlite":
        rows = conn.execute(_claim_first(free, order), {**parameters, "first": limit}).all()
        return sorted(rows, key=lambda row: (row.next_due_at, row.id))
    unlocked = _first(select(*_COLUMNS).where(free), order).with_for_update(skip_locked=True)
    rows = conn.execute(unlocked, {**parameters, "first": limit}).all()
    if rows:
        conn.execute(_CLAIM.where(_THESE), {**parameters, "ids": [row.id for row in rows]})
    return list(rows)


@lru_cache(maxsize=32)
def _unsuspected(lane: ColumnElement[bool]) -> ColumnElement[bool]:
    return and_(lane, ~_SUSPECT)


@lru_cache(maxsize=32)
def _claim_first(free: ColumnElement[bool], order: tuple[ColumnElement[Any], ...]) -> ReturningUpdate[Any]:
    """Build it once for each lane: that took longer than to claim a batch."""
    return _CLAIM.where(pages.c.id.in_(_first(select(pages.c.id).where(free), order))).returning(*_COLUMNS)


def _first(query: Select[Any], order: Sequence[ColumnElement[Any]]) -> Select[Any]:
    return query.order_by(*order).limit(bindparam("first"))


def _set_aside(conn: Connection, lanes: Sequence[ColumnElement[bool]], parameters: dict[str, Any]) -> None:
    """Take the pages with too many tries out of the queue for a week, after which they come back as suspects."""
    hopeless = and_(or_(*lanes), pages.c.tries >= MAX_TRIES)
    values = {
        "status": PageStatus.ERROR.value,
        "claim_token": "",
        "claim_expires_at": 0,
        "tries": SUSPECT_TRIES,
        "next_due_at": parameters["now"] + SET_ASIDE_MS,
        "last_error": f"set aside for a week: {MAX_TRIES} claims, and each time its worker died or was given up",
    }
    count = conn.execute(update(pages).where(hopeless).values(values), parameters).rowcount
    if count:
        logger.warning("%s: %d pages set aside: see last_error of pages", parameters["of_store"], count)


def _target(
    store: str, token: str, row: AnyRow, parser_version: str, hash_version: int, lane: Lane, validators: bool
) -> Target:
    current = row.content_hash is not None and row.parser_version == parser_version and row.hash_version == hash_version
    return Target(
        store=store,
        url=row.url,
        url_key=row.url_key,
        page_id=row.id,
        claim_token=token,
        etag=entity_tag(row.etag) if current and validators else None,
        last_modified=http_date(row.last_modified) if current and validators else None,
        content_hash=row.content_hash,
        details_hash=row.details_hash,
        source_hash=row.source_hash if current else None,
        hash_version=row.hash_version,
        parser_version=row.parser_version,
        canonical_key=row.canonical_key,
        fetched_at=row.fetched_at or 0,
        checked_at=row.checked_at or 0,
        lane=lane.value,
    )
