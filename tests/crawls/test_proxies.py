"""Whole crawls through real proxies: who serves what, what a failing one costs, and that nothing goes without."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from storebot.demo.running import DemoStore
from tests.crawls.watched import Watched, store_file
from tests.vendors.chromium import chromium_path
from tests.vendors.proxies import HttpProxy, SocksProxy

PRODUCTS = 8
SECRET = "hush-hush"
KINDS: dict[str, type[HttpProxy | SocksProxy]] = {"http": HttpProxy, "socks5": SocksProxy}
ONE_BY_ONE = {
    "CONCURRENT_REQUESTS": 1,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
}  # else all in flight are blocked, and retried
PLAIN = "[refresh]\nhead_pages = 0\nsitemaps = false\n"


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, variant_share=0) as opened:
        yield opened


@pytest.fixture
def first_and_second(request: pytest.FixtureRequest) -> Iterator[tuple[HttpProxy | SocksProxy, ...]]:
    kind = KINDS[request.param]
    with kind("me", SECRET, "127.0.0.2") as first, kind("me", SECRET, "127.0.0.3") as second:
        yield first, second


def through(shop: DemoStore, folder: Path, *proxies: str, tiers: str = "", more: str = "") -> Watched:
    """Return the shop with a store file that lists these proxies."""
    shop.honest()
    shop.reset_counts()
    (folder / "proxies.txt").write_text("# of a test\n" + "\n".join(proxies))
    section = f'{PLAIN}[fetch]\n{tiers}\n[fetch.proxies]\nfile = "{folder / "proxies.txt"}"\n{more}'
    return Watched(shop, folder / "store.db", store_file(folder, section))


def addresses(shop: DemoStore, kind: str = "") -> Counter[str]:
    """Return how many requests came from each address."""
    found: Counter[str] = Counter()
    for facts, count in shop.requests().facts.items():
        if kind in ("", facts.kind):
            found[facts.address] += count
    return found


def nobody() -> str:
    """Return the address of a port on which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


def assert_no_secret(watched: Watched) -> None:
    folder = watched.database.parent
    written = [path for path in folder.rglob("*") if path.is_file() and path.name != "proxies.txt"]
    assert watched.database in written
    assert watched.database.with_suffix(".log") in written
    encoded = (SECRET.encode(), b"bWU6aHVzaC1odXNo")  # and what Proxy-Authorization makes of me:hush-hush
    assert not [path.name for path in written if any(secret in path.read_bytes() for secret in encoded)]


@pytest.mark.parametrize("first_and_second", KINDS, indirect=True)
def test_second_identity_goes_on_where_the_shop_blocks_the_first(
    shop: DemoStore, tmp_path: Path, first_and_second: tuple[HttpProxy | SocksProxy, ...]
) -> None:
    first, second = first_and_second
    watched = through(shop, tmp_path, first.url, second.url)
    shop.lie("blocks_first", "^/p/")
    done = watched.forked("backfill", LOG_LEVEL="DEBUG", **ONE_BY_ONE)
    assert (done.exit_code, done.count("new")) == (0, PRODUCTS), done.stderr
    assert addresses(shop, "product") == {"127.0.0.2": 1, "127.0.0.3": PRODUCTS}
    assert addresses(shop).keys() == {"127.0.0.2", "127.0.0.3"}
    assert watched.count("SELECT sum(requests) FROM visits WHERE page_type = 'product'") == PRODUCTS + 1
    assert watched.count("SELECT count(*) FROM blocks WHERE kind = 'status'") == 1
    assert first.counted.refused == second.counted.refused == 0
    assert_no_secret(watched)


def test_shop_behind_tls_is_reached_by_tunnels_that_show_the_proxy_nothing(tmp_path: Path) -> None:
    with (
        DemoStore(products=PRODUCTS, variant_share=0, https=True, guard="blocks_first") as shop,
        HttpProxy("me", SECRET, "127.0.0.2") as first,
        HttpProxy("me", SECRET, "127.0.0.3") as second,
    ):
        watched = through(shop, tmp_path, first.url, second.url)
        shop.lie("blocks_first", "^/p/")
        done = watched.forked("backfill", LOG_LEVEL="DEBUG", DOWNLOAD_VERIFY_CERTIFICATES=False, **ONE_BY_ONE)
        assert (done.exit_code, done.count("new")) == (0, PRODUCTS), done.stderr
        assert addresses(shop, "product") == {"127.0.0.2": 1, "127.0.0.3": PRODUCTS}
        assert first.counted.requests == second.counted.requests == []
        assert set(first.counted.tunnels + second.counted.tunnels) == {urlsplit(shop.url).netloc}
    assert_no_secret(watched)


