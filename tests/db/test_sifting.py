"""Rows by conditions: all that meet them and no other, a bounded look at a time, however many there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, insert

from storebot.db import change_feed, sifting
from storebot.db.database import Database
from storebot.db.listing_pages import listings_where
from storebot.db.schema import changes, listings, pages
from storebot.db.sifting import Page
from storebot.items import Availability, ListingStatus
from tests.db.shop import STORE

Read = Callable[[Connection, int, int], Page]
KINDS = ("new", "changed", "delisted")
FIELDS = ("price_minor", "availability")
on_sqlite = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def fill(conn: Connection, count: int) -> None:
    """Have listings whose status, availability and time go round, those of another store between them; and changes."""
    numbers = range(1, count + 1)
    conn.execute(insert(pages), [_page(number, STORE if number % 4 else "other") for number in numbers])
    conn.execute(insert(listings), [_listing(number, STORE if number % 4 else "other") for number in numbers])
    conn.execute(insert(changes), [_change(number, STORE if number % 4 else "other") for number in numbers])


def _page(number: int, store: str) -> dict[str, Any]:
    key = f"https://shop.example/p/{number}"
    return {"id": number, "store": store, "url_key": key, "url": key, "status": "parsed", "first_seen_at": 1}


def _listing(number: int, store: str) -> dict[str, Any]:
    texts = {name: "" for name in ("url", "record_hash", "details_hash")}
    lists = {name: "[]" for name in ("category_path", "images", "disagreements")}
    return {
        **texts,
        **lists,
        "id": number,
        "page_id": number,
        "variant_id": "",
        "store": store,
        "options": "{}",
        "field_source": "{}",
        "status": [*ListingStatus][number % 3].value,
        "availability": None if number % 5 == 0 else [*Availability][number % 2].value,
        "last_changed_at": 1_000 + number % 7,
    }


def _change(number: int, store: str) -> dict[str, Any]:
    field = FIELDS[number % 2]
    return {
        "seq": number,
        "id": f"c{number}",
        "type": KINDS[number % 3],
        "store": store,
        "url_key": f"https://shop.example/p/{number}",
        "variant_id": "",
        "fields": f'[{{"field":"{field}","before":"price_minor","after":null}}]',
        "at": 1_000 + number % 7,
    }


def walked(conn: Connection, read: Read, limit: int) -> tuple[list[Any], list[int]]:
    """Follow ``after`` to the end; return all rows, and how many each answer had."""
    found, sizes, after, more = [], [], 0, True
    while more:
        answer = read(conn, after, limit)
        assert answer.after > after or not answer.more, "it always gets on"
        assert len(answer.rows) <= limit
        found += answer.rows
        sizes.append(len(answer.rows))
        after, more = answer.after, answer.more
    assert read(conn, after, limit) == ([], after, False)
    return found, sizes


def test_filters_give_what_meets_them_page_by_page(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sifting, "LOOKED_AT", 7)
    with database.write() as conn:
        fill(conn, 60)
        mine = [number for number in range(1, 61) if number % 4]
        active, stock = ListingStatus.ACTIVE.value, [*Availability][1].value
        for values, expected in (
            ({}, mine),
            ({"status": active}, [one for one in mine if _listing(one, "")["status"] == active]),
            ({"availability": stock}, [one for one in mine if one % 2 and one % 5]),
            ({"changed_since_ms": 1_005}, [one for one in mine if one % 7 >= 5]),
            (
                {"status": active, "availability": stock, "changed_since_ms": 1_003},
                [one for one in mine if _listing(one, "")["status"] == active and one % 2 and one % 5 and one % 7 >= 3],
            ),
        ):
            for limit in (1, 3, 100):
                found, _ = walked(conn, lambda c, after, n: listings_where(c, STORE, after, n, **values), limit)  # noqa: B023
                assert [one.id for one in found] == expected


def test_changes_are_sifted_by_the_field_and_not_by_a_text_that_names_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sifting, "LOOKED_AT", 7)
    with database.write() as conn:
        fill(conn, 60)
        mine = [number for number in range(1, 61) if number % 4]
        for values, expected in (
            ({}, mine),
            ({"type": "new"}, [one for one in mine if one % 3 == 0]),
            ({"field": "price_minor"}, [one for one in mine if one % 2 == 0]),
            ({"since_ms": 1_006}, [one for one in mine if one % 7 == 6]),
            ({"type": "new", "field": "availability"}, [one for one in mine if one % 3 == 0 and one % 2]),
        ):
            for limit in (1, 3, 100):
                found, sizes = walked(conn, lambda c, after, n: change_feed.where(c, STORE, after, n, **values), limit)  # noqa: B023
                assert [one["seq"] for one in found] == expected
                assert max(sizes) <= (limit if not values else min(limit, 7))


@on_sqlite
@pytest.mark.parametrize("far_in", [False, True])
def test_an_answer_costs_the_same_whatever_the_store_has(
    database: Database, monkeypatch: pytest.MonkeyPatch, far_in: bool
) -> None:
    """In steps of SQLite's machine, which no other work on this computer changes; nothing matches, the worst case."""
    monkeypatch.setattr(sifting, "LOOKED_AT", 200)
    reads: dict[str, Read] = {
        "status": lambda conn, after, limit: listings_where(conn, STORE, after, limit, status="none"),
        "availability": lambda conn, after, limit: listings_where(conn, STORE, after, limit, availability="none"),
        "since": lambda conn, after, limit: listings_where(conn, STORE, after, limit, changed_since_ms=2**50),
        "type": lambda conn, after, limit: change_feed.where(conn, STORE, after, limit, type="none"),
        "field": lambda conn, after, limit: change_feed.where(conn, STORE, after, limit, field="none"),
    }
    costs: dict[str, list[int]] = {name: [] for name in reads}
    with database.write() as conn:
        for count in (1_000, 8_000):
            for table in (changes, listings, pages):
                conn.execute(table.delete())
            fill(conn, count)
            for name, read in reads.items():
                costs[name].append(steps(conn, lambda: read(conn, count // 2 if far_in else 0, 50)))  # noqa: B023
    for name, (small, large) in costs.items():
        assert large <= small * 1.1 + 50, f"{name}: {small} steps, and in eight times the rows {large}"


def steps(conn: Connection, work: Callable[[], object]) -> int:
    """Return how many steps SQLite's machine takes for something."""
    raw, count = conn.connection.driver_connection, 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    assert raw is not None
    raw.set_progress_handler(step, 1)
    try:
        work()
    finally:
        raw.set_progress_handler(None, 0)
    return count


@given(
    count=st.integers(0, 40), looked=st.integers(1, 12), limit=st.integers(1, 9), status=st.sampled_from(["", "active"])
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@on_sqlite
def test_no_row_is_left_out_or_given_twice_whatever_the_bounds(
    database: Database, count: int, looked: int, limit: int, status: str
) -> None:
    before, sifting.LOOKED_AT = sifting.LOOKED_AT, looked
    try:
        with database.write() as conn:
            for table in (changes, listings, pages):
                conn.execute(table.delete())
            if count:
                fill(conn, count)
            found, _ = walked(
                conn,
                lambda c, after, n: listings_where(c, STORE, after, n, status=status, changed_since_ms=1_002),
                limit,
            )
    finally:
        sifting.LOOKED_AT = before
    mine = [one for one in range(1, count + 1) if one % 4 and one % 7 >= 2]
    assert [one.id for one in found] == [one for one in mine if not status or _listing(one, "")["status"] == status]
