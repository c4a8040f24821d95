"""What a browser may reach: nothing of a private network, and everything through its identity's proxy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from storebot.core.identity import Identity
from storebot.core.proxy import read_proxy
from storebot.core.proxy_errors import Fault, chain_of, fault_of
from storebot.exceptions import PrivateAddress
from storebot.items import Tier
from tests.fetch.rendered import Rendered, store_at
from tests.fetch.scripted_shop import ScriptedShop
from tests.vendors.chromium import chromium_path
from tests.vendors.proxies import HttpProxy, SocksProxy

SECTIONS = '[fetch]\ntiers = ["browser"]\n[fetch.browser]\nsettle_s = 0.5\ntimeout_s = 30\n'
SHOP = "http://shop.example"


class HttpInternet(HttpProxy):
    """An HTTP proxy before which ``shop.example`` is a shop of this machine, as it is on the internet."""

    def __init__(self, shop: ScriptedShop) -> None:
        super().__init__("me", "secret")
        self.shop = shop

    async def call(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await _called(self.shop, host, port)


class SocksInternet(SocksProxy):
    """The same by SOCKS5."""

    def __init__(self, shop: ScriptedShop) -> None:
        super().__init__("me", "secret")
        self.shop = shop

    async def call(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await _called(self.shop, host, port)


async def _called(shop: ScriptedShop, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if host == "shop.example":
        host, port = "127.0.0.1", int(shop.url.rpartition(":")[2])
    return await asyncio.open_connection(host, port)


@pytest.fixture(scope="module")
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as served:
        yield served


@pytest.fixture
def secret() -> Iterator[ScriptedShop]:
    """Something in a private network, which nobody may ask."""
    with ScriptedShop() as served:
        yield served
        assert not served.asked


@pytest.fixture(scope="module")
def browser() -> Iterator[Rendered]:
    with Rendered(store_at(SHOP, SECTIONS), STOREBOT_CHROMIUM=chromium_path()) as rendered:
        yield rendered


@pytest.mark.parametrize("kind", [HttpInternet, SocksInternet])
def test_a_public_page_reaches_nothing_private(
    browser: Rendered, shop: ScriptedShop, secret: ScriptedShop, kind: type[HttpInternet | SocksInternet]
) -> None:
    """By frames, scripts, beacons, WebSockets, workers, and redirects of any of them."""
    with kind(shop) as proxy:
        found = browser.get(f"{SHOP}/reaching?to={secret.url}", identity=Identity(proxy.port, read_proxy(proxy.url)))
        assert b"<h1>reached:</h1>" in found.body
        assert proxy.counted.refused == 0
        asked = (*proxy.counted.requests, *proxy.counted.tunnels)
        assert {each[: len(SHOP)].removeprefix("http://")[:12] for each in asked} == {"shop.example"}
    assert shop.asked["/hop"], "the redirect was asked for, and not followed"


def test_a_frame_of_another_site_loads_no_more_than_the_page_would_and_is_counted(
    browser: Rendered, shop: ScriptedShop
) -> None:
    """It has a process of its own, of which the page's DevTools session sees nothing."""
    shop.asked.clear()
    with SocksProxy("me", "secret") as proxy:
        proxy.hosts = dict.fromkeys(("shop.example", "other.example"), ("127.0.0.1", int(shop.url.rpartition(":")[2])))
        url, identity = f"{SHOP}/embedding?of=other.example/assets", Identity(proxy.port, read_proxy(proxy.url))
        _, spent = browser.spent(url, identity=identity, page_type=None)
    assert shop.asked == {"/embedding": 1, "/assets": 1, "/site.css": 1, "/app.js": 1}, "no picture, no video, no font"
    assert {each.partition(":")[0] for each in proxy.counted.tunnels} == {"shop.example", "other.example"}, "no ads"
    assert (spent.requests, spent.size_bytes) == (4, proxy.counted.bytes_down)


@pytest.mark.parametrize("path", ["hop", "later"])
def test_a_page_that_leads_into_a_private_network_is_an_error(
    browser: Rendered, shop: ScriptedShop, secret: ScriptedShop, path: str
) -> None:
    with SocksInternet(shop) as proxy:
        address = secret.url.removeprefix("http://")
        with pytest.raises(PrivateAddress, match=rf"^{address} is not asked, because 127\.0\.0\.1 is in a private"):
            browser.get(f"{SHOP}/{path}?to={secret.url}/p/1", identity=Identity(proxy.port, read_proxy(proxy.url)))


def test_a_redirect_to_a_file_is_an_error(browser: Rendered, shop: ScriptedShop) -> None:
    with HttpInternet(shop) as proxy, pytest.raises(Exception, match="ERR_UNSAFE_REDIRECT"):
        browser.get(f"{SHOP}/hop?to=file:///etc/hostname", identity=Identity(proxy.port, read_proxy(proxy.url)))


def test_a_private_address_is_not_asked_without_a_proxy_either(browser: Rendered, secret: ScriptedShop) -> None:
    with pytest.raises(PrivateAddress):
        browser.get(f"{secret.url}/p/1", identity=Identity(1, None))


@pytest.mark.parametrize("kind", [HttpInternet, SocksInternet])
def test_each_identity_comes_through_its_own_proxy(
    browser: Rendered, shop: ScriptedShop, kind: type[HttpInternet | SocksInternet]
) -> None:
    with kind(shop) as first, kind(shop) as second:
        for proxy in (first, second):
            browser.get(f"{SHOP}/p/1", identity=Identity(proxy.port, read_proxy(proxy.url)))
        for proxy in (first, second):
            assert [*proxy.counted.requests, *proxy.counted.tunnels] in ([f"{SHOP}/p/1"], ["shop.example:80"])
            assert (proxy.counted.refused, proxy.counted.bytes_down > 50) == (0, True)


def test_scrapys_own_key_for_a_proxy_is_obeyed(browser: Rendered, shop: ScriptedShop) -> None:
    """NOTES C4: scrapy-playwright ignores it silently; HttpProxyMiddleware has put the password into a header."""
    with HttpInternet(shop) as proxy:
        request = browser.request(f"{SHOP}/p/1", proxy=f"http://127.0.0.1:{proxy.port}")
        request.headers["Proxy-Authorization"] = b"Basic bWU6c2VjcmV0"
        assert browser.run(browser.handler.download_request(request)).status == 200
        assert (proxy.counted.requests, proxy.counted.refused) == ([f"{SHOP}/p/1"], 0)


def test_a_proxy_that_fails_is_named_without_its_password(browser: Rendered, shop: ScriptedShop) -> None:
    with SocksInternet(shop) as proxy:
        url = proxy.url.replace("secret", "wr0ng")
        request = browser.request(f"{SHOP}/p/1", identity=Identity(proxy.port, read_proxy(url)))
        (found,) = browser.all(request)
    assert isinstance(found, Exception)
    assert str(found).endswith("refused its user name and password")
    assert fault_of(chain_of(found)) is Fault.PROXY
    assert request.meta["spent"].tries == {Tier.BROWSER: 1}
