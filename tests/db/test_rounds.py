"""Which source names which page, and what it means that none does any more."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from storebot.core.delist import Rules
from storebot.db import delisting, rounds
from storebot.db.database import Database
from storebot.db.schema import changes, listings, namings, pages, scopes
from storebot.items import CatalogPage, Outcome, Round
from tests.db.shop import HOUR, STORE, Worker, found, parsed, unparsed

ENOUGH, SHARE = 2, 0.5
NOW = 1_600_000_000_000  # rounds go by the database's clock: what was seen then was seen before they began
NAMES = tuple(f"{number:02}" for number in range(20))


class Source:
    """One source of the shop, read again and again; its clock is the database's."""

    def __init__(self, shop: Worker, name: str = "sitemap", params: str = "a") -> None:
        self.shop, self.name, self.params = shop, name, params

    def begin(self, *, resumes: bool = False, glances: bool = False) -> Round:
        with self.shop.database.write() as conn:
            return rounds.begin(conn, STORE, self.name, self.params, resumes=resumes, glances=glances)

    def names(self, round_: Round, *names: str, lastmod: str | None = None, after_ms: int = 0) -> None:
        page = CatalogPage(
            store=STORE,
            walk="w",
            number=1,
            url="http://shop.example/w",
            at_ms=self.shop.clock() + after_ms,
            found=tuple(found(*names, lastmod=lastmod)),
            checkpoint=False,
            round=round_,
        )
        self.shop.save(page)

    def end(self, round_: Round, reason: str = "") -> rounds.Unnamed:
        with self.shop.database.write() as conn:
            whole = rounds.end(conn, {round_: reason})
            return rounds.miss(conn, STORE, ENOUGH, SHARE) if whole else rounds.Unnamed()

    def read(self, *names: str, reason: str = "", lastmod: str | None = None) -> rounds.Unnamed:
        """Read all that it names, and end the round."""
        round_ = self.begin()
        self.names(round_, *names, lastmod=lastmod)
        return self.end(round_, reason)


def shop_with(database: Database, *names: str) -> tuple[Worker, Source]:
    """Return a shop whose pages were named by its sitemap and read."""
    shop = Worker(database)
    source = Source(shop)
    source.read(*names)
    shop.save(*(parsed(target, at=NOW) for target in shop.pending()))
    return shop, source


def page(shop: Worker, name: str) -> dict[str, object]:
    return next(row for row in shop.rows(pages) if row["url_key"].endswith(f"/{name}"))


def status(shop: Worker, name: str) -> str:
    of = page(shop, name)["id"]
    return next(str(row["status"]) for row in shop.rows(listings) if row["page_id"] == of)


