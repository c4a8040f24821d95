"""What the read API gives of a store: pages by number, and one listing's history."""

from __future__ import annotations

from storebot.db import reading
from storebot.db.database import Database
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed


def test_rows_of_a_store_by_their_numbers(database: Database) -> None:
    worker = Worker(database)
    worker.known("1", listings=[listing(variant_id=variant) for variant in ("a", "b", "c")])
    (target,) = worker.due()
    changed = [listing(variant_id="a"), listing(variant_id="b", price_minor=2500), listing(variant_id="c")]
    worker.save(parsed(target, *changed, at=NOW + HOUR))
    Worker(database, store="other").known("1")
    with database.read() as conn:
        assert reading.is_store(conn, STORE)
        assert not reading.is_store(conn, "elsewhere")
        first, after, more = reading.listings_after(conn, STORE, 0, 2)
        assert (after, more) == (first[-1]["id"], True)
        rest = reading.listings_after(conn, STORE, after, 2).rows
        assert [one["variant_id"] for one in first + rest] == ["a", "b", "c"]
        assert [one["price"] for one in first + rest] == ["19.99", "25.00", "19.99"]
        assert first[1]["last_changed_at"] == "2027-01-15T09:00:00.000Z"
        key = first[0]["url_key"]
        assert reading.listings_after(conn, STORE, 0, 9, url_key=key) == (first + rest, rest[-1]["id"], False)
        assert reading.listings_after(conn, STORE, first[1]["id"], 9, url_key=key).rows == rest
        assert reading.listings_after(conn, STORE, 5, 9, url_key=f"{key}x") == ([], 5, False)
        since = NOW + HOUR
        assert reading.listings_after(conn, STORE, 0, 9, url_key=key, changed_since_ms=since).rows == first[1:]
        assert reading.one_listing(conn, STORE, first[1]["id"]) == first[1]
        assert reading.one_listing(conn, "other", first[1]["id"]) is None
        assert reading.history_of(conn, "other", first[1]["id"]) is None
        spans = reading.history_of(conn, STORE, first[1]["id"])
        assert spans is not None
        assert [(one["kind"], one["price"], one["since"]) for one in spans] == [
            ("observed", "19.99", "2027-01-15T08:00:00.000Z"),
            ("observed", "25.00", "2027-01-15T09:00:00.000Z"),
        ]
        ((run,), _, _) = reading.runs_after(conn, STORE, 0, 10)
        assert (run["kind"], run["status"], run["finished_at"]) == ("refresh", "running", None)
        assert reading.runs_after(conn, STORE, run["id"], 10) == ([], run["id"], False)
