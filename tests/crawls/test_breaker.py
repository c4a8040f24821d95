"""A store that says no is left alone: whole crawls of a demo store that refuses, fails, or asks for time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from storebot.demo.running import DemoStore
from tests.crawls.scrapy_process import Row
from tests.crawls.watched import Watched

PRODUCTS = 60


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, page_size=20, sitemap_size=60) as shop:
        yield shop


@pytest.fixture(scope="module")
def backfilled(shop: DemoStore, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    return Watched.backfilled(shop, tmp_path_factory.mktemp("backfilled") / "store.db")


@pytest.fixture
def known(backfilled: Watched, tmp_path: Path) -> Iterator[Watched]:
    with backfilled.lent(tmp_path / "copy.db") as known:
        yield known


def test_store_that_forbids_is_left_alone_then_probed_then_crawled_again(known: Watched) -> None:
    """Closed → open → (half-open → open, twice as long) → half-open → closed, over five runs."""
    known.shop.lie("forbidden")
    first = known.forked("refresh", DOWNLOAD_DELAY=0.01)
    assert (first.exit_code, first.fields["status"]) == (4, "blocked"), first.stderr
    assert "10 of the last 10 visits were blocked" in known.last_run()["reason"]
    assert known.shop.requests().total < 60  # ten visits of two requests, and what was on its way
    records = known.records()

    turned_away = known.forked("refresh")
    assert (turned_away.exit_code, turned_away.fields["status"]) == (4, "blocked")
    assert "its circuit breaker is open until" in turned_away.stderr
    assert '-a force="WHO: WHY"' in turned_away.stderr
    assert known.shop.requests().total == 0
    assert known.count("SELECT count(*) FROM runs") == 2  # the backfill and the first: the other never began

    _let_the_cool_down_pass(known)
    probed = known.forked("refresh")
    assert probed.exit_code == 4, probed.stderr
    assert known.shop.requests().total == 1
    assert "its probe failed" in known.last_run()["reason"]
    breaker = _breaker(known)
    assert (breaker["breaker_state"], breaker["breaker_trips"]) == ("open", 2)
    assert 48 * 60_000 <= breaker["breaker_until"] - breaker["breaker_opened_at"] <= 72 * 60_000

    known.shop.honest()
    assert known.forked("refresh").exit_code == 4  # the cool-down counts, not what the store would say
    assert known.shop.requests().total == 0
    _let_the_cool_down_pass(known)
    good = known.forked("refresh", STOREBOT_ERROR_BACKOFF_S=0)
    assert (good.exit_code, good.fields["status"]) in ((0, "complete"), (3, "partial")), good.stderr
    assert _breaker(known)["breaker_state"] == "closed"
    assert _breaker(known)["breaker_trips"] == 0
    assert known.records() == records


def test_store_whose_server_is_broken_is_left_alone_too(known: Watched) -> None:
    known.shop.lie("error", status=500)
    done = known.forked("refresh", DOWNLOAD_DELAY=0.01)
    assert (done.exit_code, done.fields["status"]) == (4, "blocked"), done.stderr
    assert "requests failed (no connection, a time-out, HTTP 5xx)" in known.last_run()["reason"]
    assert known.shop.requests().total < 60
    assert _breaker(known)["breaker_state"] == "open"
    assert known.count("SELECT count(*) FROM changes") == 0


def test_discovery_counts_and_a_backfill_does_not_hammer_a_catalogue(shop: DemoStore, tmp_path: Path) -> None:
    """The catalogue and the sitemaps are refused, before there is any product page."""
    fresh = Watched(shop, tmp_path / "store.db")
    shop.lie("error", "/catalogue/|/sitemap", status=500)
    done = fresh.forked("backfill", RETRY_TIMES=5)
    shop.honest()
    assert (done.exit_code, done.fields["status"]) == (4, "blocked"), done.stderr
    assert "requests failed (no connection, a time-out, HTTP 5xx)" in fresh.last_run()["reason"]
    assert shop.requests().total <= 12 + 16  # ten, robots.txt, and what was on its way
    assert fresh.forked("backfill").exit_code == 4
    assert shop.requests().total == 0


def test_force_skips_the_cool_down_not_the_probe_and_is_in_the_books(known: Watched) -> None:
    known.execute(
        "UPDATE stores SET breaker_state = 'open', breaker_trips = 1, breaker_reason = 'HTTP 503', breaker_until = "
        "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + 600000"
    )
    refused = known.forked("refresh", force="because")
    assert refused.exit_code == 2
    assert "expected who and why" in refused.stderr
    done = known.forked("refresh", force="Ann: they mended it")
    assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr
    assert "the open circuit breaker isn't waited for (HTTP 503) (Ann: they mended it)" in done.stderr
    assert "they mended it" in known.last_run()["overrides"]
    assert _breaker(known)["breaker_state"] == "closed"


def test_store_that_asks_for_two_hours_gets_them(known: Watched) -> None:
    """Case Z04."""
    known.shop.lie("too_many", "^/p/", retry_after=7200)
    done = known.forked("refresh")
    assert (done.exit_code, done.fields["status"]) == (4, "blocked"), done.stderr
    breaker = _breaker(known)
    assert abs(breaker["breaker_until"] - breaker["breaker_opened_at"] - 7_200_000) < 60_000
    due = known.rows("SELECT max(next_due_at) AS due FROM pages WHERE last_failure = 'blocked'")
    assert due[0]["due"] >= breaker["breaker_until"] - 60_000


def _breaker(watched: Watched) -> Row:
    return watched.rows("SELECT * FROM stores")[0]


def _let_the_cool_down_pass(watched: Watched) -> None:
    watched.execute("UPDATE stores SET breaker_until = 1")
