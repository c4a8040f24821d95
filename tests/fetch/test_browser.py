"""The browser tier with a real Chromium: what it waits for, what it returns, what it leaves out, what it names."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from scrapy.exceptions import (
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    NotSupported,
    ResponseDataLossError,
)
from scrapy.http import HtmlResponse, Request, Response

from storebot.core.identity import Identity
from storebot.core.page import Page
from storebot.core.proxy import read_proxy
from storebot.exceptions import (
    AnswerTooLarge,
    ConfigurationError,
    FetchFailed,
    NothingReturned,
    RedirectLoop,
    RenderFailed,
)
from storebot.fetch.browsing.agent import whole_agent
from storebot.fetch.browsing.rendering import Renderer
from storebot.fetch.browsing.visitor import visitor_of
from storebot.fetch.handler import check_tiers
from storebot.items import PageType, Spent, Tier
from storebot.responses import page_of
from tests.fetch.fetching import store_of
from tests.fetch.rendered import Rendered, browser_processes, store_at
from tests.fetch.scripted_shop import ScriptedShop
from tests.fetch.servers import TlsShop
from tests.vendors.chromium import chromium_path
from tests.vendors.proxies import HttpProxy

SECTIONS = """[fetch]
tiers = ["http", "browser"]
language = "de-DE,de;q=0.9"
[fetch.browser]
wait_for = [".price"]
wait_s = 2
timeout_s = 20
settle_s = 0.3
concurrency = 4
"""


@pytest.fixture(scope="module")
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as served:
        yield served


@pytest.fixture(scope="module")
def browser(shop: ScriptedShop) -> Iterator[Rendered]:
    settings: dict[str, Any] = {
        "STOREBOT_CHROMIUM": chromium_path(),
        "USER_AGENT": "storebot/0.1 (+me@example.org)",
        "DOWNLOAD_VERIFY_CERTIFICATES": True,
    }
    with Rendered(store_at(shop.url, SECTIONS), **settings) as rendered:
        yield rendered


def title(response: object) -> str:
    assert isinstance(response, HtmlResponse)
    return response.css("h1::text").get("")


def other(browser: Rendered, url: str) -> HtmlResponse:
    """Return a page of which nothing is waited for."""
    found = browser.get(url, page_type=None)
    assert isinstance(found, HtmlResponse)
    return found


def test_a_placeholder_is_waited_out(browser: Rendered, shop: ScriptedShop) -> None:
    """Case W04: a skeleton's $0.00 is never returned, and beacons without end don't matter."""
    response, spent = browser.spent(f"{shop.url}/p/skeleton")
    assert isinstance(response, HtmlResponse)
    assert response.css(".price::text").get() == "$49.00"
    assert (response.status, response.url, response.flags) == (200, f"{shop.url}/p/skeleton", ["browser"])
    assert spent.tries == {Tier.BROWSER: 1}
    assert spent.requests >= 4  # the page, its price, and beacons
    assert spent.size_bytes > 500
    assert spent.elapsed_ms >= spent.browser_ms >= 300


def test_a_placeholder_that_stays_is_an_error(browser: Rendered, shop: ScriptedShop) -> None:
    """Case W04: render failed, and the placeholder is never stored."""
    with pytest.raises(RenderFailed, match=r'^not rendered after 2 s: \.price still says "Loading…"$'):
        browser.get(f"{shop.url}/p/stuck")


def test_a_page_without_what_is_waited_for_is_an_error(browser: Rendered, shop: ScriptedShop) -> None:
    with pytest.raises(RenderFailed, match=r"^not rendered after 2 s: \.price isn't there$"):
        browser.get(f"{shop.url}/p/other")


def test_a_page_for_what_is_gone_is_an_answer(browser: Rendered, shop: ScriptedShop) -> None:
    assert title(browser.get(f"{shop.url}/p/missing")) == "Page not found"
    found = browser.get(f"{shop.url}/gone")
    assert (found.status, title(found)) == (404, "Gone")


@pytest.mark.parametrize("path", ["refresh", "consent", "moved"])
def test_the_final_document_is_returned_under_its_own_address(browser: Rendered, shop: ScriptedShop, path: str) -> None:
    """Case W05: by meta refresh, by a script, by redirects."""
    found = browser.get(f"{shop.url}/{path}")
    assert (found.url, found.status, title(found)) == (f"{shop.url}/result", 200, "Mug")


def test_without_anything_to_wait_for_the_final_document_is_found_too(browser: Rendered, shop: ScriptedShop) -> None:
    """Case W05."""
    assert other(browser, f"{shop.url}/refresh").url == f"{shop.url}/result"
    assert other(browser, f"{shop.url}/consent").url == f"{shop.url}/result"


def test_a_challenge_is_given_the_time_to_pass(browser: Rendered, shop: ScriptedShop) -> None:
    visits = ((403, PageType.PRODUCT), (403, None), (200, PageType.PRODUCT), (200, None))
    for number, (status, page_type) in enumerate(visits):
        url = f"{shop.url}/challenge?status={status}"
        found = browser.get(url, identity=Identity(21 + number), page_type=page_type)
        assert (found.status, title(found)) == (200, "Mug")


def test_a_page_that_reloads_itself_for_its_cookie_is_waited_for(browser: Rendered, shop: ScriptedShop) -> None:
    found = other(browser, f"{shop.url}/p/cookie-first")
    assert (title(found), shop.asked["/p/cookie-first"]) == ("Mug", 2)


@pytest.mark.parametrize(
    ("path", "status", "most_ms"),
    [("refused", 403, 4000), ("stuck-challenge", 200, 4000), ("robot", 200, 3000), ("nowhere", 404, 3000)],
)
def test_on_what_plainly_is_no_product_nothing_is_waited_for(
    browser: Rendered, shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch, path: str, status: int, most_ms: int
) -> None:
    """A challenge has its time to pass, and nothing more; a captcha, a refusal and a 404 have none."""
    monkeypatch.setattr("storebot.fetch.browsing.rendering.CHALLENGE_S", 0.6)
    spent = Spent()
    found = hurried(browser, shop, f"{shop.url}/p/{path}", 'wait_for = [".price"]\nwait_s = 15', spent=spent)
    assert found.status == status
    assert spent.browser_ms < most_ms


def test_a_rendered_page_is_utf_8_whatever_its_header_says(browser: Rendered, shop: ScriptedShop) -> None:
    """Case E01; and NOTES C5: no validators, because a shell's ETag says nothing of what scripts put into it."""
    request = browser.request(f"{shop.url}/latin", page_type=None)
    found = browser.run(browser.handler.download_request(request))
    assert title(found) == "Müller Töpfe €"
    assert "Müller Töpfe €" in page_of(found, request).text
    assert (
        "Müller Töpfe €"
        in Page(url=found.url, body=found.body, headers={"content-type": "text/html; charset=utf-8"}).text
    )
    assert found.headers.to_unicode_dict()["content-type"] == "text/html; charset=utf-8"
    assert found.headers.get("X-Shop") == b"yes"
    assert not {b"Etag", b"Last-Modified", b"Set-Cookie", b"Content-Length"} & set(found.headers)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("sitemap.xml", b"<?xml version='1.0'?><urlset/>"),
        ("data.json", '{"price": "ü"}'.encode()),
        ("file.pdf", b"%PDF-1.4 \xff"),
    ],
)
def test_what_is_no_page_comes_as_its_own_bytes(browser: Rendered, shop: ScriptedShop, path: str, body: bytes) -> None:
    """Case W02: not as the viewer that a browser wraps around it."""
    found, spent = browser.spent(f"{shop.url}/{path}")
    assert (found.status, found.body, found.url) == (200, body, f"{shop.url}/{path}")
    assert not {b"Content-Encoding", b"Content-Length", b"Etag"} & set(found.headers)
    assert (spent.requests, spent.size_bytes >= len(body)) == (1, True)


