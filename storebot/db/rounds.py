"""Which source of a store names which page: rounds of reading all that a source names, and the pages each named.

A *scope* is one source of a store (its sitemaps, its catalogue, its platform's listing, its feeds) as its file
describes it; another description names other pages, and is another scope (case D03). A round counts when it was whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, exists, func, insert, select, update

from storebot.core.delist import is_plausible
from storebot.core.planner.hazard import Flag
from storebot.db.dialects import now_ms
from storebot.db.schema import catalogue_pages, checkpoints, listings, namings, pages, scopes
from storebot.db.types import WALK_LENGTH, AnyRow, bounded
from storebot.items import ListingStatus, PageStatus, Round

_CHUNK = 500  # pages a statement
_NAMED = (
    update(namings)
    .where(namings.c.scope_id == bindparam("of_scope"), namings.c.page_id.in_(bindparam("ids", expanding=True)))
    .values({"round": bindparam("to_round"), "at": bindparam("to_at")})
)
_THERE = select(namings.c.page_id, namings.c.at).where(
    namings.c.scope_id == bindparam("of_scope"), namings.c.page_id.in_(bindparam("ids", expanding=True))
)


class Unnamed(NamedTuple):
    """What the end of a whole round came to."""

    found: int = 0  # pages that rounds enough didn't name, and that were named before
    believed: bool = True  # False: they are too many, and only looked at


def begin(conn: Connection, store: str, source: str, params: str, *, resumes: bool, glances: bool = False) -> Round:
    """Begin a round, or go on with the one under way if this run ``resumes`` what an earlier one read.

    A run that only ``glances`` at what the source names leaves the round that is under way, or to come, as it is.
    """
    this = (scopes.c.store == store) & (scopes.c.source == source) & (scopes.c.params == params)
    row = conn.execute(select(scopes).where(this).with_for_update()).one_or_none()
    now = now_ms(conn)
    if row is None:
        values = {"store": store, "source": source, "params": params, "begun_at": now, "at": now}
        (scope_id,) = conn.execute(insert(scopes).values(values)).inserted_primary_key or (0,)
        return Round(int(scope_id), 1, now)
    begun = {} if glances or (resumes and row.begun_at) else {"begun_at": now}
    conn.execute(update(scopes).where(scopes.c.id == row.id).values({**begun, "at": now}))
    return Round(row.id, row.rounds + 1, now)


def covers(conn: Connection, round_: Round, store: str, walk: str) -> bool:
    """Whether what an earlier run read of a walk, and this one doesn't read again, was read in this round."""
    name = bounded(walk, WALK_LENGTH)
    pages_at = select(func.min(catalogue_pages.c.at)).where(
        catalogue_pages.c.store == store, catalogue_pages.c.walk == name
    )
    walk_at = select(checkpoints.c.at).where(checkpoints.c.store == store, checkpoints.c.walk == name)
    read_at = conn.execute(pages_at).scalar() or conn.execute(walk_at).scalar() or 0
    begun_at = conn.execute(select(scopes.c.begun_at).where(scopes.c.id == round_.scope_id)).scalar_one()
    return bool(begun_at <= read_at)


def name(conn: Connection, round_: Round, page_ids: Collection[int], at: int) -> None:
    """Note that a round names these pages: one statement for those that the scope named before, as a rule all."""
    ids = sorted(page_ids)
    parameters = {"of_scope": round_.scope_id, "ids": ids, "to_round": round_.number, "to_at": at}
    if not ids or conn.execute(_NAMED, parameters).rowcount == len(ids):
        return
    there = {row.page_id for row in conn.execute(_THERE, {"of_scope": round_.scope_id, "ids": ids})}
    rows = [
        {"scope_id": round_.scope_id, "page_id": page_id, "round": round_.number, "at": at}
        for page_id in ids
        if page_id not in there
    ]
    if rows:
        conn.execute(insert(namings), rows)


def last_named(conn: Connection, round_: Round, page_ids: Collection[int]) -> dict[int, int]:
    """Return when the scope of a round last named each of these pages; without those that it never did."""
    if not page_ids:
        return {}
    rows = conn.execute(_THERE, {"of_scope": round_.scope_id, "ids": sorted(page_ids)})
    return {row.page_id: row.at for row in rows}


