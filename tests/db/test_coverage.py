"""What sources name beside what the database holds."""

from __future__ import annotations

from storebot.core.coverage import Coverage
from storebot.db import coverage
from storebot.db.database import Database
from storebot.db.schema import pages, scopes
from storebot.items import Outcome
from tests.db.shop import STORE, Worker, parsed, unparsed
from tests.db.test_rounds import Source, page


def counted(shop: Worker) -> Coverage:
    with shop.database.read() as conn:
        return coverage.coverage(conn, STORE)


def listed(shop: Worker, which: str, limit: int = 50) -> list[str]:
    with shop.database.read() as conn:
        return [line.url.rpartition("/")[2] for line in coverage.lines(conn, STORE, which, limit=limit)]


def shop_of(database: Database) -> tuple[Worker, Source, Source]:
    """Return a shop of pages a to f: `a` in both sources, `b` in the sitemap, `c` in the catalogue, `d` in neither any
    more, `e` never read, `f` a dead link."""
    shop = Worker(database)
    sitemap, catalogue = Source(shop), Source(shop, "catalogue")
    sitemap.read("a", "b", "d", "e", "f")
    catalogue.read("a", "c", "d", "f")
    for target in shop.pending():
        if target.url.endswith("/f"):
            shop.save(unparsed(target, Outcome.MISSING, shop.clock(), evidence="404"))
        elif not target.url.endswith("/e"):
            shop.save(parsed(target, at=shop.clock()))
    sitemap.read("a", "b", "e", "f")
    catalogue.read("a", "c", "f")
    return shop, sitemap, catalogue


def test_it_is_counted_what_each_has_and_what_each_lacks(database: Database) -> None:
    shop, *_ = shop_of(database)
    found = counted(shop)
    by_source = {one.source: one for one in found.sources}
    assert {name: (one.named, one.unread, one.lacks) for name, one in by_source.items()} == {
        "sitemap": (4, 1, 2),
        "catalogue": (3, 0, 2),
    }
    assert dict(found.states) == {"active": 4, "unread": 1, "missing": 1}
    assert (found.everywhere, found.unlisted) == (1, 1)
    assert dict(found.overlaps) == {"sitemap": 2, "catalogue": 1}
    assert found.status == "partial"
    assert found.doubts == ["1 pages are named and were never read"]


def test_the_pages_of_each_list(database: Database) -> None:
    shop, *_ = shop_of(database)
    assert listed(shop, "extra") == ["d"]
    assert listed(shop, "missing") == ["e", "f"]
    assert listed(shop, "unread") == ["e"]
    assert sorted(listed(shop, "sitemap")) == ["c", "d"]
    assert sorted(listed(shop, "catalogue")) == ["b", "d"]
    assert (listed(shop, "feed"), listed(shop, "delisted")) == ([], [])
    assert len(listed(shop, "missing", limit=1)) == 1


def test_since_when_is_what_each_source_said_last(database: Database) -> None:
    shop, *_ = shop_of(database)
    with database.read() as conn:
        (line,) = coverage.lines(conn, STORE, "extra", limit=5)
    first = {row["source"]: row for row in shop.rows(scopes)}
    for source, at in line.named.items():
        assert at is not None
        assert at < first[source]["whole_from"]
    assert line.checked_at == page(shop, "d")["checked_at"]


def test_a_source_that_was_not_read_whole_is_said_with_its_reason(database: Database) -> None:
    """Completeness is proven, never assumed."""
    shop, sitemap, _ = shop_of(database)
    shop.save(*(parsed(target, at=shop.clock()) for target in shop.pending()))
    assert counted(shop).status == "partial"
    with database.write() as conn:
        conn.execute(pages.update().where(pages.c.content_hash.is_(None)).values(misses=1))
    assert counted(shop).status == "complete"
    sitemap.read("a", reason="sitemap x: HTTP 503")
    found = counted(shop)
    assert (found.status, found.doubts) == ("partial", ["sitemap: sitemap x: HTTP 503"])
    assert {one.source: one.named for one in found.sources}["sitemap"] == 4, "of the last whole reading, and since"


def test_a_page_that_is_younger_than_a_reading_is_not_lacking_in_it(database: Database) -> None:
    shop, sitemap, _ = shop_of(database)
    sitemap.read("a", "b", "e", "f", "young")
    shop.save(*(parsed(target, at=shop.clock()) for target in shop.pending()))
    assert "young" not in listed(shop, "catalogue")


def test_a_store_that_was_never_read_is_no_complete_one(database: Database) -> None:
    found = counted(Worker(database))
    assert (found.status, list(found.sources)) == ("partial", [])
    assert "run `scrapy crawl backfill` first" in found.doubts[0]


def test_a_page_that_was_retired_into_another_is_left_out(database: Database) -> None:
    shop = Worker(database)
    sitemap = Source(shop)
    sitemap.read("1", "2")
    first, second = shop.pending()
    shop.save(parsed(first), parsed(second))
    first, second = shop.due()
    shop.save(parsed(first, at=shop.clock(), final_url=second.url, final_key=second.url_key))
    sitemap.read("1")
    found = counted(shop)
    assert dict(found.states) == {"active": 1}
    assert (found.everywhere, found.sources[0].named) == (1, 1), "the old address names the page that it leads to"
