"""What people did, on each backend."""

from __future__ import annotations

from storebot.db import audit
from storebot.db.audit import Result
from storebot.db.database import Database


def test_a_deed_is_there_before_it_is_done(database: Database) -> None:
    with database.write() as conn:
        deed_id = audit.begin(conn, "anna", "holds.approve", store="shop", subject="holds 1, 2", why="the sale")
    with database.read() as conn:
        begun = audit.one(conn, deed_id)
    assert begun is not None
    assert (begun.who, begun.verb, begun.store, begun.subject, begun.why) == (
        "anna",
        "holds.approve",
        "shop",
        "holds 1, 2",
        "the sale",
    )
    assert (begun.result, begun.ended_at) == ("", 0)
    with database.write() as conn:
        audit.end(conn, deed_id, Result.DONE, "2 published")
    with database.read() as conn:
        ended = audit.one(conn, deed_id)
    assert ended is not None
    assert (ended.result, ended.text) == ("done", "2 published")
    assert ended.ended_at >= ended.at > 0


def test_they_are_listed_page_by_page_by_who_and_what(database: Database) -> None:
    with database.write() as conn:
        ids = [audit.begin(conn, who, "run") for who in ("anna", "ben", "anna", "anna")]
    with database.read() as conn:
        first = audit.listed(conn, {"who": "anna"}, None, descending=True, limit=2)
        assert [one.id for one in first] == [ids[3], ids[2], ids[0]]  # one more: there is more
        then = audit.listed(conn, {"who": "anna"}, (first[1].id,), descending=True, limit=2)
        assert [one.id for one in then] == [ids[0]]
        assert audit.listed(conn, {"store": "nowhere"}, None, descending=True, limit=2) == []


def test_what_is_too_long_is_cut(database: Database) -> None:
    with database.write() as conn:
        deed_id = audit.begin(conn, "anna", "run", subject="s" * 100_000, why="w" * 100_000)
        audit.end(conn, deed_id, Result.FAILED, "t" * 100_000)
        found = audit.one(conn, deed_id)
    assert found is not None
    assert (len(found.subject), len(found.why), len(found.text)) == (4000, 4000, 4000)
