"""The guard, asked as a browser asks it (SOCKS5): what it connects to, what it refuses, and through which proxy."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator, Sequence

import pytest
from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError

from storebot.core.proxy import Proxy, read_proxy
from storebot.core.proxy_errors import Fault, chain_of, fault_of
from storebot.exceptions import PrivateAddress
from storebot.fetch.browsing.guard import Guard, resolve
from tests.fetch.scripted_shop import ScriptedShop
from tests.fetch.servers import TlsShop
from tests.vendors.proxies import HttpProxy, HttpsProxy, SocksProxy

PUBLIC = "93.184.215.14"


@pytest.fixture(scope="module")
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as served:
        yield served


async def resolved(host: str) -> Sequence[str]:
    return {"shop.example": [PUBLIC], "mixed.example": [PUBLIC, "10.0.0.7"]}.get(host) or await resolve(host)


def asked(
    host: str, port: int, *requests: bytes, private_ok: bool = True, proxy: Proxy | None = None
) -> tuple[int, bytes, Exception | None]:
    """Return what a guard replies (0 for granted), what came back for the requests, and why it failed."""

    async def ask() -> tuple[int, bytes, Exception | None]:
        guard = Guard(private_ok=private_ok, proxy=proxy, resolve=resolved)
        await guard.open()
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", guard.port)
            name = host.encode()
            writer.write(b"\x05\x01\x00" + b"\x05\x01\x00\x03" + bytes((len(name),)) + name + struct.pack("!H", port))
            reply = (await reader.readexactly(12))[3]
            for request in requests:
                writer.write(request)
            body = b"" if reply else await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return reply, body, guard.failure(host, port)
        finally:
            await guard.close()

    return asyncio.run(ask())


def get(path: str, *more: str) -> bytes:
    return "\r\n".join((f"GET {path} HTTP/1.1", "Host: shop.example", *more, "", "")).encode()


def test_a_connection_is_passed_on(shop: ScriptedShop) -> None:
    reply, body, failure = asked("127.0.0.1", port_of(shop), get("/p/1", "Connection: close"))
    assert (reply, failure) == (0, None)
    assert body.startswith(b"HTTP/1.1 200")
    assert body.endswith(b"</p>")


def port_of(shop: ScriptedShop) -> int:
    return int(shop.url.rpartition(":")[2])


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("127.0.0.1", "127.0.0.1 is in a private network"),
        ("0x7f.1", "0x7f.1 is in a private network"),
        ("::1", "::1 is in a private network"),
        ("localhost", "localhost is in a private network"),
        ("mixed.example", "mixed.example, which is 10.0.0.7, is in a private network"),
        ("169.254.169.254", "169.254.169.254 is where clouds keep their secrets"),
    ],
)
def test_a_private_address_is_not_connected_to(shop: ScriptedShop, host: str, why: str) -> None:
    before = shop.asked.total()
    reply, _, failure = asked(host, port_of(shop), private_ok=False)
    assert reply == 2  # not allowed
    assert isinstance(failure, PrivateAddress)
    assert str(failure).endswith(f"is not asked, because {why}")
    assert shop.asked.total() == before


def test_metadata_of_a_cloud_is_refused_even_to_a_store_in_a_private_network() -> None:
    assert asked("169.254.169.254", 80)[0] == 2


def test_a_host_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert isinstance(asked("127.0.0.1", port)[2], DownloadConnectionRefusedError)
    assert isinstance(asked("no-such-host.invalid", 80)[2], CannotResolveHostError)


def test_plain_requests_go_through_an_http_proxy_one_after_the_other(shop: ScriptedShop) -> None:
    with HttpProxy("me", "s:cret") as proxy:
        login = proxy.url.replace("s:c", "s%3Ac")
        post = b"POST /p/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
        reply, body, failure = asked("127.0.0.1", port_of(shop), post, proxy=read_proxy(login))
        assert (reply, failure, proxy.counted.refused) == (0, None, 0)
        assert proxy.counted.requests == [f"{shop.url}/p/1"]
        assert b"Mug" in body


def test_tls_goes_through_an_http_proxy_by_connect(shop: ScriptedShop) -> None:
    with HttpProxy("me", "secret") as proxy:
        asked("127.0.0.1", port_of(shop), b"\x16\x03\x01not really TLS\r\n\r\n", proxy=read_proxy(proxy.url))
        assert proxy.counted.tunnels == [f"127.0.0.1:{port_of(shop)}"]


def test_a_proxy_is_spoken_to_over_tls_where_it_wants_that(shop: ScriptedShop, monkeypatch: pytest.MonkeyPatch) -> None:
    with TlsShop() as secure, HttpsProxy(secure.known, "me", "secret") as proxy:
        monkeypatch.setenv("SSL_CERT_FILE", str(secure.certificate))
        _, body, _ = asked("127.0.0.1", port_of(shop), get("/p/1", "Connection: close"), proxy=read_proxy(proxy.url))
        assert b"Mug" in body
        asked("127.0.0.1", port_of(shop), b"\x16\x03\x01not really TLS\r\n\r\n", proxy=read_proxy(proxy.url))
        assert (proxy.counted.requests, proxy.counted.tunnels) == ([f"{shop.url}/p/1"], [f"127.0.0.1:{port_of(shop)}"])


def test_everything_goes_through_a_socks_proxy(shop: ScriptedShop) -> None:
    with SocksProxy("me", "secret") as proxy:
        _, body, _ = asked("127.0.0.1", port_of(shop), get("/p/1", "Connection: close"), proxy=read_proxy(proxy.url))
        assert b"Mug" in body
        assert proxy.counted.tunnels == [f"127.0.0.1:{port_of(shop)}"]


@pytest.mark.parametrize("kind", [HttpProxy, SocksProxy])
@pytest.mark.parametrize("bad_day", ["password", "down", "status"])
def test_a_proxy_that_fails_is_known_as_the_culprit(kind: type[HttpProxy | SocksProxy], bad_day: str) -> None:
    with kind("me", "secret") as proxy:
        proxy.down, proxy.status = bad_day == "down", 403 if bad_day == "status" else 0
        url = proxy.url.replace("secret", "wrong") if bad_day == "password" else proxy.url
        _, _, failure = asked("shop.example", 443, b"\x16hello", private_ok=False, proxy=read_proxy(url))
    assert failure is not None
    assert fault_of(chain_of(failure)) is Fault.PROXY
    assert "wrong" not in str(failure)


def test_a_shop_that_the_proxy_cannot_reach_is_not_the_proxys_fault() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    for kind in (HttpProxy, SocksProxy):
        with kind() as proxy:
            failure = asked("127.0.0.1", port, b"\x16hello", proxy=read_proxy(proxy.url))[2]
        assert failure is not None
        assert fault_of(chain_of(failure)) is Fault.SHOP, failure


def test_names_are_judged_though_the_proxy_resolves_them(shop: ScriptedShop) -> None:
    with SocksProxy() as proxy:
        reply, _, failure = asked("metadata.internal", 80, private_ok=False, proxy=read_proxy(proxy.url))
        assert (reply, type(failure), proxy.counted.connections) == (2, PrivateAddress, 0)