@pytest.mark.parametrize("first_and_second", KINDS, indirect=True)
def test_browser_goes_through_them_too_and_so_does_what_is_asked_beside_it(
    shop: DemoStore, tmp_path: Path, first_and_second: tuple[HttpProxy | SocksProxy, ...]
) -> None:
    """Chromium knows no login for SOCKS5; and robots.txt, asked for plainly, must not show where the browser is."""
    chromium = chromium_path()
    first, second = first_and_second
    quick = "[fetch.browser]\nwait_s = 2\nsettle_s = 0.1\n"  # for a block page that never goes away
    watched = through(shop, tmp_path, first.url, second.url, tiers='tiers = ["browser"]', more=quick)
    shop.lie("blocks_first", "^/p/")
    done = watched.forked("backfill", STOREBOT_CHROMIUM=chromium, LOG_LEVEL="DEBUG", **ONE_BY_ONE)
    assert (done.exit_code, done.count("new")) == (0, PRODUCTS), done.stderr
    assert addresses(shop).keys() == {"127.0.0.2", "127.0.0.3"}
    assert addresses(shop, "product") == {"127.0.0.2": 1, "127.0.0.3": PRODUCTS}
    assert {row["tier"] for row in watched.rows("SELECT tier FROM visits WHERE page_type = 'product'")} == {"browser"}
    assert_no_secret(watched)


@pytest.mark.parametrize("first_and_second", KINDS, indirect=True)
def test_dead_proxies_are_passed_over_and_cost_the_shop_nothing(
    shop: DemoStore, tmp_path: Path, first_and_second: tuple[HttpProxy | SocksProxy, ...]
) -> None:
    wrong, good = first_and_second
    scheme = urlsplit(good.url).scheme
    dead = f"{scheme}://me:{SECRET}@{nobody()}"
    refused = wrong.url.replace(SECRET, f"{SECRET}-of-yesterday")
    watched = through(shop, tmp_path, dead, refused, good.url)
    done = watched.forked("backfill", LOG_LEVEL="DEBUG")
    assert (done.exit_code, done.count("new")) == (0, PRODUCTS), done.stderr
    assert addresses(shop).keys() == {"127.0.0.3"}
    assert addresses(shop, "product") == {"127.0.0.3": PRODUCTS}
    assert wrong.counted.refused == 1
    log = watched.log()
    assert f"{scheme}://{dead.rpartition('@')[2]} can't be used, and rests" in log
    assert_no_secret(watched)


def test_nothing_goes_without_a_proxy_when_all_of_them_are_out(shop: DemoStore, tmp_path: Path) -> None:
    watched = through(shop, tmp_path, f"http://me:{SECRET}@{nobody()}", f"http://{nobody()}")
    done = watched.forked("backfill", STOREBOT_PROXY_WAIT_MAX_S=0.2)
    assert (done.exit_code, done.count("new")) == (3, 0), done.stderr
    assert "2 of 2 proxies rest (2 failed)" in watched.last_run()["reason"]
    assert "because nothing may go without a proxy" in watched.last_run()["reason"]
    assert not shop.requests().facts
    assert_no_secret(watched)


def test_run_waits_for_a_blocked_proxy_to_come_back(shop: DemoStore, tmp_path: Path) -> None:
    with HttpProxy("me", SECRET, "127.0.0.2") as only:
        watched = through(shop, tmp_path, only.url, more='cool_down = "1s"')
        shop.lie("blocks_first", "^/p/")
        done = watched.forked("backfill", **ONE_BY_ONE)
    assert (done.exit_code, done.count("new")) == (0, PRODUCTS), done.stderr
    assert addresses(shop, "product") == {"127.0.0.2": PRODUCTS + 1}
    assert "the first is back in 1 s, and the run waits" in watched.log()


def test_shop_that_blocks_everybody_bans_no_proxy_and_ends_the_run(shop: DemoStore, tmp_path: Path) -> None:
    """Each page is asked for twice, by two proxies: the second block says that it's not the first one's fault."""
    with HttpProxy(address="127.0.0.2") as first, HttpProxy(address="127.0.0.3") as second:
        watched = through(shop, tmp_path, first.url, second.url, more="[blocks]\nbreaker_min = 4\n")
        shop.lie("blocks_always", "^/p/")
        done = watched.forked("backfill", **ONE_BY_ONE)
    assert done.exit_code == 4, done.stderr
    counts = addresses(shop, "product")
    assert 4 <= counts["127.0.0.3"] <= counts["127.0.0.2"] <= 5  # one more was in flight when the run was ended
    assert "proxies rest" not in watched.log()
    assert {reason.count("block page") for _, reason in watched.outcomes().values()} == {1}


def test_list_that_cannot_be_read_ends_the_command_before_anything_is_asked(shop: DemoStore, tmp_path: Path) -> None:
    watched = through(shop, tmp_path, "127.0.0.1:3128", f"127.0.0.1:3128:me:{SECRET}")
    done = watched.crawl("backfill")
    assert done.exit_code == 2
    assert not shop.requests().facts
    assert "proxies.txt:3: expected a proxy such as" in done.stderr
    assert SECRET not in done.stderr