class TestUnnamed:
    def test_what_two_whole_rounds_do_not_name_is_missing_and_due_without_an_event(self, database: Database) -> None:
        """D04: absence alone never delists."""
        shop, source = shop_with(database, *NAMES)
        assert source.read(*NAMES[1:]).found == 0
        assert status(shop, "00") == "active"
        assert source.read(*NAMES[1:]).found == 1
        assert (status(shop, "00"), page(shop, "00")["next_due_at"]) == ("missing", 0)
        assert source.read(*NAMES[1:]).found == 0, "told once"
        with database.write() as conn:
            assert delisting.confirm(conn, STORE, shop.run.run_id, Rules(), NOW + 900 * HOUR) == 0
        assert shop.rows(changes) == []

    def test_one_direct_answer_then_is_enough_d04(self, database: Database) -> None:
        shop, source = shop_with(database, *NAMES)
        source.read(*NAMES[1:])
        source.read(*NAMES[1:])
        target = next(one for one in shop.due() if one.url.endswith("00"))
        at = shop.clock() + 25 * HOUR
        shop.save(unparsed(target, Outcome.MISSING, at, evidence="404"))
        with database.write() as conn:
            assert delisting.confirm(conn, STORE, shop.run.run_id, Rules(), at) == 1
        assert status(shop, "00") == "delisted"

    def test_a_product_that_still_sells_at_its_own_address_is_active_and_not_asked_again(
        self, database: Database
    ) -> None:
        """An orphan: no list names it, and it's there."""
        shop, source = shop_with(database, *NAMES)
        source.read(*NAMES[1:])
        source.read(*NAMES[1:])
        later = shop.clock() + HOUR
        shop.save(parsed(next(one for one in shop.due() if one.url.endswith("00")), at=later))
        assert status(shop, "00") == "active"
        source.read(*NAMES[1:])
        assert page(shop, "00")["next_due_at"] == later + 24 * HOUR

    def test_one_missed_round_is_forgotten_when_it_is_named_again(self, database: Database) -> None:
        """P06, D04: an order that shifts hides a live product once."""
        shop, source = shop_with(database, *NAMES)
        for names in (NAMES[1:], NAMES, NAMES[1:], NAMES):
            assert source.read(*names).found == 0
        assert status(shop, "00") == "active"

    def test_a_round_that_is_not_whole_proves_nothing_d03(self, database: Database) -> None:
        shop, source = shop_with(database, *NAMES)
        for _ in range(5):
            assert source.read(*NAMES[:3], reason="page 4 blocked").found == 0
        assert {row["status"] for row in shop.rows(listings)} == {"active"}
        assert shop.only(scopes)["reason"] == "page 4 blocked"
        assert shop.only(scopes)["rounds"] == 1

    def test_a_round_that_names_nothing_is_not_whole(self, database: Database) -> None:
        _, source = shop_with(database, *NAMES)
        assert source.read().found == 0
        assert source.shop.only(scopes)["reason"] == "it names no product page"

    def test_another_scope_proves_nothing_of_what_the_old_one_named_d03(self, database: Database) -> None:
        """A walk that was narrowed to one category."""
        shop, _ = shop_with(database, *NAMES)
        narrow = Source(shop, params="shoes")
        for _ in range(4):
            assert narrow.read(*NAMES[:5]).found == 0
        assert {row["status"] for row in shop.rows(listings)} == {"active"}

    def test_what_another_source_names_since_is_not_unnamed(self, database: Database) -> None:
        shop, sitemap = shop_with(database, *NAMES)
        catalogue = Source(shop, "catalogue")
        for _ in range(3):
            assert sitemap.read(*NAMES[1:]).found == 0
            assert catalogue.read(*NAMES).found == 0
        assert status(shop, "00") == "active"

    @pytest.mark.parametrize("last", ["sitemap", "catalogue"])
    def test_which_source_of_one_backfill_named_it_last_says_nothing(self, database: Database, last: str) -> None:
        """Refreshes read the sitemap alone; what the catalogue named in the backfill, it names no more."""
        shop = Worker(database)
        sitemap, catalogue = Source(shop), Source(shop, "catalogue")
        first, second = (catalogue, sitemap) if last == "sitemap" else (sitemap, catalogue)
        begun = {source.name: source.begin() for source in (sitemap, catalogue)}
        first.names(begun[first.name], *NAMES, after_ms=60_000)
        second.names(begun[second.name], *NAMES, after_ms=120_000)
        assert first.end(begun[first.name]) == second.end(begun[second.name]) == rounds.Unnamed()
        shop.save(*(parsed(target, at=NOW) for target in shop.pending()))
        assert sitemap.read(*NAMES[1:]).found == 0
        assert sitemap.read(*NAMES[1:]).found == 1
        assert status(shop, "00") == "missing"

    def test_a_glance_moves_no_round(self, database: Database) -> None:
        shop, source = shop_with(database, *NAMES)
        row = shop.only(scopes)
        source.names(source.begin(resumes=True, glances=True), *NAMES[:3])
        assert {**shop.only(scopes), "at": 0} == {**row, "at": 0}

    def test_half_a_store_is_asked_but_not_believed(self, database: Database) -> None:
        shop, source = shop_with(database, *NAMES)
        source.read(*NAMES[:5])
        assert source.read(*NAMES[:5]) == rounds.Unnamed(15, believed=False)
        assert {row["status"] for row in shop.rows(listings)} == {"active"}
        assert [row["next_due_at"] for row in shop.rows(pages)].count(0) == 15

    def test_the_target_of_a_redirect_is_no_orphan(self, database: Database) -> None:
        """The list names the old address alone, which leads to the page."""
        shop, source = shop_with(database, *NAMES)
        target = next(one for one in shop.due() if one.url.endswith("00"))
        new = "https://shop.example/p/moved"
        shop.save(parsed(target, at=NOW + 1, final_url="http://shop.example/p/moved", final_key=new))
        for _ in range(3):
            assert source.read(*NAMES).found == 0
        assert page(shop, "moved")["unnamed_since"] is None

    def test_nor_is_the_one_that_took_a_retired_page_in(self, database: Database) -> None:
        shop, source = shop_with(database, *NAMES)
        first, second, *_ = sorted(shop.due(), key=lambda one: one.url)
        shop.save(parsed(first, at=NOW + 1, final_url=second.url, final_key=second.url_key), parsed(second, at=NOW + 1))
        for _ in range(3):
            assert source.read("00", *NAMES[2:]).found == 0
        assert status(shop, "01") == "active"


