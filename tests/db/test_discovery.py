"""Pages are saved once each, however often and from wherever they're named."""

from __future__ import annotations

import logging
import threading

import pytest

from storebot.db import pages as verbs
from storebot.db.database import Database
from storebot.db.retry import retrying
from storebot.db.schema import pages
from storebot.items import Discovered
from tests.db.shop import NOW, STORE, Worker, found, parsed


class TestDiscovery:
    def test_new_pages_are_counted_once(self, database: Database) -> None:
        shop = Worker(database)
        assert shop.discover("1", "2", "2") == 2
        assert shop.discover("2", "3") == 1
        assert [row["status"] for row in shop.rows(pages)] == ["pending"] * 3

    def test_a_known_page_keeps_what_it_has(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        before = shop.only(pages)
        assert shop.discover("1") == 0
        assert shop.only(pages) == before

    def test_lastmod_is_written_where_it_moved_and_kept_where_none_is_given(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1", lastmod="2026-01-01")
        for lastmod, kept in [(None, "2026-01-01"), ("2026-02-02T10:00:00Z", "2026-02-02T10:00:00Z")]:
            shop.discover("1", lastmod=lastmod)
            assert shop.only(pages)["sitemap_lastmod"] == kept

    def test_text_that_can_be_no_date_is_no_lastmod(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1", lastmod="yesterday " * 20)
        assert shop.only(pages)["sitemap_lastmod"] is None

    def test_a_whole_sitemap_is_one_call(self, database: Database) -> None:
        shop = Worker(database)
        names = [f"{number:05}" for number in range(3000)]
        assert shop.discover(*names) == 3000
        assert shop.discover(*names, "new") == 1

    @pytest.mark.parametrize(
        "entry",
        [
            Discovered("http://shop.example/ä", "https://shop.example/ä"),
            Discovered("http://shop.example/long", "https://shop.example/" + "x" * 1100),
            Discovered("http://shop.example/\ud800", "https://shop.example/surrogate"),
            Discovered("http://shop.example/\0", "https://shop.example/nul"),
            Discovered("http://shop.example/", ""),
        ],
    )
    def test_a_key_that_no_index_holds_is_left_out_with_a_warning(
        self, database: Database, entry: Discovered, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING), database.write() as conn:
            assert verbs.discover(conn, STORE, [entry, *found("1")], NOW) == 1
        assert "1 URLs left out" in caplog.text

    def test_an_alias_is_not_a_new_page(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("old")
        shop.save(parsed(shop.pending()[0], final_url="http://shop.example/p/n", final_key="https://shop.example/p/n"))
        assert shop.discover("old", "n") == 0

    def test_two_writers_of_the_same_keys_in_opposite_order_both_succeed(self, database: Database) -> None:
        """T08."""
        entries = found(*(f"{number:03}" for number in range(100)))
        start, errors = threading.Barrier(2), []

        def work(mine: list[Discovered]) -> None:
            start.wait()
            try:
                for _ in range(5):
                    retrying(database, lambda conn: verbs.discover(conn, STORE, mine, NOW), waits_s=[0.05] * 5)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(order,)) for order in (entries, entries[::-1])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        with database.read() as conn:
            assert sum(verbs.counts(conn, STORE).values()) == 100
