"""The http2 tier against real servers: what is negotiated, trusted, passed through proxies, and named when it fails."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadConnectionRefusedError, ResponseDataLossError
from scrapy.http import Response

from storebot.exceptions import AnswerTooLarge, ConfigurationError
from storebot.fetch import http2
from storebot.fetch.handler import LadderDownloadHandler, check_tiers
from storebot.items import Tier
from tests.fetch.fetching import asked, crawler_of, fetched, names, response, spent, store_of, within
from tests.fetch.servers import PAGE, TlsShop
from tests.vendors.proxies import HttpProxy, HttpsProxy, SocksProxy

STORE = store_of('[fetch]\ntiers = ["http", "http2"]')
NOBODY = "https://127.0.0.1:9/"


@pytest.fixture(scope="module")
def shop() -> Iterator[TlsShop]:
    with TlsShop() as served:
        yield served


@pytest.fixture
def crawler(shop: TlsShop, monkeypatch: pytest.MonkeyPatch) -> Crawler:
    """A crawler that trusts the shop's certificate, by OpenSSL's own variable."""
    monkeypatch.setenv("SSL_CERT_FILE", str(shop.certificate))
    return crawler_of(STORE, DOWNLOAD_VERIFY_CERTIFICATES=True)


def test_a_server_that_offers_http2_is_asked_by_it(shop: TlsShop, crawler: Crawler) -> None:
    request = asked(f"{shop.url}/p/1", Tier.HTTP2)
    found = response(crawler, request)
    assert (found.status, found.body, found.protocol) == (200, PAGE, "HTTP/2")
    assert shop.asked[-1] == ("2", "/p/1")
    assert (spent(request).requests, spent(request).size_bytes, spent(request).tries) == (1, len(PAGE), {Tier.HTTP2: 1})


def test_the_plain_tier_asks_the_same_server_by_http_1(shop: TlsShop, crawler: Crawler) -> None:
    assert response(crawler, asked(f"{shop.url}/p/1", Tier.HTTP)).protocol == "HTTP/1.1"
    assert shop.asked[-1] == ("1.1", "/p/1")


def test_a_server_without_http2_is_asked_by_http_1(monkeypatch: pytest.MonkeyPatch) -> None:
    with TlsShop("http/1.1") as old:
        monkeypatch.setenv("SSL_CERT_FILE", str(old.certificate))
        found = response(crawler_of(STORE, DOWNLOAD_VERIFY_CERTIFICATES=True), asked(f"{old.url}/p/1", Tier.HTTP2))
        assert (found.body, found.protocol, old.asked) == (PAGE, "HTTP/1.1", [("1.1", "/p/1")])


def test_requests_to_one_host_at_once_all_come_back(shop: TlsShop, crawler: Crawler) -> None:
    """NOTES D: with Scrapy's own H2DownloadHandler the second of two failed each time."""

    async def at_once(handler: LadderDownloadHandler) -> list[Response]:
        urls = (f"{shop.url}/p/{number}" for number in range(20))
        return await asyncio.gather(*(handler.download_request(asked(url, Tier.HTTP2)) for url in urls))

    found = within(crawler, at_once)
    assert [(one.status, one.protocol) for one in found] == [(200, "HTTP/2")] * 20


def test_a_request_has_its_own_headers_and_none_of_the_clients(shop: TlsShop, crawler: Crawler) -> None:
    request = asked(f"{shop.url}/headers", Tier.HTTP2)
    request.headers.update({"User-Agent": "storebot/0.1 (+me)", "Accept-Language": "de-DE"})
    said = dict(line.split(": ", 1) for line in response(crawler, request).text.splitlines())
    assert said.keys() == {"host", "user-agent", "accept-language"}
    assert (said["user-agent"], said["accept-language"]) == ("storebot/0.1 (+me)", "de-DE")


