"""The guest asks robots.txt first, waits between requests, follows redirects and takes no endless answers."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator

import pytest

from storebot.core.proxy import read_proxy
from storebot.guest import Guest
from storebot.guest import guest as guest_module
from tests.hostile import Answer as HostileAnswer
from tests.hostile import HostileShop, dripping, endless, page
from tests.scripted import Answer, ScriptedShop, product
from tests.vendors.proxies import HttpProxy


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now, self.slept = 100.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def read(self) -> float:
        return self.now


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        yield shop


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guest(clock: Clock) -> Guest:
    return Guest("storebot/test (+me@example.org)", "storebot", 1.5, sleep=clock.sleep, clock=clock.read)


def test_page_is_asked_for_under_our_own_name_with_robots_first(guest: Guest, shop: ScriptedShop) -> None:
    shop.says("/p/1", product())
    answer = guest.get(f"{shop.url}/p/1")
    assert answer.page is not None
    assert (answer.page.status, answer.page.url) == (200, f"{shop.url}/p/1")
    assert shop.paths() == ["/robots.txt", "/p/1"]
    assert {one.headers["user-agent"] for one in shop.asked} == {"storebot/test (+me@example.org)"}


def through(clock: Clock, *proxies: str) -> Guest:
    found = [read_proxy(url) for url in proxies]
    return Guest("storebot/test", "storebot", 0, proxies=found, sleep=clock.sleep, clock=clock.read)


def test_everything_goes_through_the_proxies_and_nothing_without(
    clock: Clock, shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is down, one refuses the password: the third serves, and goes on. The environment has no say."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    shop.says("/p/1", product())
    with HttpProxy() as down, HttpProxy("me", "secret") as wrong, HttpProxy("me", "s3cret!") as proxy:
        down.down = True
        guest = through(clock, down.url, wrong.url.replace("secret", "guess"), proxy.url)
        answers = [guest.get(f"{shop.url}/p/{number}") for number in (1, 2)]
        assert (down.counted.connections, wrong.counted.refused) == (1, 1), "each once, for robots.txt"
        assert proxy.counted.requests == [f"{shop.url}{path}" for path in ("/robots.txt", "/p/1", "/p/2")]
    assert [answer.page and answer.page.status for answer in answers] == [200, 404]
    assert not any("proxy-authorization" in one.headers for one in shop.asked)


def test_a_shop_with_tls_is_reached_through_a_tunnel(clock: Clock) -> None:
    with HttpProxy("me", "secret") as proxy:
        answer = through(clock, proxy.url).get("https://127.0.0.1:9/p/1")
        assert (set(proxy.counted.tunnels), proxy.counted.refused) == ({"127.0.0.1:9"}, 0)
    assert "Tunnel connection failed: 502" in answer.problem


def test_where_no_proxy_works_nothing_is_sent_and_no_password_is_told(clock: Clock, shop: ScriptedShop) -> None:
    with HttpProxy("me", "secret") as proxy:
        answer = through(clock, proxy.url.replace("secret", "guess")).get(f"{shop.url}/p/1")
    assert answer.problem.endswith(f"the proxy http://127.0.0.1:{proxy.port} answers 407: it refuses the login")
    assert "guess" not in answer.problem
    assert shop.asked == []


def test_the_environments_proxy_is_used_where_none_is_named(
    shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HttpProxy() as proxy:
        proxy.hosts["shop.test"] = ("127.0.0.1", int(shop.url.rpartition(":")[2]))
        monkeypatch.setenv("http_proxy", proxy.url)
        own = Guest("storebot/test", "storebot", 0)
        assert own.get("http://shop.test/p/1").page is not None
        assert proxy.counted.requests == ["http://shop.test/robots.txt", "http://shop.test/p/1"]


def test_pause_lies_between_any_two_requests(guest: Guest, shop: ScriptedShop, clock: Clock) -> None:
    for _ in range(3):
        guest.get(f"{shop.url}/p/1")
    assert [seconds for seconds in clock.slept if seconds] == [1.5, 1.5, 1.5]  # robots.txt and three pages


def test_crawl_delay_holds_where_it_is_longer(guest: Guest, shop: ScriptedShop) -> None:
    shop.says("/robots.txt", Answer(b"User-agent: *\nCrawl-delay: 9\nSitemap: /maps/a.xml\nDisallow: /private/"))
    robots = guest.robots(f"{shop.url}/p/1")
    assert (robots.crawl_delay_s, robots.sitemaps, robots.forbids) == (
        9.0,
        (f"{shop.url}/maps/a.xml",),
        ("Disallow: /private/",),
    )
    assert guest.delay_s == 9.0


def test_what_robots_forbids_is_not_asked_for_not_even_by_a_redirect(guest: Guest, shop: ScriptedShop) -> None:
    shop.says("/robots.txt", Answer(b"User-agent: *\nDisallow: /private/"))
    shop.says("/p/1", Answer(status=302, headers={"Location": "/private/p/1"}))
    answers = [guest.get(f"{shop.url}{path}") for path in ("/private/x", "/p/1")]
    assert [(one.forbidden, one.page) for one in answers] == [(True, None), (True, None)]
    assert shop.paths("/private") == []


def test_robots_that_cannot_be_had_forbids_all_and_one_that_is_not_there_nothing(
    guest: Guest, shop: ScriptedShop
) -> None:
    shop.says("/robots.txt", Answer(status=500))
    answer = guest.get(f"{shop.url}/p/1")
    assert answer.forbidden
    assert "500" in answer.problem
    assert shop.paths("/p") == []


def test_redirects_are_followed_and_told_and_endless_ones_are_not(guest: Guest, shop: ScriptedShop) -> None:
    shop.says("/a", Answer(status=301, headers={"Location": "/b"})).says("/b", product())
    shop.says("/loop", Answer(status=302, headers={"Location": "/loop"}))
    answer = guest.get(f"{shop.url}/a")
    assert answer.page is not None
    assert (answer.page.url, list(answer.redirects)) == (f"{shop.url}/b", [f"{shop.url}/b"])
    assert "without end" in guest.get(f"{shop.url}/loop").problem


def test_retry_after_is_waited_for_once(guest: Guest, shop: ScriptedShop, clock: Clock) -> None:
    shop.says("/p/1", Answer(b"slow down", 429, {"Retry-After": "20"}), product())
    answer = guest.get(f"{shop.url}/p/1")
    assert answer.page is not None
    assert answer.page.status == 200
    assert 20.0 in clock.slept
    shop.says("/p/2", Answer(b"slow down", 429, {"Retry-After": "3600"}), product())
    answer = guest.get(f"{shop.url}/p/2")
    assert answer.page is not None
    assert answer.page.status == 429
    assert 3600.0 not in clock.slept


def test_packed_answers_are_unpacked_and_too_large_ones_refused(
    guest: Guest, shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_module, "MAX_BYTES", 100_000)
    headers = {"Content-Encoding": "gzip"}
    shop.says("/small", Answer(gzip.compress(b"x" * 1000), headers=headers))
    shop.says("/bomb", Answer(gzip.compress(b"x" * 10_000_000), headers=headers))
    small = guest.get(f"{shop.url}/small").page
    assert small is not None
    assert small.body == b"x" * 1000
    assert "more than 100,000 bytes when unpacked from gzip" in guest.get(f"{shop.url}/bomb").problem


def test_connection_that_breaks_is_tried_once_more_and_then_told(guest: Guest, shop: ScriptedShop) -> None:
    shop.says("/p/1", Answer(status=0), product())
    assert guest.get(f"{shop.url}/p/1").page is not None
    shop.says("/p/2", Answer(status=0))
    assert "gave no answer" in guest.get(f"{shop.url}/p/2").problem


def test_host_that_is_not_there_is_a_reason_and_no_exception(guest: Guest) -> None:
    answer = guest.get("http://127.0.0.1:9/")
    assert answer.page is None
    assert "gave no answer" in answer.problem


def test_a_page_in_a_private_network_is_not_asked_for_on_behalf_of_a_shop_outside(
    guest: Guest, shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_module, "resolve", lambda host: {"shop.test": ["93.184.215.14"]}.get(host, []))
    guest.get("http://shop.test:9/")
    for url in (f"{shop.url}/p/1", "http://localhost/", "file:///etc/passwd"):
        assert "isn't asked for, because" in guest.get(url).problem
    assert shop.asked == []


def test_a_name_that_leads_somewhere_else_by_now_is_not_asked(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: it was judged by another address than the one that it is connected to."""
    monkeypatch.setattr(guest_module, "resolve", lambda host: ["93.184.215.14"])
    known = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **more: known("127.0.0.1", *rest, **more))
    with HostileShop() as shop:
        answer = guest.get(shop.url.replace("127.0.0.1", "shop.test") + "/p/1")
        assert answer.problem.endswith("its name leads to 127.0.0.1 by now, and 127.0.0.1 is in a private network)")
        assert not shop.asked


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (dripping(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"), "took longer than 0.5 s"),
        (dripping(b"HTTP/1.1 200 OK\r\nX-Drip: a"), "took longer than 0.5 s"),
        (endless(), "its body has more than 100,000 bytes"),
        (page(gzip.compress(b"<html>" * 1000)[:-9], "Content-Encoding: gzip"), "breaks off before the end of its gzip"),
        (page(b"<html>", length=99), "IncompleteRead"),
    ],
    ids=["drip", "drip-head", "endless", "half-gzip", "half"],
)
def test_a_hostile_answer_is_a_reason_in_time(
    guest: Guest, monkeypatch: pytest.MonkeyPatch, answer: HostileAnswer | bytes, problem: str
) -> None:
    monkeypatch.setattr(guest_module, "DEADLINE_S", 0.5 if "0.5 s" in problem else 60)
    monkeypatch.setattr(guest_module, "MAX_BYTES", 100_000)
    with HostileShop() as shop:
        shop.says("/p/1", answer)
        assert problem in guest.get(f"{shop.url}/p/1").problem
