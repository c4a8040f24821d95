"""One page under another key: by which it is found, and what goes with it."""

from __future__ import annotations

from storebot.core.likeness import likeness
from storebot.db import leases, moves
from storebot.db.database import Database
from storebot.db.schema import aliases, listings, offers, pages
from storebot.items import Outcome
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed

OLD, NEW, THIRD = (f"https://shop.example/p/{number}" for number in (1, 2, 3))
LATER = NOW + 48 * HOUR


def series(shop: Worker) -> dict[str, list[int]]:
    """Return the prices of each page that isn't retired, by its key, oldest first."""
    keys = {row["id"]: row["url_key"] for row in shop.rows(pages) if row["status"] != "gone"}
    found: dict[str, list[int]] = {key: [] for key in keys.values()}
    for row in shop.rows(offers):
        if row["page_id"] in keys:
            found[keys[row["page_id"]]].append(row["price_minor"])
    return found


def leads(shop: Worker) -> dict[str, tuple[str, str]]:
    """Return where each second name leads to, and why."""
    keys = {row["id"]: row["url_key"] for row in shop.rows(pages)}
    return {row["old_key"]: (keys[row["page_id"]], row["reason"]) for row in shop.rows(aliases)}


def next_run(shop: Worker) -> Worker:
    """Return a worker of another run over the same store."""
    with shop.database.write() as conn:
        leases.release(conn, STORE, shop.token)
    return Worker(shop.database)


def test_series_that_began_in_an_earlier_run_goes_on_at_the_page_that_a_redirect_leads_to(database: Database) -> None:
    first = Worker(database)
    first.known("1", listings=[listing(price_minor=100, sku="A")])
    shop = next_run(first)
    shop.discover("2")
    (new,) = shop.pending()
    shop.save(parsed(new, listing(price_minor=90, sku="A"), at=LATER))
    old = next(target for target in shop.due() if target.url_key == OLD)
    (saved,) = shop.save(parsed(old, listing(price_minor=90, sku="A"), at=LATER + 1, final_url=new.url, final_key=NEW))
    assert saved.outcome is Outcome.MOVED
    assert series(shop) == {NEW: [100, 90]}
    assert leads(shop) == {OLD: (NEW, "redirect")}
    active = [row for row in shop.rows(listings) if row["status"] == "active"]
    assert [(row["first_seen_at"], row["price_minor"]) for row in active] == [(NOW, 90)]
    assert {row["first_seen_at"] for row in shop.rows(pages)} == {NOW}


def test_page_without_a_record_gives_its_key_to_one_that_has_a_history(database: Database) -> None:
    """The new address is known from a sitemap, and the redirect is met before it was read."""
    shop = Worker(database)
    shop.known("1", listings=[listing(price_minor=100)])
    shop.discover("2")
    (new,) = shop.pending()
    (old,) = shop.due()
    saved = shop.save(
        parsed(old, listing(price_minor=90), at=LATER, final_url=new.url, final_key=NEW),
        parsed(new, listing(price_minor=90), at=LATER + 1),
    )
    assert [one.outcome for one in saved] == [Outcome.CHANGED, Outcome.SKIPPED]
    assert series(shop) == {NEW: [100, 90]}
    assert [(row["url_key"], row["url"], row["status"]) for row in shop.rows(pages)] == [
        (NEW, new.url, "parsed"),
        (OLD, old.url, "gone"),
    ]
    assert shop.discover("1", "2") == 0


def test_both_pages_of_one_batch_may_be_new_to_the_redirect(database: Database) -> None:
    shop = Worker(database)
    shop.discover("1", "2")
    old, new = shop.pending()
    saved = shop.save(parsed(new, at=NOW), parsed(old, at=NOW + 1, final_url=new.url, final_key=NEW))
    assert [one.outcome for one in saved] == [Outcome.NEW, Outcome.MOVED]
    assert series(shop) == {NEW: [1999]}


def test_redirect_to_another_product_leaves_each_its_own_series(database: Database) -> None:
    """Case R01."""
    shop = Worker(database)
    shop.known("1", listings=[listing("Hammer", 100, sku="A")])
    (old,) = shop.due()
    successor = listing("Cordless drill", 9900, sku="B")
    (saved,) = shop.save(parsed(old, successor, at=LATER, final_url="http://shop.example/p/2", final_key=NEW))
    assert (saved.outcome, saved.reason) == (Outcome.MOVED, f"redirects to {NEW}, which is another product")
    assert series(shop) == {NEW: []}
    assert len(shop.rows(offers)) == 1
    assert shop.only(listings)["status"] == "missing"
    new = shop.rows(pages)[1]
    assert (new["url"], new["status"], new["next_due_at"]) == ("http://shop.example/p/2", "pending", LATER)


def test_variants_go_on_with_their_own_prices_by_their_id_or_their_sku(database: Database) -> None:
    first = Worker(database)
    small, large = listing("Mug", 100, "s", sku="S"), listing("Mug", 200, "l", sku="L")
    first.known("1", listings=[small, large])
    shop = next_run(first)
    shop.discover("2")
    (new,) = shop.pending()
    renamed = [listing("Mug", 110, "s", sku="S"), listing("Mug", 220, "large", sku="L")]
    shop.save(parsed(new, *renamed, at=LATER))
    old = next(target for target in shop.due() if target.url_key == OLD)
    shop.save(parsed(old, *renamed, at=LATER, final_url=new.url, final_key=NEW))
    kept = {row["id"] for row in shop.rows(pages) if row["url_key"] == NEW}
    prices = [(row["variant_id"], row["price_minor"]) for row in shop.rows(offers) if row["page_id"] in kept]
    assert sorted(prices) == [("large", 200), ("large", 220), ("s", 100), ("s", 110)]


def test_key_of_an_amp_copy_leads_to_its_page_unless_it_is_a_page(database: Database) -> None:
    shop = Worker(database)
    shop.discover("1", "3")
    one, three = shop.pending()
    shop.save(parsed(one, amp_key=THIRD), parsed(three, amp_key="https://shop.example/p/3/amp"))
    assert leads(shop) == {"https://shop.example/p/3/amp": (THIRD, "amp")}
    assert shop.discover("3/amp") == 0


def test_holder_is_found_by_its_own_key_then_by_its_alias(database: Database) -> None:
    shop = Worker(database)
    shop.known("1", "2")
    with database.write() as conn:
        moves.alias(conn, STORE, THIRD, shop.rows(pages)[0]["id"], NOW, moves.CANONICAL)
        found = [moves.holder_of(conn, STORE, key) for key in (OLD, NEW, THIRD, "https://shop.example/")]
    assert [row and row.url_key for row in found] == [OLD, NEW, OLD, None]


def test_rows_of_the_database_can_be_compared_with_records(database: Database) -> None:
    shop = Worker(database)
    record = listing(sku="A", gtin="00012345678905")
    shop.known("1", listings=[record])
    with database.read() as conn:
        (row,) = conn.execute(listings.select())
    assert likeness([row], [record]) == (True, True, True)
