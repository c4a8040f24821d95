"""The proxies of this machine pass on, count, and ask for their password: a test that relies on them may."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from storebot.demo import DemoStore
from tests.vendors.proxies import HttpProxy, SocksProxy


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=3) as opened:
        yield opened


def curl(url: str, proxy: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        "curl",
        "--silent",
        "--noproxy",
        "",
        "--proxy",
        proxy,
        "--write-out",
        "%{http_code}",
        "--output",
        "/dev/null",
    ]
    return subprocess.run([*command, *options, url], capture_output=True, text=True, check=False)


def test_plain_requests_pass_through_an_http_proxy(shop: DemoStore) -> None:
    with HttpProxy("me", "secret") as proxy:
        assert curl(f"{shop.url}/robots.txt", proxy.url).stdout == "200"
        assert proxy.counted.requests == [f"{shop.url}/robots.txt"]
        assert proxy.counted.bytes_down > 100
        assert curl(f"{shop.url}/", proxy.url.replace("secret", "wrong")).stdout == "407"
        assert (proxy.counted.connections, proxy.counted.refused) == (2, 1)


def test_tunnels_pass_through_both_kinds(shop: DemoStore) -> None:
    host = shop.url.removeprefix("http://")
    with HttpProxy("me", "secret") as proxy, SocksProxy("me", "secret") as socks:
        assert curl(f"{shop.url}/robots.txt", proxy.url, "--proxytunnel").stdout == "200"
        assert curl(f"{shop.url}/robots.txt", socks.url).stdout == "200"
        assert curl(f"{shop.url}/robots.txt", socks.url.replace("secret", "wrong")).returncode == 97
        assert proxy.counted.tunnels == socks.counted.tunnels == [host]
        assert socks.counted.refused == 1


def test_a_proxy_may_refuse_and_be_down(shop: DemoStore) -> None:
    with HttpProxy() as proxy:
        proxy.status = 429
        assert curl(f"{shop.url}/", proxy.url).stdout == "429"
        proxy.down = True
        assert curl(f"{shop.url}/", proxy.url).returncode in (52, 56)  # an empty reply, or a reset
