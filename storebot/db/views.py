"""Pages of the catalogue as the planner knows them: which products each showed last, and which it doesn't any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import orjson
from sqlalchemy import Connection, bindparam, delete, insert, or_, select, update

from storebot.core.planner.cards import left
from storebot.core.planner.hazard import Flag
from storebot.db.batch import Batch, renamed
from storebot.db.schema import catalogue_views as table
from storebot.db.schema import pages
from storebot.db.types import WALK_LENGTH, AnyRow, bounded
from storebot.items import CatalogPage, PageStatus

_CHUNK = 500  # ids a statement
_FIRST = 1  # walks begin at 1, some at 0
_OF_WALK = select(table).where(
    table.c.store == bindparam("of_store"),
    table.c.walk == bindparam("of_walk"),
    or_(table.c.number.between(bindparam("first"), bindparam("last")), table.c.number <= _FIRST),
)
_LEFT = select(
    pages.c.id,
    pages.c.view_id,
    pages.c.status,
    pages.c.content_hash,
    pages.c.claim_token,
    pages.c.misses,
    pages.c.signal,
    pages.c.parser_version,
).where(pages.c.id.in_(bindparam("ids", expanding=True)))


class View(NamedTuple):
    """A look at a page of the catalogue: when it was looked at before, its next page (0: not known), what is gone."""

    id: int
    before_ms: int
    next: int
    vanished: list[int]
    pushed: list[int]


class Heads(NamedTuple):
    """The catalogue pages that each refresh reads: of each walk so many, from the first on."""

    walks: Sequence[str] = ()
    first: int = _FIRST
    each: int = 0

    @property
    def pages(self) -> int:
        """How many it is in all."""
        return len(self.walks) * self.each


class Place(NamedTuple):
    """A page of the catalogue, as it's asked for."""

    id: int
    walk: str
    number: int
    url: str


def places(conn: Connection, view_ids: Sequence[int]) -> list[Place]:
    """Return pages of the catalogue by their ids, in this order; those that are there."""
    found: dict[int, Place] = {}
    for start in range(0, len(view_ids), _CHUNK):
        query = select(table.c.id, table.c.walk, table.c.number, table.c.url)
        for row in conn.execute(query.where(table.c.id.in_(view_ids[start : start + _CHUNK]))):
            found[row.id] = Place(*row)
    return [found[view_id] for view_id in view_ids if view_id in found]


def of_heads(conn: Connection, store: str, heads: Heads) -> list[int]:
    """Return the ids of those of these catalogue pages that are known."""
    if not heads.pages:
        return []
    walks = [bounded(walk, WALK_LENGTH) for walk in heads.walks]
    there = table.c.number.between(heads.first, heads.first + heads.each - 1)
    query = select(table.c.id).where(table.c.store == store, table.c.walk.in_(walks), there)
    return [int(view_id) for view_id in conn.execute(query).scalars()]


def looked_since(conn: Connection, store: str, since_ms: int) -> list[int]:
    """Return the ids of the catalogue pages that were looked at since then."""
    query = select(table.c.id).where(table.c.store == store, table.c.viewed_at >= since_ms)
    return [int(view_id) for view_id in conn.execute(query).scalars()]


def forget(conn: Connection, view_id: int) -> None:
    """Forget a page of the catalogue that isn't there any more; what it showed is on no page until one shows it."""
    row = conn.execute(select(table).where(table.c.id == view_id)).first()
    if row is None:
        return
    shown = _ids(row)
    for start in range(0, len(shown), _CHUNK):
        these = pages.c.id.in_(shown[start : start + _CHUNK]) & (pages.c.view_id == view_id)
        conn.execute(update(pages).where(these).values(view_id=0))
    conn.execute(delete(table).where(table.c.id == view_id))


def look(conn: Connection, page: CatalogPage, shown: Sequence[int]) -> View | None:
    """Note which pages a page of the catalogue shows, by id, in its order; and compare it with the last look.

    None, with nothing noted, for one that shows what the first page of its walk does: shops answer so beyond the end.
    """
    walk = bounded(page.walk, WALK_LENGTH)
    near = {"of_store": page.store, "of_walk": walk, "first": page.number - 1, "last": page.number + 1}
    around = {row.number: row for row in conn.execute(_OF_WALK, near)}
    first = around.get(min(around, default=page.number))
    if first is not None and first.number < page.number and len(shown) > 1 and set(_ids(first)) == set(shown):
        return None
    known = around.get(page.number)
    values = {
        "url": page.url,
        "viewed_at": page.at_ms,
        "cards": len(shown),
        "shown": orjson.dumps(list(shown)).decode(),
    }
    if known is None:
        place = {"store": page.store, "walk": walk, "number": page.number}
        (view_id,) = conn.execute(insert(table).values({**place, **values})).inserted_primary_key or (0,)
        return View(view_id, 0, 0, [], [])
    conn.execute(update(table).where(table.c.id == known.id).values(values))
    gone = left(_ids(known), shown, is_first=page.number - 1 not in around) if shown else left([], [], is_first=True)
    following = around.get(page.number + 1)
    return View(known.id, known.viewed_at, following.id if following else 0, *gone)


def leave(conn: Connection, view: View, at_ms: int, rows: Batch) -> list[int]:
    """Have the pages that a page of the catalogue doesn't show any more leave it, and return those that are flagged.

    One that vanished is due at once: it may be gone. One that another page of the catalogue shows by now is there.
    """
    flagged: list[int] = []
    gone = [*view.vanished, *view.pushed]
    for start in range(0, len(gone), _CHUNK):
        for page in conn.execute(_LEFT, {"ids": gone[start : start + _CHUNK]}):
            if page.view_id != view.id:
                continue
            moved_to = view.next if page.id in view.pushed else 0
            rows.add("page_off_view", {"of_page": page.id, "to_view_id": moved_to})
            if page.id in view.vanished and _may_be_flagged(page):
                values = {"signal": Flag.DIFFERS.value, "next_due_at": 0}
                rows.add("page_hinted", {"of_page": page.id, **renamed(values)})
                flagged.append(page.id)
    return flagged


def _may_be_flagged(page: AnyRow) -> bool:
    own = page.content_hash is not None and "+" not in page.parser_version
    there = page.status == PageStatus.PARSED.value and not page.claim_token and not page.misses
    return bool(own and there and page.signal < Flag.DIFFERS)


def _ids(view: AnyRow) -> list[int]:
    return [int(one) for one in orjson.loads(view.shown or "[]")]