def test_a_page_that_is_to_be_saved_comes_as_its_own_bytes(browser: Rendered, shop: ScriptedShop) -> None:
    found = browser.get(f"{shop.url}/page-download")
    assert b"Mug" in found.body


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("nothing", NothingReturned, "the navigation returned nothing"),
        ("cut", ResponseDataLossError, "its body breaks off before the end"),
        ("loop", RedirectLoop, "redirects without end"),
        ("reload", FetchFailed, "it goes on to another page without end"),
        ("blank", RenderFailed, "it ended at about:blank, which no server sent"),
        ("endless", AnswerTooLarge, "it loads more than 1,000,000 bytes"),
        ("endless.zip", AnswerTooLarge, "its body has more than 1,000,000 bytes"),
        ("bomb", AnswerTooLarge, "it loads more than 1,000,000 bytes"),
        ("announced", AnswerTooLarge, "its body has more than 1,000,000 bytes"),
        ("huge-dom", AnswerTooLarge, "its scripts made it larger than 1,000,000 bytes"),
    ],
)
def test_what_goes_wrong_has_a_name(
    browser: Rendered, shop: ScriptedShop, path: str, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=f"^{text}"):
        other(browser, f"{shop.url}/{path}")


def test_a_shop_that_is_not_there_is_named_as_by_plain_http(browser: Rendered) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(DownloadConnectionRefusedError, match=rf"127\.0\.0\.1:{port} can't be reached"):
        browser.get(f"http://127.0.0.1:{port}/p/1")


