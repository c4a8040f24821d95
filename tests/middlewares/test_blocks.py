"""Block pages: recognised before anybody parses them, tried once more, then told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from storebot.items import Outcome
from tests.inside import Place, store_folder
from tests.scripted import FILLER, Answer, ScriptedShop, challenge, listing, product

TEXT = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\n'


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1")).says("/p/1", product())
        yield shop


@pytest.fixture
def place(shop: ScriptedShop, tmp_path: Path) -> Place:
    return Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))


def test_product_that_can_be_read_wins_over_every_sign_of_a_block(shop: ScriptedShop, place: Place) -> None:
    body = product().body.replace(b"<body>", b"<body><title>Just a moment...</title>_cf_chl_opt challenge-platform")
    shop.says("/p/1", Answer(body, headers={"cf-mitigated": "challenge"}))
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 1}
    assert len(shop.requests("/p/1")) == 1


def test_catalogue_page_with_links_is_no_block_and_one_without_any_need_not_be(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    marked = Answer(
        listing("/p/1").body.replace(b"<body>", b"<body>_cf_chl_opt"), headers={"cf-mitigated": "challenge"}
    )
    shop.says("/all?page=1", marked)
    for page in range(2, 12):
        shop.says(f"/all?page={page}", listing())
    stores = store_folder(tmp_path, TEXT.replace("/all", "/all?page={page}"))
    done = Place(shop.url, tmp_path / "store.db", "shop", stores).crawl("backfill")
    assert (done.summary.status, done.summary.outcomes) == ("complete", {Outcome.NEW: 1})
    assert done.rows("SELECT * FROM blocks") == []


def test_second_block_page_makes_the_visit_blocked_with_the_signs_of_both(shop: ScriptedShop, place: Place) -> None:
    refused = Answer(f"<html><title>Access denied</title>{FILLER}</html>".encode(), 403, {"server": "AkamaiGHost"})
    shop.says("/p/1", challenge(), refused)
    done = place.crawl("backfill")
    assert len(shop.requests("/p/1")) == 2
    visit = done.visits()["/p/1"]
    assert (visit["outcome"], visit["http_status"], visit["requests"]) == ("blocked", 403, 2)
    signs = {(row["kind"], row["value"]) for row in done.rows("SELECT kind, value FROM blocks")}
    assert ("header", "cf-mitigated: challenge") in signs
    assert ("marker", "title: access denied") in signs
    assert done.stat("storebot/block/cloudflare") == 1
    assert done.rows("SELECT count(*) AS count FROM listings") == [{"count": 0}]


def test_block_page_that_passes_at_the_second_try_is_in_the_ledger_nevertheless(
    shop: ScriptedShop, place: Place
) -> None:
    shop.says("/p/1", challenge(), product())
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 1}
    assert done.visits()["/p/1"]["requests"] == 2
    assert {row["kind"] for row in done.rows("SELECT kind FROM blocks")} >= {"status", "header"}


def test_retry_waits_as_long_as_the_store_asks(shop: ScriptedShop, place: Place) -> None:
    shop.says("/p/1", Answer(b"slow down", 429, {"Retry-After": "0.4"}), product())
    assert place.crawl("backfill").summary.outcomes == {Outcome.NEW: 1}
    first, second = shop.requests("/p/1")
    assert second.at_s - first.at_s >= 0.4


def test_retry_waits_no_longer_than_the_setting_allows(shop: ScriptedShop, place: Place) -> None:
    shop.says("/p/1", Answer(b"slow down", 429, {"Retry-After": "3600"}), product())
    started = monotonic()
    assert place.crawl("backfill", STOREBOT_BLOCK_WAIT_MAX_S=0.05).summary.outcomes == {Outcome.NEW: 1}
    assert monotonic() - started < 30


def test_retry_has_another_cookie_jar(shop: ScriptedShop, place: Place) -> None:
    shop.says("/all", listing("/p/1", Set_Cookie="session=old; Path=/"))
    shop.says("/p/1", challenge(Set_Cookie="banned=1; Path=/"), product())
    place.crawl("backfill")
    first, second = shop.requests("/p/1")
    assert first.headers["cookie"] == "session=old"
    assert "cookie" not in second.headers


def test_product_behind_a_redirect_to_a_challenge_is_asked_for_again_by_its_own_address(
    shop: ScriptedShop, place: Place
) -> None:
    """Case R07: the retry of the challenge's address would read a product that isn't there."""
    shop.says("/p/1", Answer(status=302, headers={"Location": "/challenge"}), product()).says("/challenge", challenge())
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 1}
    assert [one.path for one in shop.asked if one.path in ("/p/1", "/challenge")] == ["/p/1", "/challenge", "/p/1"]


def test_marker_of_the_store_file_is_enough_on_a_page_without_a_product(shop: ScriptedShop, tmp_path: Path) -> None:
    queue = Answer(f"<html><title>Queue</title>You are number 17.{FILLER}</html>".encode())
    shop.says("/p/1", queue)
    stores = store_folder(tmp_path, f"{TEXT}[blocks]\nmarkers = {json.dumps(['you are NUMBER'])}")
    done = Place(shop.url, tmp_path / "store.db", "shop", stores).crawl("backfill")
    assert done.summary.outcomes == {Outcome.BLOCKED: 1}


def test_error_page_that_says_what_it_is_is_no_block(shop: ScriptedShop, place: Place) -> None:
    shop.says("/p/1", Answer(b"<title>Not found</title>" * 50, 404))
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.MISSING: 1}
    assert len(shop.requests("/p/1")) == 1
