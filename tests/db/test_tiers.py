"""What is remembered of a store's tiers, and which of them its runs needed."""

from __future__ import annotations

from storebot.core.rung import Rung
from storebot.db import runs, tiers
from storebot.db.database import Database
from storebot.db.tiers import Used
from storebot.items import Outcome, PageType, Target, Tier
from tests.db.shop import NOW, STORE, Worker, parsed, unparsed

LEFT = Rung(
    page_type=PageType.PRODUCT,
    tier=Tier.HTTP,
    tries=12.345,
    successes=7.5,
    failures=4,
    tried_at=NOW,
    worked_at=NOW - 5000,
    filled_at=NOW - 9000,
    retry_at=NOW + 900_000,
    trips=1,
    reason="blocked (cloudflare), which the shop's Wächter says",
)
IN_USE = Rung(page_type=PageType.PRODUCT, tier=Tier.BROWSER, tries=1.0, successes=1.0, tried_at=NOW, worked_at=NOW)


def test_a_store_of_which_nothing_was_learned_has_none(database: Database) -> None:
    with database.read() as conn:
        assert tiers.load(conn, STORE) == ()


def test_what_was_learned_is_remembered_and_replaced(database: Database) -> None:
    catalogue = Rung(page_type=PageType.CATALOGUE, tier=Tier.HTTP, tries=3.0, successes=3.0, tried_at=NOW)
    with database.write() as conn:
        tiers.save(conn, STORE, [LEFT, IN_USE, catalogue])
        tiers.save(conn, "other", [IN_USE])
    with database.read() as conn:
        assert set(tiers.load(conn, STORE)) == {LEFT, IN_USE, catalogue}
    back = Rung(page_type=PageType.PRODUCT, tier=Tier.HTTP, tries=2.0, successes=2.0, tried_at=NOW + 1, trips=1)
    with database.write() as conn:
        tiers.save(conn, STORE, [back])
        assert set(tiers.load(conn, STORE)) == {back, IN_USE, catalogue}
        assert tiers.load(conn, "other") == (IN_USE,)


def test_counts_that_fade_are_kept_to_the_thousandth(database: Database) -> None:
    rung = Rung(page_type=PageType.PRODUCT, tier=Tier.HTTP, tries=19.99951, successes=0.00049)
    with database.write() as conn:
        tiers.save(conn, STORE, [rung])
        (kept,) = tiers.load(conn, STORE)
    assert (kept.tries, kept.successes) == (20.0, 0.0)


def test_saving_nothing_writes_nothing(database: Database) -> None:
    with database.write() as conn:
        tiers.save(conn, STORE, [])
        assert tiers.load(conn, STORE) == ()


def test_a_run_counts_its_visits_by_tier_and_every_step_up(database: Database) -> None:
    worker = Worker(database)
    worker.discover("1", "2", "3", "4")
    first, second, third, fourth = worker.pending()
    steps = ("http: blocked (cloudflare)", "http2: blocked (cloudflare)")
    listing = Target(
        store=STORE, url="http://shop.example/all", url_key="http://shop.example/all", page_type=PageType.CATALOGUE
    )
    worker.save(
        parsed(first, tier="http"),
        parsed(second, tier="browser", steps=steps),
        unparsed(third, Outcome.BLOCKED, tier="api", steps=("http: blocked (akamai)",)),
        unparsed(fourth, Outcome.SKIPPED, requests=0),
        unparsed(listing, Outcome.BLOCKED, tier="browser", steps=("http: blocked (akamai)",)),
    )
    run_id = worker.run.run_id
    expected = Used({"http": 1, "browser": 1, "api": 1}, escalations=4)
    with database.read() as conn:
        assert tiers.used(conn, [run_id]) == {run_id: expected}
        assert tiers.used(conn, []) == {}
        (run,) = runs.last(conn, STORE)
    assert (run.tiers, run.escalations) == (expected.tiers, 4)


def test_a_run_without_visits_used_none(database: Database) -> None:
    worker = Worker(database)
    with database.read() as conn:
        (run,) = runs.last(conn, STORE)
    assert (run.id, run.tiers, run.escalations) == (worker.run.run_id, {}, 0)