def welcome(conn: Connection, page_ids: Collection[int], due: Collection[int]) -> None:
    """Have pages be named again, those of ``due`` to be looked at at once.

    What was missing only because nobody named it is active.
    """
    ids = sorted(page_ids)
    if not ids:
        return
    conn.execute(update(pages).where(pages.c.id.in_(ids)).values(unnamed_since=None))
    conn.execute(update(pages).where(pages.c.id.in_(sorted(due))).values(next_due_at=0))
    never_missed = select(pages.c.id).where(pages.c.id.in_(ids), pages.c.misses == 0)
    missing = (listings.c.missing_why == "page") & (listings.c.status == ListingStatus.MISSING.value)
    conn.execute(
        update(listings)
        .where(listings.c.page_id.in_(never_missed), missing)
        .values(status=ListingStatus.ACTIVE.value, missing_why="")
    )


def end(conn: Connection, judged: Mapping[Round, str]) -> bool:
    """End rounds: each is whole, or has the sentence that says why it isn't. Return whether one was whole.

    One that named nothing isn't whole, whatever its walks said.
    """
    now, whole = now_ms(conn), False
    for round_, reason in judged.items():
        said = reason if reason or _named_something(conn, round_) else "it names no product page"
        values: dict[str, object] = {"reason": said, "at": now}
        if not said:
            begun = {"whole_from": scopes.c.begun_at, "whole_at": now}
            conn.execute(update(scopes).where(scopes.c.id == round_.scope_id).values(begun))
            values |= {"rounds": round_.number, "begun_at": 0}
            whole = True
        conn.execute(update(scopes).where(scopes.c.id == round_.scope_id).values(values))
    return whole


def _named_something(conn: Connection, round_: Round) -> bool:
    named = (namings.c.scope_id == round_.scope_id) & (namings.c.round == round_.number)
    return conn.execute(select(namings.c.page_id).where(named).limit(1)).first() is not None


def miss(conn: Connection, store: str, enough: int, share: float) -> Unnamed:
    """Find the pages that ``enough`` whole rounds of the scope which named them last didn't name, and that are news.

    They are due at once, and their listings missing unless their own address was asked since; without an event. Where
    they are more than a ``share`` of the store they are only due: a walk may show half a store, and prove its end.
    """
    rows = list({row.id: row for row in conn.execute(_unnamed(store, enough))}.values())
    if not rows:
        return Unnamed()
    known = conn.execute(select(func.count()).select_from(pages).where(_alive(store))).scalar_one()
    believed = is_plausible(len(rows), known, share)
    for start in range(0, len(rows), _CHUNK):
        _miss(conn, rows[start : start + _CHUNK], believed=believed)
    return Unnamed(len(rows), believed)


def _alive(store: str) -> ColumnElement[bool]:
    return (pages.c.store == store) & (pages.c.status != PageStatus.GONE.value) & pages.c.content_hash.is_not(None)


def _unnamed(store: str, enough: int) -> Select[Any]:
    """Select what ``enough`` rounds of a scope left out; a page twice, if two scopes did.

    Another scope speaks for a page if it named it in a round that began after this one's naming: the sources of one
    backfill name the same pages in any order, and which was the last to says nothing.
    """
    other, of = namings.alias(), scopes.alias()
    began = case(
        (other.c.round == of.c.rounds, of.c.whole_from),
        ((other.c.round > of.c.rounds) & (of.c.begun_at > 0), of.c.begun_at),
        else_=other.c.at,
    )
    later = exists().where(
        of.c.store == store,
        other.c.scope_id == of.c.id,
        other.c.scope_id != namings.c.scope_id,
        other.c.page_id == namings.c.page_id,
        began > namings.c.at,
    )
    return (
        select(pages.c.id, pages.c.checked_at, pages.c.delisted_at, namings.c.at, scopes.c.whole_from)
        .join(namings, namings.c.page_id == pages.c.id)
        .join(scopes, scopes.c.id == namings.c.scope_id)
        .where(scopes.c.store == store, scopes.c.rounds - namings.c.round >= enough, ~later)
        .where(_alive(store), pages.c.unnamed_since.is_(None))
        .order_by(pages.c.id, namings.c.at)
    )


def _miss(conn: Connection, rows: Sequence[AnyRow], *, believed: bool) -> None:
    conn.execute(
        update(pages).where(pages.c.id == bindparam("of_page")).values(unnamed_since=bindparam("since")),
        [{"of_page": row.id, "since": row.at} for row in rows],
    )
    unseen = [row.id for row in rows if not row.delisted_at and (row.checked_at or 0) < row.whole_from]
    conn.execute(update(pages).where(pages.c.id.in_(unseen)).values(next_due_at=0, signal=Flag.DIFFERS))
    if believed:
        active = listings.c.page_id.in_(unseen) & (listings.c.status == ListingStatus.ACTIVE.value)
        conn.execute(update(listings).where(active).values(status=ListingStatus.MISSING.value, missing_why="page"))
