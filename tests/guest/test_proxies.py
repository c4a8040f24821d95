"""A guest goes through what a crawl goes through: proxies over TLS and by SOCKS5, to shops with TLS and without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from storebot.core.proxy import read_proxy
from storebot.exceptions import ConfigurationError
from storebot.guest import Guest, proxies
from storebot.guest import guest as guest_module
from tests.fetch.servers import PAGE, TlsShop
from tests.hostile import Answer as HostileAnswer
from tests.hostile import HostileShop, dripping, endless, flood, page
from tests.scripted import Answer, ScriptedShop, product
from tests.vendors.proxies import HttpProxy, HttpsProxy, SocksProxy

Proxy = HttpProxy | SocksProxy
LOGIN = ("me", "s3cret@/")


@pytest.fixture(scope="module")
def shops() -> Iterator[tuple[ScriptedShop, TlsShop]]:
    with ScriptedShop() as plain, TlsShop() as secure:
        yield plain, secure


@pytest.fixture(params=["https", "socks5"])
def proxy(
    request: pytest.FixtureRequest, shops: tuple[ScriptedShop, TlsShop], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Proxy]:
    """A proxy that wants a password; it and the shop are trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(shops[1].certificate))
    with HttpsProxy(shops[1].known, *LOGIN) if request.param == "https" else SocksProxy(*LOGIN) as served:
        yield served


def spelled(proxy: Proxy, password: str = "s3cret%40%2F") -> str:
    return f"{proxy.scheme}://me:{password}@127.0.0.1:{proxy.port}"


def through(*urls: str) -> Guest:
    return Guest("storebot/test", "storebot", 0, proxies=[read_proxy(url) for url in urls])


def passed(proxy: Proxy) -> int:
    return len(proxy.counted.tunnels) + len(proxy.counted.requests)


def test_pages_of_plain_and_secure_shops_come_through_it(
    shops: tuple[ScriptedShop, TlsShop], proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    plain, secure = shops
    plain.asked.clear()
    plain.says("/p/1", Answer(status=302, headers={"Location": "/p/2", "Set-Cookie": "seen=1"})).says("/p/2", product())
    guest = through(spelled(proxy))
    moved, tls = guest.get(f"{plain.url}/p/1"), guest.get(f"{secure.url}/p/1")
    assert moved.page is not None
    assert (moved.page.url, moved.page.status) == (f"{plain.url}/p/2", 200)
    assert plain.paths() == ["/robots.txt", "/p/1", "/p/2"]
    assert plain.asked[-1].headers["cookie"] == "seen=1"
    assert plain.asked[-1].headers["user-agent"] == "storebot/test"
    assert not any("proxy-authorization" in one.headers for one in plain.asked)
    assert tls.page is not None
    assert (tls.page.status, tls.page.body) == (200, PAGE)
    assert (passed(proxy), proxy.counted.refused) == (5, 0), "each robots.txt, and three pages"


def test_one_that_is_down_gives_way_to_the_next(shops: tuple[ScriptedShop, TlsShop], proxy: Proxy) -> None:
    with HttpProxy() as plain:
        guest = through(spelled(proxy), plain.url)
        proxy.down = True
        assert guest.get(f"{shops[0].url}/p/3").page is not None
    assert passed(plain) == 2


def test_a_wrong_password_is_said_without_it(shops: tuple[ScriptedShop, TlsShop], proxy: Proxy) -> None:
    shops[0].asked.clear()
    guest = through(spelled(proxy, "gu3ss"))
    for shop in shops:
        problem = guest.get(f"{shop.url}/p/1").problem
        assert str(proxy.port) in problem
        assert "gu3ss" not in problem
    assert shops[0].asked == []
    assert proxy.counted.refused


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (page(b"half", length=100), "through the proxy"),
        (dripping(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"), "took longer than 0.5 s"),
        (dripping(b"HTTP/1.1 200 OK\r\nX-Drip: a"), "took longer than 0.5 s"),
        (endless(), "more than 100,000 bytes"),
        (flood(b"HTTP/1.1 200 OK\r\n", b"X-Flood: 1\r\n"), "through the proxy"),
    ],
    ids=["half", "drips", "head-drips", "endless", "flood"],
)
def test_a_hostile_answer_is_bounded_and_named(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch, answer: HostileAnswer, said: str
) -> None:
    monkeypatch.setattr(guest_module, "DEADLINE_S", 0.5 if "0.5 s" in said else 60)
    monkeypatch.setattr(guest_module, "MAX_BYTES", 100_000)
    with HostileShop() as shop:
        shop.says("/p/1", answer)
        found = through(spelled(proxy)).get(f"{shop.url}/p/1")
    assert found.page is None
    assert said in found.problem


def test_over_tls_it_is_bounded_too(
    shops: tuple[ScriptedShop, TlsShop], proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_module, "MAX_BYTES", 100_000)
    guest = through(spelled(proxy))
    assert "through the proxy" in guest.get(f"{shops[1].url}/short").problem
    assert "more than 100,000 bytes" in guest.get(f"{shops[1].url}/endless").problem
    monkeypatch.setattr(guest_module, "DEADLINE_S", 0.5)
    assert "took longer than 0.5 s" in guest.get(f"{shops[1].url}/slow").problem


def test_without_its_package_nothing_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxies, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"https and socks5 proxies are listed, but httpcore2 isn't installed"):
        through("http://h:1", "socks5://h:1", "https://h:1")
    through("http://h:1")
