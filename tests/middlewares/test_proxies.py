"""What becomes of a request whose proxy fails, and of the proxy. Whole crawls: tests/crawls/test_proxies.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from storebot.items import Outcome
from tests.inside import Crawled, Place, store_folder
from tests.scripted import Answer, ScriptedShop, listing, product
from tests.vendors.proxies import HttpProxy

TEXT = """[discover]
sitemaps = false
[catalogue]
url = "/all"
[politeness]
delay_s = 0
[fetch.proxies]
env = "SHOP_PROXIES"
"""
SECRET = "hush-hush"


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1", "/p/2")).says("/p/1", product()).says("/p/2", product("Bowl"))
        yield shop


@pytest.fixture
def proxies() -> Iterator[tuple[HttpProxy, HttpProxy]]:
    with HttpProxy("me", SECRET) as first, HttpProxy("me", SECRET) as second:
        yield first, second


@pytest.fixture
def place(shop: ScriptedShop, proxies: tuple[HttpProxy, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("SHOP_PROXIES", " ".join(proxy.url for proxy in proxies))
    return Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))


def reasons(done: Crawled) -> list[str]:
    return [row["reason"] for row in done.rows("SELECT reason FROM visits WHERE page_type = 'product' ORDER BY id")]


def test_refused_login_is_the_proxys_and_the_page_goes_through_the_next(
    place: Place, proxies: tuple[HttpProxy, HttpProxy], shop: ScriptedShop, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = proxies
    first.password = "of-today"
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 2}
    assert (first.counted.refused, first.counted.requests) == (1, [])
    assert len(second.counted.requests) == len(shop.asked)
    assert f"http://127.0.0.1:{first.port} can't be used, and rests: answers 407" in caplog.text
    assert SECRET not in caplog.text
    assert done.stat("storebot/proxy/failed") == 1


def test_connection_that_breaks_is_a_doubt_and_three_of_them_are_a_failure(
    place: Place, proxies: tuple[HttpProxy, HttpProxy], caplog: pytest.LogCaptureFixture
) -> None:
    first, _ = proxies
    first.down = True
    done = place.crawl("backfill", RETRY_TIMES=5)
    assert done.summary.outcomes == {Outcome.NEW: 2}
    assert "fails too often, and rests" in caplog.text
    assert SECRET not in caplog.text


def test_what_the_shop_itself_refuses_is_no_proxys_failure(
    place: Place, proxies: tuple[HttpProxy, HttpProxy], shop: ScriptedShop
) -> None:
    shop.says("/p/1", Answer(b"broken", 502))
    done = place.crawl("backfill", RETRY_TIMES=1)
    assert done.summary.outcomes == {Outcome.ERROR: 1, Outcome.NEW: 1}
    assert proxies[1].counted.requests == []


def test_retries_through_other_proxies_are_of_the_runs_budget(
    place: Place, proxies: tuple[HttpProxy, HttpProxy]
) -> None:
    proxies[0].password = "of-today"
    done = place.crawl("backfill", STOREBOT_RETRIES_MAX=0)
    assert "no retry was made, and no more will be" in done.summary.reason
    assert proxies[1].counted.requests  # the others go on through it, without being tried again


def test_identity_is_relieved_after_so_many_requests(
    shop: ScriptedShop, proxies: tuple[HttpProxy, HttpProxy], place: Place, tmp_path: Path
) -> None:
    store_folder(tmp_path, f"{TEXT}rotate_after = 2\n")
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 2}
    # robots.txt and the catalogue as one identity, the products as the next
    assert [len(proxy.counted.requests) for proxy in proxies] == [2, 2]


def test_proxy_of_the_environment_stands_back_for_those_of_the_store(
    place: Place, proxies: tuple[HttpProxy, HttpProxy], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    done = place.crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 2}
    assert len(proxies[0].counted.requests) == 4
