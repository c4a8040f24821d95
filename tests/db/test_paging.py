"""Lists by cursor, on each backend."""

from __future__ import annotations

import random

import pytest
from sqlalchemy import insert, select

from storebot.core.dashboard.paging import Cursor
from storebot.db.database import Database
from storebot.db.paging import go_on
from storebot.db.schema import audit


@pytest.mark.parametrize("descending", [False, True])
def test_pages_are_the_whole_list_in_its_order_each_row_once(database: Database, descending: bool) -> None:
    rng = random.Random(7)
    row = {"who": "a", "verb": "run", "subject": "", "why": "", "result": "", "text": "", "ended_at": 0}
    with database.write() as conn:
        conn.execute(insert(audit), [{**row, "store": rng.choice("abc"), "at": rng.randrange(5)} for _ in range(60)])
    order = [audit.c.store, audit.c.at, audit.c.id]
    seen: list[tuple[object, ...]] = []
    after: Cursor | None = None
    with database.read() as conn:
        whole = sorted((tuple(one) for one in conn.execute(select(*order))), reverse=descending)
        while True:
            rows = conn.execute(go_on(select(*order), order, after, descending=descending, limit=7)).all()
            seen += [tuple(one) for one in rows[:7]]
            if len(rows) <= 7:
                break
            after = tuple(rows[6])
    assert seen == whole
