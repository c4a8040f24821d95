"""What people did at the dashboard: a row before the deed, completed after it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection, select, update

from storebot.core.dashboard.paging import Cursor
from storebot.db.dialects import now_ms
from storebot.db.paging import go_on
from storebot.db.schema import audit

_LONGEST = 4000


class Result(StrEnum):
    """How a deed ended."""

    DONE = "done"
    REFUSED = "refused"  # as it can't be done so; the text says why
    FAILED = "failed"  # by an error of ours, or of the database


class Deed(NamedTuple):
    """One of them. ``result`` "": it's under way, or its process died."""

    id: int
    at: int
    who: str
    verb: str
    store: str
    subject: str
    why: str
    result: str
    text: str
    ended_at: int


def begin(conn: Connection, who: str, verb: str, *, store: str = "", subject: str = "", why: str = "") -> int:
    """Note what somebody is about to do, and return its number."""
    row = {"at": now_ms(conn), "who": who, "verb": verb, "store": store, "subject": subject[:_LONGEST]}
    made = conn.execute(audit.insert(), {**row, "why": why[:_LONGEST], "result": "", "text": "", "ended_at": 0})
    assert made.inserted_primary_key is not None
    return int(made.inserted_primary_key[0])


def end(conn: Connection, deed_id: int, result: Result, text: str) -> None:
    """Note what became of it."""
    values = {"result": result.value, "text": text[:_LONGEST], "ended_at": now_ms(conn)}
    conn.execute(update(audit).where(audit.c.id == deed_id).values(values))


def one(conn: Connection, deed_id: int) -> Deed | None:
    """Return a deed by its number."""
    row = conn.execute(select(audit).where(audit.c.id == deed_id)).one_or_none()
    return Deed(**row._mapping) if row else None


def listed(
    conn: Connection, choices: Mapping[str, str], after: Cursor | None, *, descending: bool, limit: int
) -> list[Deed]:
    """Return deeds by number from behind ``after``, one more than ``limit``; ``choices``: who, store, result."""
    query = select(audit).where(*(audit.c[name] == value for name, value in choices.items()))
    return [
        Deed(**row._mapping)
        for row in conn.execute(go_on(query, [audit.c.id], after, descending=descending, limit=limit))
    ]