@pytest.mark.parametrize("tier", [Tier.HTTP, Tier.HTTP2])
def test_a_certificate_that_nobody_vouches_for_is_refused(shop: TlsShop, tier: Tier) -> None:
    before = len(shop.asked)
    with pytest.raises(Exception, match="CERTIFICATE_VERIFY_FAILED") as raised:
        response(crawler_of(STORE, DOWNLOAD_VERIFY_CERTIFICATES=True), asked(f"{shop.url}/p/1", tier))
    assert raised.type.__module__ == "scrapy.exceptions"
    assert len(shop.asked) == before


@pytest.mark.parametrize("kind", [HttpProxy, HttpsProxy, SocksProxy])
def test_a_proxy_with_a_password_is_used_and_sees_a_tunnel_alone(
    shop: TlsShop, crawler: Crawler, kind: type[HttpProxy | SocksProxy]
) -> None:
    with HttpsProxy(shop.known, "me", "secret") if kind is HttpsProxy else kind("me", "secret") as proxy:
        found = response(crawler, asked(f"{shop.url}/p/1", Tier.HTTP2, proxy=proxy.url))
    assert (found.body, found.protocol) == (PAGE, "HTTP/2")
    assert proxy.counted.tunnels == [shop.url.removeprefix("https://")]
    assert proxy.counted.requests == []


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # httpcore2 2.16 leaves the socket to the collector
@pytest.mark.parametrize("kind", [HttpProxy, SocksProxy])
def test_a_proxy_that_refuses_the_password_is_a_failed_connection(
    shop: TlsShop, crawler: Crawler, kind: type[HttpProxy | SocksProxy]
) -> None:
    with kind("me", "secret") as proxy:
        wrong = proxy.url.replace("secret", "hunter2")
        with pytest.raises(DownloadConnectionRefusedError) as raised:
            response(crawler, asked(f"{shop.url}/p/1", Tier.HTTP2, proxy=wrong))
    assert "hunter2" not in str(raised.value)
    del raised
    gc.collect()


@pytest.mark.parametrize(
    ("path", "failure"),
    [("/short", "ResponseDataLossError"), ("/slow", "DownloadTimeoutError"), ("/endless", "AnswerTooLarge")],
)
def test_what_goes_wrong_on_the_way_is_named(shop: TlsShop, crawler: Crawler, path: str, failure: str) -> None:
    request = asked(f"{shop.url}{path}", Tier.HTTP2, download_timeout=0.5 if path == "/slow" else 30)
    assert names(fetched(crawler, request)) == [failure]
    assert (spent(request).requests, spent(request).tries) == (1, {Tier.HTTP2: 1})


@pytest.mark.parametrize(
    ("url", "failure"),
    [(NOBODY, "DownloadConnectionRefusedError"), ("https://nowhere.invalid/", "CannotResolveHostError")],
    ids=["nobody", "no-name"],
)
def test_a_server_that_is_not_there_is_one_of_scrapys_own_exceptions(crawler: Crawler, url: str, failure: str) -> None:
    assert names(fetched(crawler, asked(url, Tier.HTTP2))) == [failure]


def test_a_body_that_breaks_off_is_a_loss_by_either_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    for protocols in ((), ("http/1.1",)):
        with TlsShop(*protocols) as served:
            monkeypatch.setenv("SSL_CERT_FILE", str(served.certificate))
            with pytest.raises(ResponseDataLossError):
                response(crawler_of(STORE, DOWNLOAD_VERIFY_CERTIFICATES=True), asked(f"{served.url}/short", Tier.HTTP2))


def test_a_body_larger_than_the_limit_is_cut_off_while_it_streams(shop: TlsShop, crawler: Crawler) -> None:
    with pytest.raises(AnswerTooLarge, match="more than DOWNLOAD_MAXSIZE"):
        response(crawler, asked(f"{shop.url}/endless", Tier.HTTP2))


def test_without_its_extra_the_tier_says_which_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http2, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError) as raised:
        check_tiers(STORE)
    said = str(raised.value)
    assert said.endswith("""fetch.tiers lists "http2", but httpx2 isn't installed: pip install 'storebot[http2]'""")
    assert "\n" not in said
