"""The api tier against an API that speaks FineData's protocol, and one of another make: pages, failures, bills."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from threading import Event

import pytest
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import HtmlResponse

from storebot.core.page import Page
from storebot.exceptions import ApiKeyRefused, ApiQuotaUsedUp, ConfigurationError, ExitCode, TierUnusable
from storebot.fetch.api import ApiTier
from storebot.items import Tier
from storebot.responses import page_of
from storebot.spiders.taken import taken
from tests.fetch.fetching import asked, crawler_of, fetched, names, response, spent, store_of
from tests.scripted import Answer, ScriptedShop
from tests.vendors.scraping_api import KEY, Failure, ScrapingApi

PRESET = """
[fetch]
tiers = ["api"]
[fetch.api]
preset = "finedata"
url = "{url}"
"""
OWN = """
[fetch]
tiers = ["api"]
country = "DE"
[fetch.api]
method = "GET"
url = "{url}/get?page={{url}}&geo={{country}}"
key_env = "EXAMPLE_KEY"
headers = {{"X-Key" = "{{key}}"}}
html = "result.0.content"
timeout = "1s"
"""


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as served:
        yield served


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScrapingApi]:
    monkeypatch.setenv("FINEDATA_API_KEY", KEY)
    with ScrapingApi() as served:
        yield served


def crawler(api: ScrapingApi, more: str = "", **settings: object) -> Crawler:
    return crawler_of(store_of(PRESET.format(url=api.endpoint) + more), **settings)


def test_a_page_comes_back_under_the_shops_own_url(shop: ScriptedShop, api: ScrapingApi) -> None:
    latin = {"Content-Type": "text/html; charset=latin-1"}
    shop.says("/p/1?size=2", Answer("<h1>Krügerl</h1>".encode("latin-1"), headers=latin))
    request = asked(f"{shop.url}/p/1?size=2")
    found = response(crawler(api), request)
    assert isinstance(found, HtmlResponse)
    assert (found.url, found.status, found.text) == (request.url, 200, "<h1>Krügerl</h1>")
    body = {"url": request.url, "formats": ["rawHtml"], "use_js_render": False, "only_main_content": False}
    assert api.billed.asked == [body]


def test_a_page_is_read_as_utf_8_whatever_it_declares(shop: ScriptedShop, api: ScrapingApi) -> None:
    """Case E01: what came as text was encoded here."""
    html = '<meta charset="iso-8859-2"><h1>Krügerl à 5 €</h1>'
    shop.says("/p/1", Answer(html.encode(), headers={"Content-Type": "text/html; charset=utf-8"}))
    request = asked(f"{shop.url}/p/1")
    page = page_of(response(crawler(api), request), request)
    assert (page.text, page.tier) == (html, "api")
    kept = Page(url=page.url, body=page.body, headers=dict(page.headers))  # as the page archive gives it back
    assert kept.text == html


def test_a_call_counts_what_the_answer_says_that_it_cost(shop: ScriptedShop, api: ScrapingApi) -> None:
    shop.says("/p/1", Answer(b"<p>a mug</p>"))
    request = asked(f"{shop.url}/p/1")
    response(crawler(api, "render = true"), request)
    assert api.billed.asked[0]["use_js_render"] is True
    found = taken(request.meta)
    assert (found["tier"], found["requests"], found["size_bytes"], found["billed"]) == ("api", 1, 12, 6)
    assert spent(request).tries == {Tier.API: 1}


def test_where_the_answer_does_not_say_a_call_is_one(shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_KEY", "k-1")
    page = "https://shop.example/p/1?a=b&c=d"
    path = "/get?page=https%3A%2F%2Fshop.example%2Fp%2F1%3Fa%3Db%26c%3Dd&geo=DE"
    shop.says(path, Answer(b'{"result": [{"content": "<p>a mug</p>"}]}'))
    request = asked(page)
    found = response(crawler_of(store_of(OWN.format(url=shop.url))), request)
    assert (found.url, found.body, spent(request).billed) == (page, b"<p>a mug</p>", 1)
    headers = shop.asked[0].headers
    assert (headers["x-key"], headers["user-agent"]) == ("k-1", "storebot/test")
    assert "content-type" not in headers


@pytest.mark.parametrize("status", [403, 404, 410, 500])
def test_what_the_shop_answered_is_the_status(shop: ScriptedShop, api: ScrapingApi, status: int) -> None:
    shop.says("/p/1", Answer(b"<p>no</p>", status))
    request = asked(f"{shop.url}/p/1")
    assert response(crawler(api), request).status == status
    assert spent(request).billed == 1


def test_where_a_redirect_ended_is_the_url(shop: ScriptedShop, api: ScrapingApi) -> None:
    shop.says("/p/1", Answer(status=302, headers={"Location": "/p/2"})).says("/p/2", Answer(b"<p>a jug</p>"))
    assert response(crawler(api), asked(f"{shop.url}/p/1")).url == f"{shop.url}/p/2"


FAILURES = {  # what the API answers: what is raised, what is billed, what is said
    "broken": (Failure(500), "ApiFailed", 0, "answers HTTP 500"),
    "broken-and-billed": (Failure(502, tokens=3), "ApiFailed", 3, "answers HTTP 502"),
    "refused-request": (Failure(422), "ApiFailed", 0, "answers HTTP 422"),
    "redirect": (Failure(302, headers={"Location": "/elsewhere"}), "ApiFailed", 0, "answers HTTP 302"),
    "no-json": (Failure(200, body="<html>maintenance"), "ApiAnswerUnreadable", 1, "no JSON, but 17 bytes text/plain"),
    "no-json-broken": (Failure(503, body="<html>"), "ApiFailed", 1, "answers HTTP 503"),
    "no-page": (Failure(200, tokens=2), "ApiAnswerUnreadable", 2, "no HTML at data.rawHtml or body; it has success"),
}


@pytest.mark.parametrize(("failure", "name", "billed", "said"), FAILURES.values(), ids=FAILURES)
def test_a_call_that_fails_is_named_and_billed(
    shop: ScriptedShop, api: ScrapingApi, failure: Failure, name: str, billed: int, said: str
) -> None:
    api.failures.append(failure)
    request = asked(f"{shop.url}/p/1")
    (error,) = fetched(crawler(api), request)
    assert type(error).__name__ == name
    assert said in str(error)
    assert KEY not in repr(error)
    assert (spent(request).requests, spent(request).billed) == (1, billed)
    assert shop.asked == []


def test_an_api_that_bills_no_failures_counts_none(shop: ScriptedShop, api: ScrapingApi) -> None:
    api.failures.append(Failure(200, body="<html>maintenance"))
    request = asked(f"{shop.url}/p/1")
    assert names(fetched(crawler(api, "bills_failures = false"), request)) == ["ApiAnswerUnreadable"]
    assert spent(request).billed == 0


REFUSALS = {
    "401": (Failure(401), ApiKeyRefused, "the key in the environment variable FINEDATA_API_KEY; set one that is valid"),
    "403": (Failure(403), ApiKeyRefused, "the key in the environment variable FINEDATA_API_KEY; set one that is valid"),
    "402": (Failure(402), ApiQuotaUsedUp, "it wants to be paid first; top up its account"),
    "429-for-an-hour": (Failure(429, headers={"Retry-After": "3600"}), ApiQuotaUsedUp, "left alone for 3600 s"),
}


@pytest.mark.parametrize(("failure", "kind", "said"), REFUSALS.values(), ids=REFUSALS)
def test_an_api_that_refuses_is_asked_no_more_in_this_run(
    shop: ScriptedShop, api: ScrapingApi, failure: Failure, kind: type[TierUnusable], said: str
) -> None:
    api.failures.append(failure)
    requests = [asked(f"{shop.url}/p/{number}") for number in range(3)]
    found = fetched(crawler(api), *requests)
    assert [type(one) for one in found] == [kind] * 3
    assert all(said in str(one) and KEY not in repr(one) for one in found)
    assert len(api.billed.asked) == 1
    assert spent(requests[0]).billed == 0
    assert kind.exit_code is (ExitCode.USAGE if kind is ApiKeyRefused else ExitCode.BUDGET)


def test_a_wrong_key_is_not_shown(shop: ScriptedShop, api: ScrapingApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINEDATA_API_KEY", "fd_wrong_one")
    (error,) = fetched(crawler(api), asked(f"{shop.url}/p/1"))
    assert isinstance(error, ApiKeyRefused)
    assert "fd_wrong_one" not in repr(error)
    assert api.billed.refused == 1


def test_a_key_that_is_not_set_is_told_before_anything_is_sent(
    api: ScrapingApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINEDATA_API_KEY", "  ")
    with pytest.raises(ConfigurationError, match="FINEDATA_API_KEY isn't set: put the key of the scraping API into it"):
        ApiTier.from_crawler(crawler(api))


def test_a_429_waits_for_the_time_that_it_asks_for(shop: ScriptedShop, api: ScrapingApi) -> None:
    shop.says("/p/1", Answer(b"<p>a mug</p>"))
    api.failures.append(Failure(429, headers={"Retry-After": "1"}))
    request, began = asked(f"{shop.url}/p/1"), time.monotonic()
    assert response(crawler(api), request).status == 200
    assert time.monotonic() - began >= 1
    assert (spent(request).billed, len(api.billed.asked)) == (1, 2)


def test_a_second_429_leaves_the_page_and_not_the_tier(shop: ScriptedShop, api: ScrapingApi) -> None:
    shop.says("/p/1", Answer(b"<p>a mug</p>"))
    api.failures += [Failure(429, headers={"Retry-After": "0"})] * 2
    found = fetched(crawler(api), asked(f"{shop.url}/p/1"), asked(f"{shop.url}/p/1"))
    assert names(found) == ["ApiBusy", 200]


def test_an_api_that_takes_too_long_is_a_timeout_and_billed(
    shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXAMPLE_KEY", "k-1")
    monkeypatch.setattr(shop, "answer", lambda _: Event().wait(1.5) or Answer())
    request = asked("https://shop.example/p/1")
    (error,) = fetched(crawler_of(store_of(OWN.format(url=shop.url))), request)
    assert isinstance(error, DownloadTimeoutError)
    assert str(error) == f"the scraping API at {shop.url[7:]} gave no answer within 1 s"
    assert error.__cause__ is None
    assert spent(request).billed == 1


@pytest.mark.parametrize(
    ("url", "name"),
    [("http://127.0.0.1:9", "DownloadConnectionRefusedError"), ("http://api.invalid", "CannotResolveHostError")],
    ids=["nobody", "no-name"],
)
def test_an_api_that_is_not_there_bills_nothing(url: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_KEY", "k-1")
    request = asked("https://shop.example/p/1")
    (error,) = fetched(crawler_of(store_of(OWN.format(url=url))), request)
    assert type(error).__name__ == name
    assert url[7:] in str(error)
    assert "shop.example" not in str(error)
    assert spent(request).billed == 0


def test_an_answer_that_is_too_large_is_not_read(shop: ScriptedShop, api: ScrapingApi) -> None:
    shop.says("/p/1", Answer(b"x" * 2_000_000))
    request = asked(f"{shop.url}/p/1")
    (error,) = fetched(crawler(api), request)
    assert str(error).endswith("is larger than DOWNLOAD_MAXSIZE")
    assert (type(error).__name__, spent(request).billed) == ("ApiAnswerUnreadable", 1)


def test_the_key_is_in_no_line_of_the_log(
    shop: ScriptedShop, api: ScrapingApi, caplog: pytest.LogCaptureFixture
) -> None:
    shop.says("/p/1", Answer(b"x" * 2_000_000)).says("/p/2", Answer(b"<p>a mug</p>"))
    with caplog.at_level(logging.DEBUG):
        fetched(crawler(api, LOG_LEVEL="DEBUG"), *(asked(f"{shop.url}/p/{number}") for number in (1, 2)))
    assert caplog.records
    assert KEY not in caplog.text
