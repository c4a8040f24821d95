"""What the planner knows of a store, between runs: `stores.planner`, and the rows of its categories."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, func, select, update

from storebot.core.planner.knowledge import Category, Knowledge
from storebot.db.dialects import insert_missing
from storebot.db.schema import categories, pages, stores
from storebot.db.types import GROUP_LENGTH, bounded
from storebot.items import PageStatus

HOUR_MS = 3_600_000
MOST_CATEGORIES = 2_000  # of a store: a shop that files each product by itself has none
_READ_LATELY_H = 48.0  # a sitemap that wasn't read for so long tells nothing of today

OF_KNOWLEDGE = tuple(one.name for one in fields(Knowledge) if one.name != "categories")
_OF_CATEGORY = tuple(categories.c[name] for name in ("id", "name", "mean", "seen", "expected", "at"))
_LEARNED = (
    update(categories)
    .where(categories.c.id == bindparam("of_category"))
    .values({name: bindparam(f"to_{name}") for name in ("mean", "seen", "expected", "at")})
)


@dataclass(slots=True)
class Memory:
    """What is known of one store. Times are milliseconds."""

    knowledge: Knowledge = field(default_factory=Knowledge)
    names: dict[str, int] = field(default_factory=dict)  # of categories -> their number, as pages have it
    means_at: int = 0  # when the means were learned
    lastmods_at: int = 0  # when a sitemap with lastmod was read last; 0: never
    sweep_after: int = 0  # the page at which the sweep of a very large store stands
    validators_lie: str = ""  # the proof that a 304 hid a change: no conditional request is sent any more; "": none
    validators_lie_at: int = 0
    validators_asked: int = 0  # audits that were answered with the validators that were known
    validators_lies: int = 0  # of these, with another record
    learned_since: int = 0  # the first look that was learned from; 0: none
    values_by: str = ""  # the digest of the rules by which all pages have their value: core.planner.value


OF_MEMORY = tuple(one.name for one in fields(Memory) if one.name not in ("knowledge", "names"))


def load(conn: Connection, store: str, now_ms: int) -> Memory:
    """Return what is saved of a store; of one that is new, what is believed of any.

    What another version of storebot wrote and this one doesn't know is left out.
    """
    memory = Memory()
    text = conn.execute(select(stores.c.planner).where(stores.c.name == store)).scalar()
    saved: dict[str, Any] = orjson.loads(text) if text else {}
    for name in OF_MEMORY:
        if name in saved:
            setattr(memory, name, saved[name])
    knowledge = memory.knowledge
    for name, value in saved.get("knowledge", {}).items():
        if name in OF_KNOWLEDGE:
            setattr(knowledge, name, value)
    knowledge.reads_sitemaps = memory.lastmods_at > 0 and now_ms - memory.lastmods_at <= _READ_LATELY_H * HOUR_MS
    if "none" in saved:
        knowledge.categories[0] = Category(*saved["none"])
    for row in conn.execute(select(*_OF_CATEGORY).where(categories.c.store == store)):
        memory.names[row.name] = row.id
        mean = row.mean if row.mean > 0 else knowledge.mean
        knowledge.categories[row.id] = Category(mean, row.seen, row.expected, row.at / HOUR_MS)
    return memory


def save(conn: Connection, store: str, memory: Memory, changed: Collection[int]) -> None:
    """Save it all; of the categories those that ``changed``, by number."""
    knowledge = memory.knowledge
    values = {name: getattr(memory, name) for name in OF_MEMORY}
    values["knowledge"] = {name: getattr(knowledge, name) for name in OF_KNOWLEDGE}
    if none := knowledge.categories.get(0):
        values["none"] = (none.mean, none.seen, none.expected, none.at_h)
    conn.execute(update(stores).where(stores.c.name == store).values(planner=orjson.dumps(values).decode()))
    numbers = sorted(set(changed) & knowledge.categories.keys() - {0})
    if numbers:
        conn.execute(_LEARNED, [_row(number, knowledge.categories[number]) for number in numbers])


def add_categories(conn: Connection, store: str, memory: Memory, names: Collection[str]) -> list[str]:
    """Give those of these categories a number that have none yet, and return them: at most `MOST_CATEGORIES` in all."""
    room = max(MOST_CATEGORIES - len(memory.names), 0)
    new = sorted(set(names) - memory.names.keys() - {""})[:room]
    if not new:
        return []
    insert_missing(conn, categories, [{"store": store, "name": name} for name in new])
    query = select(categories.c.name, categories.c.id).where(categories.c.store == store, categories.c.name.in_(new))
    found = {row.name: row.id for row in conn.execute(query)}
    memory.names.update(found)
    return sorted(found)


def category_name(path: Collection[str]) -> str:
    """Return the name of the category of a listing with this path: its first two levels; "" for none."""
    levels = [level for one in path if (level := one.strip())]
    return bounded(" > ".join(levels[:2]), GROUP_LENGTH)


def sums(conn: Connection, store: str) -> dict[int, tuple[float, float]]:
    """Return changes and hours that the store's pages have seen, by category: all rows of the store are read."""
    read = (pages.c.store == store) & pages.c.content_hash.is_not(None) & (pages.c.status != PageStatus.GONE.value)
    query = (
        select(pages.c.category_id, func.sum(pages.c.change_credit), func.sum(pages.c.exposure_h))
        .where(read)
        .group_by(pages.c.category_id)
    )
    return {number: (float(credit), float(hours)) for number, credit, hours in conn.execute(query)}


def _row(number: int, known: Category) -> dict[str, Any]:
    values = {"mean": known.mean, "seen": known.seen, "expected": known.expected, "at": round(known.at_h * HOUR_MS)}
    return {"of_category": number, **{f"to_{name}": value for name, value in values.items()}}
