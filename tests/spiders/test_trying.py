"""The one request that a half-open circuit breaker lets through, before anything else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus
from tests.inside import Crawled, Place, store_folder
from tests.scripted import Answer, ScriptedShop, challenge, listing, product

TEXT = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\n'
GONE = Answer(b"<title>Not found</title>" * 50, 404)


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1", "/p/2"))
        for name in ("/p/1", "/p/2"):
            shop.says(name, product())
        yield shop


@pytest.fixture
def place(shop: ScriptedShop, tmp_path: Path) -> Place:
    return Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))


@pytest.fixture
def opened(shop: ScriptedShop, place: Place) -> Place:
    """The store backfilled, and its breaker open, with its cool-down over; nothing asked yet."""
    place.crawl("backfill")
    open_breaker(place, ago_ms=1)
    shop.asked.clear()
    return place


def open_breaker(place: Place, *, ago_ms: int, state: str = "open") -> None:
    """Have the breaker be open, its cool-down over since so many milliseconds."""
    with closing(sqlite3.connect(place.database)) as connection, connection:
        connection.execute(
            "UPDATE stores SET breaker_state = ?, breaker_reason = '10 of 10 visits were blocked', breaker_trips = 1, "
            "breaker_opened_at = 1, breaker_until = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - ?",
            (state, ago_ms),
        )


def breaker(done: Crawled) -> tuple[str, int]:
    (row,) = done.rows("SELECT breaker_state, breaker_trips FROM stores")
    return row["breaker_state"], row["breaker_trips"]


def test_run_that_begins_while_it_is_open_asks_nothing_and_is_none(shop: ScriptedShop, opened: Place) -> None:
    open_breaker(opened, ago_ms=-600_000)
    done = opened.crawl("refresh")
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.BLOCKED, ExitCode.BLOCKED)
    assert "its circuit breaker is open until" in done.summary.reason
    assert "because 10 of 10 visits were blocked; no request was sent" in done.summary.reason
    assert 'scrapy crawl refresh -a store=shop -a force="WHO: WHY"' in done.summary.reason
    assert shop.asked == []
    assert done.rows("SELECT count(*) AS count FROM runs") == [{"count": 1}]
    assert done.rows("SELECT lease_token FROM stores") == [{"lease_token": ""}]


def test_page_that_was_read_is_asked_for_first_and_if_it_comes_the_run_goes_on(
    shop: ScriptedShop, opened: Place
) -> None:
    done = opened.crawl("refresh")
    assert shop.paths()[0].startswith("/p/")
    assert done.summary.status is RunStatus.COMPLETE
    assert done.summary.outcomes == {Outcome.UNCHANGED: 2}
    assert breaker(done) == ("closed", 0)  # and a calm run forgets how often it opened


@pytest.mark.parametrize("state", ["open", "half-open"])
@pytest.mark.parametrize("answer", [challenge(), Answer(b"", 500), Answer(b"no", 429)],
                         ids=["block page", "500", "429"])  # fmt: skip
def test_one_request_is_all_that_a_store_gets_that_still_says_no(
    shop: ScriptedShop, opened: Place, answer: Answer, state: str
) -> None:
    open_breaker(opened, ago_ms=1, state=state)
    for name in ("/p/1", "/p/2", "/all"):
        shop.says(name, answer)
    done = opened.crawl("refresh", RETRY_TIMES=2)
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.BLOCKED, ExitCode.BLOCKED)
    assert "it said no before (10 of 10 visits were blocked), and its probe failed" in done.summary.reason
    assert len(shop.asked) == 1
    assert breaker(done) == ("open", 2)
    (row,) = done.rows("SELECT (breaker_until - breaker_opened_at) / 60000.0 AS minutes FROM stores")
    assert 48 <= row["minutes"] <= 72  # an hour, give or take a fifth
    assert done.rows("SELECT status, reason FROM runs WHERE id = 2")[0]["status"] == "blocked"


def test_shop_that_gives_no_answer_has_failed_the_probe(shop: ScriptedShop, opened: Place) -> None:
    for name in ("/p/1", "/p/2", "/all"):
        shop.says(name, Answer(status=0))
    done = opened.crawl("refresh", RETRY_TIMES=2)
    assert done.summary.exit_code is ExitCode.BLOCKED
    assert len(set(shop.paths())) == 1
    assert len(shop.asked) <= 2  # aiohttp itself asks again where a connection ends without an answer
    assert breaker(done) == ("open", 2)


def test_page_that_is_gone_is_an_answer(shop: ScriptedShop, opened: Place) -> None:
    for name in ("/p/1", "/p/2"):
        shop.says(name, GONE)
    done = opened.crawl("refresh")
    assert done.summary.outcomes == {Outcome.MISSING: 2}
    assert breaker(done)[0] == "closed"


def test_robots_txt_that_is_not_known_any_more_is_asked_before_the_page_and_once(
    shop: ScriptedShop, opened: Place
) -> None:
    shop.says("/robots.txt", Answer(b"", 503))
    done = opened.crawl("refresh", STOREBOT_ROBOTS_MAX_AGE_S=0, RETRY_TIMES=2)
    assert shop.paths() == ["/robots.txt"]
    assert done.summary.exit_code is ExitCode.BLOCKED
    assert breaker(done) == ("open", 2)


def test_store_of_which_nothing_was_read_is_asked_for_its_start_page(shop: ScriptedShop, place: Place) -> None:
    shop.says("/", listing("/p/1"))
    for name in ("/p/1", "/p/2"):
        shop.says(name, GONE)
    place.crawl("backfill")
    open_breaker(place, ago_ms=1)
    shop.asked.clear()
    for name in ("/p/1", "/p/2"):
        shop.says(name, product())
    done = place.crawl("backfill")
    assert shop.paths()[0] == "/"
    assert done.summary.outcomes == {Outcome.NEW: 2}
