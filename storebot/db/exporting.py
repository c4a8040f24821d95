"""What an export reads: rows of a store in batches, and the facts of its manifest. All within one snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection, Select, and_, bindparam, func, select

from storebot.core.export.as_of import Told, undone
from storebot.core.export.columns import listing_row, money, time
from storebot.core.export.manifest import Facts
from storebot.core.fingerprint import HASH_VERSION
from storebot.db import holds, listings, runs
from storebot.db.dialects import now_ms
from storebot.db.schema import changes, offers, pages
from storebot.db.schema import listings as listing_rows
from storebot.db.types import AnyRow

_BATCH = 2_000
_RUNS = 5
PROVENANCE = (
    "parser_version",
    "run_id",
    "tier",
    "first_seen_at",
    "last_seen_at",
    "last_checked_at",
    "last_changed_at",
)
_CHANGES = (
    select(changes)
    .where(
        changes.c.store == bindparam("store"), changes.c.seq > bindparam("after"), changes.c.at >= bindparam("since")
    )
    .where(changes.c.at <= bindparam("until"))
    .order_by(changes.c.seq)
    .limit(_BATCH)
)
_OFFERS = (
    select(offers, pages.c.url_key)
    .join(pages, pages.c.id == offers.c.page_id)
    .where(pages.c.store == bindparam("store"), offers.c.id > bindparam("after"), offers.c.at >= bindparam("since"))
    .where(offers.c.at <= bindparam("until"))
    .order_by(offers.c.id)
    .limit(_BATCH)
)
_LATER = (
    select(changes)
    .where(changes.c.store == bindparam("store"), changes.c.at > bindparam("as_of"))
    .where(changes.c.url_key.in_(bindparam("keys", expanding=True)))
    .order_by(changes.c.seq.desc())
)
_ALWAYS = 2**62


def batches(
    conn: Connection, store: str, what: str, *, since_ms: int | None = None, as_of_ms: int | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of ``what`` (listings, changes, offers) in the order in which they came, some thousand at a time.

    ``since_ms``: listings that changed since, changes and offers of since. ``as_of_ms``: as it was then; of listings
    the records with what came later undone, see `core.export.as_of`.
    """
    if what == "listings":
        return _listings(conn, store, since_ms or 0, as_of_ms)
    made = _change if what == "changes" else _offer
    return _events(conn, _CHANGES if what == "changes" else _OFFERS, made, store, since_ms or 0, as_of_ms or _ALWAYS)


def _listings(conn: Connection, store: str, since: int, as_of: int | None) -> Iterator[list[dict[str, Any]]]:
    after = 0
    while found := listings.current_listings(conn, store, after_id=after, limit=_BATCH):
        after = found[-1].id
        told = _later(conn, store, {one.listing.url_key for one in found}, as_of) if as_of is not None else {}
        rows = []
        for one in found:
            if one.last_changed_at < since or (as_of is not None and one.first_seen_at > as_of):
                continue
            later = told.get((one.listing.url_key, one.listing.variant_id), ())
            listing, status = undone(one.listing, one.status, later) if later else (one.listing, one.status)
            rows.append(listing_row(listing, status.value, {name: getattr(one, name) for name in PROVENANCE}))
        yield rows


def _later(conn: Connection, store: str, keys: Iterable[str], as_of: int) -> Mapping[tuple[str, str], list[Told]]:
    """Return the changes after a time, by listing, the latest first."""
    found: dict[tuple[str, str], list[Told]] = {}
    wanted = sorted(keys)
    for start in range(0, len(wanted), 500):
        chunk = {"store": store, "as_of": as_of, "keys": wanted[start : start + 500]}
        for row in conn.execute(_LATER, chunk):
            found.setdefault((row.url_key, row.variant_id), []).append(Told(row.type, orjson.loads(row.fields)))
    return found


def _events(
    conn: Connection, query: Select[Any], made: Any, store: str, since: int, until: int
) -> Iterator[list[dict[str, Any]]]:
    after = 0
    while found := conn.execute(query, {"store": store, "after": after, "since": since, "until": until}).all():
        after = found[-1][0]
        yield [made(store, row) for row in found]


def _change(store: str, row: AnyRow) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "id": row.id,
        "type": row.type,
        "store": store,
        "url_key": row.url_key,
        "variant_id": row.variant_id,
        "fields": orjson.loads(row.fields),
        "run_id": row.run_id,
        "at": time(row.at),
    }


def _offer(store: str, row: AnyRow) -> dict[str, Any]:
    return {
        "store": store,
        "url_key": row.url_key,
        "variant_id": row.variant_id,
        "price": money(row.price_minor, row.currency),
        "regular_price": money(row.regular_price_minor, row.currency),
        "currency": row.currency,
        "availability": row.availability,
        "cause": row.cause,
        "run_id": row.run_id,
        "at": time(row.at),
    }


def facts(conn: Connection, store: str) -> Facts:
    """Return what the snapshot says of the store, for a manifest."""
    of_store = listing_rows.c.store == store
    by_status = select(listing_rows.c.status, func.count()).where(of_store).group_by(listing_rows.c.status)
    by_parser = (
        select(listing_rows.c.parser_version, func.count()).where(of_store).group_by(listing_rows.c.parser_version)
    )
    first = select(func.min(listing_rows.c.first_seen_at)).where(of_store)
    checked = select(func.max(pages.c.checked_at)).where(and_(pages.c.store == store, pages.c.checked_at.is_not(None)))
    seq = select(func.max(changes.c.seq)).where(changes.c.store == store)
    return Facts(
        taken_at=now_ms(conn),
        last_seq=conn.execute(seq).scalar() or 0,
        statuses=_counts(conn.execute(by_status.order_by(listing_rows.c.status)).all()),
        first_seen_at=conn.execute(first).scalar(),
        last_checked_at=conn.execute(checked).scalar(),
        stale_since=holds.stale_since(conn, store),
        open_holds=len(holds.open_pages(conn, store)),
        parser_versions=_counts(conn.execute(by_parser.order_by(listing_rows.c.parser_version)).all()),
        hash_version=HASH_VERSION,
        runs=[_run(one) for one in runs.last(conn, store, limit=_RUNS)],
    )


def _counts(rows: Sequence[AnyRow]) -> dict[str, int]:
    return {str(name): int(count) for name, count in rows}


def _run(one: runs.Run) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "status": one.status.value,
        "reason": one.reason,
        "finished_at": one.finished_at,
        "outcomes": {outcome.value: count for outcome, count in one.outcomes.items() if count},
        "missed": [*one.missed],
    }
