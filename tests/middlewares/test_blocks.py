"""Block pages: recognised before anybody parses them, tried once more, then told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

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


WAITING = (
    f"<html><body id='blocked-load'>The maximum number of active shop users is reached.{FILLER[:2000]}</body></html>"
)


def waiting_room(status: int = 200, **headers: str) -> Answer:
    """Return the page of case B04."""
    return Answer(WAITING.encode(), status, {name.replace("_", "-"): value for name, value in headers.items()})


def test_retry_waits_as_long_as_the_store_asks(shop: ScriptedShop, place: Place) -> None:
    shop.says("/p/1", waiting_room(Retry_After="0.4"), product())
    assert place.crawl("backfill").summary.outcomes == {Outcome.NEW: 1}
    first, second = shop.requests("/p/1")
    assert second.at_s - first.at_s >= 0.4


def test_page_that_asks_for_longer_than_a_visit_waits_is_left_until_then(shop: ScriptedShop, place: Place) -> None:
    shop.says("/p/1", waiting_room(Retry_After="5000"), product())
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.BLOCKED: 1}
    assert len(shop.requests("/p/1")) == 1
    (page,) = done.rows("SELECT next_due_at - checked_at AS due_in FROM pages")
    assert page["due_in"] is None or page["due_in"] > 4_900_000


@pytest.mark.parametrize("answer", [waiting_room(), waiting_room(503), Answer(b"", 200), Answer(b"slow down", 429)])
def test_what_passes_by_itself_burns_no_identity(shop: ScriptedShop, place: Place, answer: Answer) -> None:
    """Cases B04, B05: a waiting room, a rate limit and an empty answer are tried again as the same visitor."""
    shop.says("/all", listing("/p/1", Set_Cookie="session=old; Path=/"))
    shop.says("/p/1", answer, product())
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 1}
    assert [one.headers.get("cookie") for one in shop.requests("/p/1")] == ["session=old"] * 2


def reloading(text: str = "One moment.", **headers: str) -> Answer:
    body = f"<html><title>Shop</title><p>{text}</p><script>location.reload()</script></html>"
    return Answer(body.encode(), headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize("text", ["One moment.", "Please allow cookies for our shop. " * 30])
def test_page_that_gives_a_cookie_and_reloads_itself_is_asked_for_again_with_it(
    shop: ScriptedShop, place: Place, text: str
) -> None:
    shop.says("/p/1", reloading(text, Set_Cookie="entry=1; Path=/"), product())
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 1}
    assert [one.headers.get("cookie") for one in shop.requests("/p/1")] == [None, "entry=1"]
    assert done.visits()["/p/1"]["requests"] == 2
    assert done.rows("SELECT * FROM blocks") == []


def test_that_is_done_once_and_only_for_a_cookie(shop: ScriptedShop, place: Place) -> None:
    """A second such page is what it is: here an empty one, which is tried once more."""
    shop.says("/all", listing("/p/1", "/p/2"))
    shop.says("/p/1", reloading(Set_Cookie="entry=1; Path=/")).says("/p/2", reloading())
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.BLOCKED: 2}
    assert [len(shop.requests(path)) for path in ("/p/1", "/p/2")] == [3, 2]


def test_product_that_knows_how_to_reload_itself_is_a_product(shop: ScriptedShop, place: Place) -> None:
    body = product().body.replace(b"</body>", b"<script>location.reload()</script></body>")
    shop.says("/p/1", Answer(body, headers={"Set-Cookie": "entry=1; Path=/"}))
    assert place.crawl("backfill").summary.outcomes == {Outcome.NEW: 1}
    assert len(shop.requests("/p/1")) == 1


def test_retry_has_another_cookie_jar(shop: ScriptedShop, place: Place) -> None:
    shop.says("/all", listing("/p/1", Set_Cookie="session=old; Path=/"))
    shop.says("/p/1", challenge(Set_Cookie="banned=1; Path=/"), product())
    place.crawl("backfill")
    first, second = shop.requests("/p/1")
    assert first.headers["cookie"] == "session=old"
    assert "cookie" not in second.headers


def test_fresh_identity_serves_all_that_follows(shop: ScriptedShop, place: Place) -> None:
    """It is sticky: what is asked for after the block is asked for by the new visitor, cookies and all."""
    shop.says("/all", listing("/p/1", "/p/2", "/p/3", Set_Cookie="session=old; Path=/"))
    new = {"Set_Cookie": "session=new; Path=/"}
    shop.says("/p/1", challenge(), product(**new)).says("/p/2", product("Bowl", **new)).says(
        "/p/3", product("Jug", **new)
    )
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 3}
    cookies = [one.headers.get("cookie") for one in shop.asked if one.path.startswith("/p/")]
    assert cookies == ["session=old", None, "session=new", "session=new"]


def test_retries_of_a_run_are_bounded_and_the_run_says_so_once(shop: ScriptedShop, place: Place) -> None:
    paths = [f"/p/{number}" for number in range(1, 7)]
    shop.says("/all", listing(*paths))
    for path in paths:
        shop.says(path, challenge())
    done = place.crawl("backfill", STOREBOT_RETRIES_MAX=2)
    assert done.summary.outcomes == {Outcome.BLOCKED: 6}
    assert len(shop.paths("/p/")) == 6 + 2
    assert done.summary.reason.count("2 retries were made (2 block), and no more will be") == 1


def test_network_errors_share_the_bound(shop: ScriptedShop, place: Place) -> None:
    shop.says("/all", listing("/p/1", "/p/2"))
    shop.says("/p/1", Answer(b"broken", 502)).says("/p/2", Answer(b"broken", 502))
    done = place.crawl("backfill", STOREBOT_RETRIES_MAX=3, RETRY_TIMES=2)
    assert done.summary.outcomes == {Outcome.ERROR: 2}
    assert len(shop.paths("/p/")) == 2 + 3
    assert "3 retries were made (3 network)" in done.summary.reason


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


@pytest.mark.parametrize("answers", [(challenge(), challenge()), (Answer(b"", 200), Answer(b"", 200))])
def test_page_that_stays_blocked_is_asked_for_by_the_next_tier(
    shop: ScriptedShop, tmp_path: Path, answers: tuple[Answer, ...]
) -> None:
    """One retry on each tier, and each step in the ledger."""
    shop.says("/p/1", *answers, product())
    stores = store_folder(tmp_path, f'{TEXT}[fetch]\ntiers = ["http", "http2"]')
    done = Place(shop.url, tmp_path / "store.db", "shop", stores).crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 1}
    visit = done.visits()["/p/1"]
    assert (visit["tier"], visit["requests"], len(shop.requests("/p/1"))) == ("http2", 3, 3)
    assert done.stat("fetch/tier/http2") == 1


def test_store_that_blocks_every_tier_is_asked_twice_by_each(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/p/1", challenge())
    stores = store_folder(tmp_path, f'{TEXT}[fetch]\ntiers = ["http", "http2"]')
    done = Place(shop.url, tmp_path / "store.db", "shop", stores).crawl("backfill")
    assert done.summary.outcomes == {Outcome.BLOCKED: 1}
    assert len(shop.requests("/p/1")) == 4


def test_rate_limit_is_no_reason_for_a_dearer_tier(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/p/1", waiting_room())
    stores = store_folder(tmp_path, f'{TEXT}[fetch]\ntiers = ["http", "http2"]')
    done = Place(shop.url, tmp_path / "store.db", "shop", stores).crawl("backfill")
    assert done.summary.outcomes == {Outcome.BLOCKED: 1}
    assert len(shop.requests("/p/1")) == 2
    assert done.stat("fetch/tier/http2") == 0


def test_length_is_judged_by_the_stores_own_pages(shop: ScriptedShop, tmp_path: Path) -> None:
    """The pages of the last run are in the archive: 8 of them say what is usual."""
    paths = [f"/p/{number}" for number in range(1, 10)]
    shop.says("/all", listing(*paths))
    for path in paths[:8]:
        shop.says(
            path, Answer(product(f"Mug of {path}").body.replace(b"</body>", b"<p>more words</p>" * 20_000 + b"</body>"))
        )
    shop.says(paths[8], Answer(b"gone for now", 500))
    place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))
    assert place.crawl("backfill").summary.outcomes == {Outcome.NEW: 8, Outcome.ERROR: 1}
    odd = f"<html><title>Human verification</title>{FILLER}</html>".encode()
    assert 4096 < len(odd) < 30_000
    shop.says(paths[8], Answer(odd))
    done = place.crawl("backfill")
    assert done.visits()[paths[8]]["outcome"] == "blocked"
    assert {"kind": "length", "value": str(len(odd))} in done.rows("SELECT kind, value FROM blocks")
