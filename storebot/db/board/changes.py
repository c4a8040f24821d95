"""Changes as the dashboard looks at them: the newest first, with the listing that each is of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from sqlalchemy import Connection, case, func, select

from storebot.db.board.scanning import Scanned, by_number
from storebot.db.schema import changes, listings, pages
from storebot.db.types import AnyRow

MOST = 2_000
"""Changes that one answer looks at: each is read and taken apart."""

_LONGEST = 20_000  # characters of a change's fields: a shop may change a name of a megabyte with each visit
COLUMNS = (
    *(changes.c[name] for name in ("seq", "type", "store", "url_key", "variant_id", "run_id", "at")),
    case((func.length(changes.c.fields) <= _LONGEST, changes.c.fields), else_="").label("fields"),
)


class About(NamedTuple):
    """What a change's listing is today."""

    id: int
    url: str
    name: str | None
    brand: str | None
    options: str  # JSON
    price_minor: int | None
    currency: str | None
    availability: str | None


_ABOUT = (
    *(listings.c[name] for name in About._fields if name not in ("name", "brand")),
    func.substr(listings.c.name, 1, 300).label("name"),
    func.substr(listings.c.brand, 1, 100).label("brand"),
)
Key = tuple[str, str, str]  # store, URL key, variant


class Of(Protocol):
    """What a change is of."""

    @property
    def store(self) -> str: ...
    @property
    def url_key(self) -> str: ...
    @property
    def variant_id(self) -> str: ...


def listed(
    conn: Connection,
    choices: Mapping[str, str],
    *,
    since_ms: int,
    after: int | None,
    descending: bool,
    limit: int,
) -> Scanned:
    """Return changes by number from behind ``after``; ``choices``: store, type, run, field (that is among its fields).

    Those from before ``since_ms`` aren't among them. What it looks at is bounded.
    """
    query = select(*COLUMNS)
    among = [changes.c.store == choices["store"]] if "store" in choices else []
    if "run" in choices:
        among.append(changes.c.run_id == int(choices["run"]))
    if "type" in choices:
        query = query.where(changes.c.type == choices["type"])
    if "field" in choices:
        query = query.where(changes.c.fields.contains(f'"field":"{choices["field"]}"', autoescape=True))
    if since_ms:
        query = query.where(changes.c.at >= since_ms)
    return by_number(conn, query, changes.c.seq, among, after=after, descending=descending, limit=limit, most=MOST)


def newest(conn: Connection, store: str, *, most: int = MOST) -> list[AnyRow]:
    """Return the newest changes, of one store or ("") of all, the newest first."""
    query = select(*COLUMNS).order_by(changes.c.seq.desc()).limit(most)
    return list(conn.execute(query.where(changes.c.store == store) if store else query))


def at_of(conn: Connection, seq: int) -> int:
    """Return when a change was found."""
    return conn.execute(select(changes.c.at).where(changes.c.seq == seq)).scalar() or 0


def abouts(conn: Connection, rows: Iterable[Of]) -> dict[Key, About]:
    """Return the listings of these changes, as far as their page goes by the same key today."""
    wanted: defaultdict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for row in rows:
        keys, variants = wanted[row.store]
        keys.add(row.url_key)
        variants.add(row.variant_id)
    found: dict[Key, About] = {}
    for store, (keys, variants) in wanted.items():
        query = (
            select(*_ABOUT, listings.c.variant_id, pages.c.url_key)
            .join(pages, pages.c.id == listings.c.page_id)
            .where(pages.c.store == store, pages.c.url_key.in_(sorted(keys)))
            .where(listings.c.variant_id.in_(sorted(variants)))
        )
        for row in conn.execute(query):
            found[store, row.url_key, row.variant_id] = About(*(getattr(row, name) for name in About._fields))
    return found
