from __future__ import annotations

from storebot.core.change_line import change_line
from storebot.db import change_feed
from storebot.db.database import Database
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed


def test_changes_come_in_their_order_and_go_on_after_the_last(database: Database) -> None:
    worker = Worker(database)
    worker.known("1")
    for hours, price in ((1, 2500), (2, 3000), (3, 2500)):
        (target,) = worker.due()
        worker.save(parsed(target, listing(price_minor=price), at=NOW + hours * HOUR))
    with database.read() as conn:
        first = change_feed.after(conn, STORE, 0, limit=2)
        rest = change_feed.after(conn, STORE, first[-1]["seq"])
        assert change_feed.after(conn, STORE, rest[-1]["seq"]) == []
        assert change_feed.after(conn, "elsewhere", 0) == []
        assert change_feed.last_seq(conn, STORE) == rest[-1]["seq"]
    prices = [(one["fields"][0]["before"], one["fields"][0]["after"]) for one in first + rest]
    assert prices == [(1999, 2500), (2500, 3000), (3000, 2500)]
    assert len({one["id"] for one in first + rest}) == 3
    assert change_line(first[0]) == (
        f"{first[0]['seq']} 2027-01-15T09:00:00.000Z changed https://shop.example/p/1 price_minor: 1999 → 2500"
    )


def test_a_long_value_is_cut_and_none_is_a_word() -> None:
    change = {"seq": 1, "at": "now", "type": "changed", "url_key": "k", "variant_id": "v"}
    fields = [{"field": "name", "before": None, "after": "x" * 80}]
    assert change_line({**change, "fields": fields}) == f"1 now changed k [v] name: nothing → {'x' * 59}…"
