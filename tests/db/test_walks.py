"""Checkpoints: never past what is stored, and right after any stop."""

from __future__ import annotations

import pytest

from storebot.db import walks
from storebot.db.database import Database
from storebot.db.schema import catalogue_pages, checkpoints, pages
from storebot.exceptions import SaveFailed
from storebot.items import CatalogPage, WalkEnd, WalkState
from tests.db.shop import NOW, STORE, Worker, found

WALK = "catalogue /ä/page-{page}.html"


def page(number: int, *names: str, walk: str = WALK, params: str = "24", checkpoint: bool = True) -> CatalogPage:
    return CatalogPage(
        store=STORE,
        walk=walk,
        number=number,
        url=f"http://shop.example/page-{number}",
        at_ms=NOW,
        found=tuple(found(*names)),
        fingerprint=f"print {number} {names}",
        params=params,
        next_url=f"http://shop.example/page-{number + 1}",
        checkpoint=checkpoint,
    )


def opened(database: Database, walk: str = WALK, params: str = "24") -> walks.Checkpoint:
    with database.write() as conn:
        return walks.open_walk(conn, STORE, walk, params)


class TestWalks:
    def test_a_new_walk_begins_at_nothing(self, database: Database) -> None:
        assert opened(database) == walks.Checkpoint(page=0, state=WalkState.WALKING)

    def test_it_goes_on_where_it_was_committed_and_knows_what_it_saw(self, database: Database) -> None:
        shop = Worker(database)
        opened(database)
        saved = shop.save(page(1, "a", "b"), page(2, "b", "c"))
        assert [one.new_pages for one in saved] == [2, 1]
        stands = opened(database)
        assert (stands.page, stands.next_url) == (2, "http://shop.example/page-3")
        assert stands.fingerprints == {1: "print 1 ('a', 'b')", 2: "print 2 ('b', 'c')"}
        assert [row["entries"] for row in shop.rows(catalogue_pages)] == [2, 2]

    def test_a_resume_may_commit_the_last_page_again(self, database: Database) -> None:
        """Catalogues shift: a resume steps back one page."""
        shop = Worker(database)
        opened(database)
        shop.save(page(1, "a"))
        (saved,) = shop.save(page(1, "a", "shifted"))
        assert saved.new_pages == 1
        assert opened(database).fingerprints == {1: "print 1 ('a', 'shifted')"}

    @pytest.mark.parametrize("number", [0, 1, 4, 17])
    def test_a_page_out_of_order_is_refused_with_its_rows(self, database: Database, number: int) -> None:
        shop = Worker(database)
        opened(database)
        shop.save(page(1, "a"), page(2, "b"))
        with pytest.raises(SaveFailed, match=f"page {number} came out of order after page 2"):
            shop.save(page(number, "c"))
        assert len(shop.rows(pages)) == 2
        assert shop.only(checkpoints)["page"] == 2

    def test_a_page_under_other_parameters_is_refused(self, database: Database) -> None:
        shop = Worker(database)
        opened(database)
        with pytest.raises(SaveFailed, match="under other parameters"):
            shop.save(page(1, "a", params="48"))

    def test_changed_parameters_start_the_walk_again_and_say_so(self, database: Database) -> None:
        """M08: with other parameters 'page 20' is another page."""
        Worker(database)
        opened(database)
        Worker(database).save(page(1), page(2))
        stands = opened(database, params="48")
        assert (stands.page, stands.fingerprints) == (0, {})
        assert stands.restarted is not None
        assert "parameters changed after page 2" in stands.restarted
        assert opened(database, params="48").restarted is None

    def test_a_page_without_checkpoint_saves_its_rows_alone(self, database: Database) -> None:
        shop = Worker(database)
        opened(database)
        shop.save(page(9, "a", checkpoint=False))
        assert len(shop.rows(pages)) == 1
        assert opened(database).page == 0

    def test_an_ended_walk_stays_ended_until_the_backfill_is_complete(self, database: Database) -> None:
        shop = Worker(database)
        opened(database)
        end = WalkEnd(store=STORE, walk=WALK, at_ms=NOW, state=WalkState.ENDED, reason="a second look agrees")
        shop.save(page(1, "a"), end)
        assert opened(database).state is WalkState.ENDED
        with database.write() as conn:
            assert walks.states(conn, STORE) == [walks.Walk(WALK, 1, WalkState.ENDED, "a second look agrees")]
            assert walks.close_walks(conn, STORE) == 1
        assert opened(database) == walks.Checkpoint(page=0, state=WalkState.WALKING)

    def test_looking_whether_a_walk_has_ended_opens_none(self, database: Database) -> None:
        def ended(params: str = "24") -> bool:
            with database.read() as conn:
                return walks.is_ended(conn, STORE, WALK, params)

        shop = Worker(database)
        assert (ended(), shop.rows(checkpoints)) == (False, [])
        opened(database)
        assert not ended()
        shop.save(WalkEnd(store=STORE, walk=WALK, at_ms=NOW, state=WalkState.ENDED))
        assert (ended(), ended("48")) == (True, False)
        with database.write() as conn:
            walks.close_walks(conn, STORE)
        assert not ended()

    def test_an_incomplete_walk_goes_on_and_is_not_closed(self, database: Database) -> None:
        shop = Worker(database)
        opened(database)
        end = WalkEnd(store=STORE, walk=WALK, at_ms=NOW, state=WalkState.INCOMPLETE, reason="blocked")
        shop.save(page(1), page(2), end)
        with database.write() as conn:
            assert walks.close_walks(conn, STORE) == 0
        stands = opened(database)
        assert (stands.page, stands.state) == (2, WalkState.INCOMPLETE)

    def test_the_end_of_a_walk_of_the_head_alone_leaves_the_checkpoint(self, database: Database) -> None:
        shop = Worker(database)
        opened(database)
        shop.save(page(1), WalkEnd(store=STORE, walk=WALK, at_ms=NOW, state=WalkState.ENDED, checkpoint=False))
        assert opened(database).state is WalkState.WALKING

    def test_a_walk_that_was_never_opened_has_no_end(self, database: Database) -> None:
        with pytest.raises(SaveFailed, match="never opened"), database.write() as conn:
            walks.end_walk(conn, STORE, "unknown", WalkState.ENDED, "")

    def test_walks_with_very_long_names_are_kept_apart(self, database: Database) -> None:
        shop = Worker(database)
        first, second = "sitemap https://shop.example/" + "x" * 2000, "sitemap https://shop.example/" + "x" * 2001
        opened(database, first)
        opened(database, second)
        shop.save(page(1, walk=first))
        assert (opened(database, first).page, opened(database, second).page) == (1, 0)