def test_a_page_has_so_much_time_altogether(browser: Rendered, shop: ScriptedShop) -> None:
    with pytest.raises(DownloadTimeoutError, match=r"^took longer than 1 s$"):
        hurried(browser, shop, f"{shop.url}/hang", "wait_s = 0.5\ntimeout_s = 1")


def test_a_selector_that_is_none_is_an_error_at_once(browser: Rendered, shop: ScriptedShop) -> None:
    with pytest.raises(RenderFailed, match=r"^SyntaxError: .* '\.\.price' is not a valid selector"):
        hurried(browser, shop, f"{shop.url}/p/1", 'wait_for = ["..price"]')


def hurried(browser: Rendered, shop: ScriptedShop, url: str, keys: str, **meta: Any) -> Response:
    """Fetch a page in the browser that is open, with other keys of ``[fetch.browser]``."""
    renderer = Renderer(store_at(shop.url, f"[fetch.browser]\n{keys}"), Tier.BROWSER, 1_000_000)
    browsers = browser.handler._tiers[Tier.BROWSER]._browsers  # type: ignore[attr-defined]

    async def fetched() -> Response:
        request = browser.request(url, **meta)
        async with browsers.lent(visitor_of(request)) as (tabs, _):
            return await renderer.fetch(tabs, request)

    return browser.run(fetched())


def test_a_browser_is_only_sent_to_look(browser: Rendered, shop: ScriptedShop) -> None:
    with pytest.raises(NotSupported, match="not to POST"):
        browser.run(browser.handler.download_request(browser.request(f"{shop.url}/p/1").replace(method="POST")))


def test_pictures_fonts_and_advertisements_are_not_loaded(browser: Rendered, shop: ScriptedShop) -> None:
    before = dict(shop.asked)
    _, first = browser.spent(f"{shop.url}/assets", page_type=None)
    found, second = browser.spent(f"{shop.url}/assets", page_type=None)
    assert title(found) == "Mug with scripts"
    asked = {path: count - before.get(path, 0) for path, count in shop.asked.items() if count != before.get(path, 0)}
    assert asked == {"/assets": 2, "/site.css": 1, "/app.js": 1}, "scripts and styles come from the cache"
    assert (first.requests, second.requests) == (3, 1)
    assert second.size_bytes < first.size_bytes


def test_dialogs_and_popups_hold_nobody_up(browser: Rendered, shop: ScriptedShop) -> None:
    assert title(other(browser, f"{shop.url}/dialogs")) == "confirmed: false"


def test_service_workers_are_blocked(browser: Rendered, shop: ScriptedShop) -> None:
    assert title(other(browser, f"{shop.url}/worker")) == "0 workers"
    assert "/sw.js" not in shop.asked


def test_a_page_cannot_go_to_a_file(browser: Rendered, shop: ScriptedShop) -> None:
    assert title(other(browser, f"{shop.url}/away")) == "here"


def test_the_bot_names_itself_behind_the_browsers_own_name(browser: Rendered, shop: ScriptedShop) -> None:
    browser.run(
        browser.handler.download_request(
            Request(f"{shop.url}/p/1", headers={"User-Agent": "x", "If-None-Match": "y"}, meta={"tier": Tier.BROWSER})
        )
    )
    assert "Chrome/" in shop.headers["User-Agent"]
    assert shop.headers["User-Agent"].endswith(" storebot/0.1 (+me@example.org)")
    assert shop.headers["Accept-Language"].startswith("de-DE")
    assert "If-None-Match" not in shop.headers


def test_a_user_agent_that_somebody_set_is_sent_as_it_is() -> None:
    bot = "storebot/0.1 (+me)"
    assert whole_agent(store_of(), bot, "storebot") == ""
    assert whole_agent(store_of('[politeness]\nuser_agent = "Shopper/1"'), "Shopper/1", "storebot") == "Shopper/1"
    assert whole_agent(store_of(), "Mozilla/5.0 (by -s)", "storebot") == "Mozilla/5.0 (by -s)"