class TestNamedAgain:
    def gone(self, database: Database) -> tuple[Worker, Source]:
        shop, source = shop_with(database, *NAMES)
        target = next(one for one in shop.due() if one.url.endswith("00"))
        shop.save(unparsed(target, Outcome.MISSING, NOW + 1, evidence="410"))
        with database.write() as conn:
            delisting.confirm(conn, STORE, shop.run.run_id, Rules(), shop.clock())
        return shop, source

    def test_a_delisted_page_is_due_at_once(self, database: Database) -> None:
        shop, source = self.gone(database)
        source.read(*NAMES[1:])
        source.read(*NAMES[1:])
        assert page(shop, "00")["next_due_at"] != 0
        source.read(*NAMES)
        assert page(shop, "00")["next_due_at"] == 0

    def test_one_that_was_named_all_the_time_is_not(self, database: Database) -> None:
        """A dead link that stays in the sitemap isn't asked for in every run."""
        shop, source = self.gone(database)
        source.read(*NAMES)
        with database.write() as conn:
            conn.execute(pages.update().values(next_due_at=NOW, first_missed_at=1))
        source.read(*NAMES)
        assert page(shop, "00")["next_due_at"] == NOW
        source.read(*NAMES, lastmod="2026-03-01")
        assert page(shop, "00")["next_due_at"] == 0, "the shop says that it changed"

    def test_what_was_missing_only_for_want_of_a_name_is_active(self, database: Database) -> None:
        shop, source = shop_with(database, *NAMES)
        source.read(*NAMES[1:])
        source.read(*NAMES[1:])
        assert status(shop, "00") == "missing"
        source.read(*NAMES)
        assert (status(shop, "00"), page(shop, "00")["unnamed_since"]) == ("active", None)


class TestRounds:
    def test_a_backfill_that_is_resumed_goes_on_with_its_round(self, database: Database) -> None:
        """M07: what an interrupted run named counts with what the next one does."""
        shop, source = shop_with(database, *NAMES)
        first = source.begin(resumes=True)
        source.names(first, *NAMES[:10])
        source.end(first, "the run was stopped")
        begun = shop.only(scopes)["begun_at"]
        second = source.begin(resumes=True)
        source.names(second, *NAMES[10:])
        assert (first.number, second.number, shop.only(scopes)["begun_at"]) == (2, 2, begun)
        assert source.end(second).found == 0
        assert (shop.only(scopes)["rounds"], shop.only(scopes)["whole_from"]) == (2, begun)

    def test_what_was_walked_before_the_round_began_is_not_in_it(self, database: Database) -> None:
        shop, source = shop_with(database, *NAMES)
        begun = source.begin()
        with database.write() as conn:
            assert not rounds.covers(conn, begun, STORE, "never walked")
        assert shop.only(scopes)["rounds"] == 1

    def test_naming_pages_again_writes_no_further_row(self, database: Database) -> None:
        shop, source = shop_with(database, *NAMES)
        for _ in range(3):
            source.read(*NAMES, "new")
        assert len(shop.rows(namings)) == 21
        with database.read() as conn:
            assert set(conn.execute(select(namings.c.round)).scalars()) == {4}