def test_a_store_in_a_private_network_reaches_its_neighbours(browser: Rendered, shop: ScriptedShop) -> None:
    """And so all of what tests/fetch/test_browser_network.py finds refused is tried in earnest."""
    with ScriptedShop() as other_host:
        title(other(browser, f"{shop.url}/reaching?to={other_host.url}"))
        assert {"/frame", "/fetch", "/socket", "/beacon", "/worker", "/hop"} <= other_host.asked.keys()
        assert "/image.png" not in other_host.asked


def test_certificates_are_verified_through_a_proxy_too(browser: Rendered) -> None:
    with TlsShop() as tls, HttpProxy("me", "secret") as proxy:
        with pytest.raises(DownloadFailedError, match="ERR_CERT_AUTHORITY_INVALID"):
            browser.get(f"{tls.url}/p/1", identity=Identity(proxy.port, read_proxy(proxy.url)))
        assert proxy.counted.tunnels[:1] == [tls.url.removeprefix("https://")]
        assert proxy.counted.refused == 0


def test_each_identity_has_its_own_cookies(browser: Rendered, shop: ScriptedShop) -> None:
    one, two = Identity(11), Identity(12)
    browser.get(f"{shop.url}/moved", identity=one)
    assert title(browser.get(f"{shop.url}/cookies", identity=one, page_type=None)) == "seen=1"
    assert title(browser.get(f"{shop.url}/cookies", identity=two, page_type=None)) == "none"
    assert title(browser.get(f"{shop.url}/cookies", identity=one, cookiejar="fresh", page_type=None)) == "none"


def test_no_page_stays_open_whatever_happens(browser: Rendered, shop: ScriptedShop) -> None:
    """NOTES C2: a leaked page hangs the crawl."""

    async def cancelled_after(seconds: float) -> None:
        request = browser.request(f"{shop.url}/hang", page_type=None)
        task = asyncio.ensure_future(browser.handler.download_request(request))
        await asyncio.sleep(seconds)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    for seconds in (0, 0.02, 0.05, 0.1, 0.5):
        browser.run(cancelled_after(seconds))
    browser.all(*(browser.request(f"{shop.url}/{path}", page_type=None) for path in ("nothing", "blank", "p/1")))
    pages, idle = browser.run(_open_pages(browser))
    assert pages == idle
    assert len(browser_processes()) == 1


async def _open_pages(browser: Rendered) -> tuple[int, int]:
    """Return how many pages are open, and how many of them are there for another visit."""
    await asyncio.sleep(0.2)
    chromium = browser.handler._tiers[Tier.BROWSER]._browsers._current  # type: ignore[attr-defined]
    pages = sum(len(context.pages) for context in chromium.browser.contexts)
    return pages, sum(len(room.tabs._idle) for room in chromium._rooms.values())


def test_a_page_is_silent_when_its_visit_is_over(browser: Rendered, shop: ScriptedShop) -> None:
    browser.get(f"{shop.url}/p/skeleton")
    before = shop.asked["/beacon"]
    browser.run(asyncio.sleep(0.5))
    assert shop.asked["/beacon"] <= before + 1, "one may have been under way"
    assert "storebot" in shop.headers["User-Agent"]


def test_pages_are_open_at_once_as_far_as_the_store_allows(browser: Rendered, shop: ScriptedShop) -> None:
    found = browser.all(*(browser.request(f"{shop.url}/p/1", page_type=PageType.PRODUCT) for _ in range(8)))
    assert [title(each) for each in found] == ["Mug"] * 8


def test_a_machine_without_a_browser_is_told_before_anything_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of('[fetch]\ntiers = ["http", "browser"]')
    monkeypatch.setenv("STOREBOT_CHROMIUM", "/nowhere/chromium")
    with pytest.raises(ConfigurationError, match="STOREBOT_CHROMIUM: there is no program /nowhere/chromium"):
        check_tiers(store)
    monkeypatch.delenv("STOREBOT_CHROMIUM")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigurationError, match="install Chromium, or set STOREBOT_CHROMIUM"):
        check_tiers(store)


def test_the_browser_starts_with_the_first_page_and_ends_with_the_crawl(shop: ScriptedShop) -> None:
    before = len(browser_processes())
    with Rendered(store_at(shop.url, SECTIONS), STOREBOT_CHROMIUM=chromium_path()) as late:
        assert late.stats("fetch/browser/") == {}
        assert len(browser_processes()) == before
        late.get(f"{shop.url}/p/1")
        assert (late.stats("fetch/browser/"), len(browser_processes())) == ({"started": 1}, before + 1)
    assert len(browser_processes()) == before
