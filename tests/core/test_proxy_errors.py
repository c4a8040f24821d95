"""Whose fault a failure through a proxy is: the texts are what the clients said of the proxies of tests/vendors."""

from __future__ import annotations

import pytest

from storebot.core.proxy_errors import Fault, Told, chain_of, fault_of, hide_login, without_login

_CURL = "Failed to perform, curl: {}. See https://curl.se/libcurl/c/libcurl-errors.html first for more details."
_TUNNEL = "Could not open CONNECT tunnel with proxy 127.0.0.1:3128 [{{'status': {}, 'reason': b'x'}}]"


def curl(text: str) -> list[Told]:
    return [Told("DownloadConnectionRefusedError", _CURL.format(text)), Told("ProxyError", _CURL.format(text))]


@pytest.mark.parametrize(
    ("chain", "fault"),
    [
        # Scrapy's own client
        ([Told("TunnelError", _TUNNEL.format(407))], Fault.PROXY),
        ([Told("TunnelError", _TUNNEL.format(403))], Fault.PROXY),
        ([Told("TunnelError", _TUNNEL.format(502))], Fault.SHOP),
        ([Told("TunnelError", _TUNNEL.format(503))], Fault.UNCLEAR),
        ([Told("DownloadConnectionRefusedError", "Connection was refused by other side: 111")], Fault.PROXY),
        ([Told("CannotResolveHostError", "DNS lookup failed: no results for hostname lookup")], Fault.PROXY),
        ([Told("DownloadFailedError", "[Connection was closed cleanly.]")], Fault.UNCLEAR),
        (
            [Told("DownloadTimeoutError", "Getting https://proxy.example/p/1 took longer than 3 seconds.")],
            Fault.UNCLEAR,
        ),
        # aiohttp
        (
            [Told("DownloadFailedError", "407, message='x'"), Told("ClientHttpProxyError", "407, message='x'")],
            Fault.PROXY,
        ),
        (
            [Told("DownloadFailedError", "504, message='x'"), Told("ClientHttpProxyError", "504, message='x'")],
            Fault.SHOP,
        ),
        (
            [
                Told("DownloadConnectionRefusedError", "Cannot connect"),
                Told("ClientProxyConnectionError", "Cannot connect"),
            ],
            Fault.PROXY,
        ),
        ([Told("DownloadFailedError", "Server disconnected"), Told("ServerDisconnectedError", "")], Fault.UNCLEAR),
        # httpx with socksio
        (
            [Told("DownloadConnectionRefusedError", "502 Bad Gateway"), Told("ProxyError", "502 Bad Gateway")],
            Fault.SHOP,
        ),
        ([Told("DownloadConnectionRefusedError", "Invalid username/password"), Told("ProxyError", "")], Fault.PROXY),
        (
            [Told("DownloadConnectionRefusedError", "Proxy Server could not connect: Host unreachable.")],
            Fault.SHOP,
        ),
        (
            [
                Told(
                    "DownloadConnectionRefusedError",
                    "Proxy Server could not connect: Connection not allowed by ruleset.",
                )
            ],
            Fault.PROXY,
        ),
        (
            [Told("DownloadConnectionRefusedError", "Proxy Server could not connect: General SOCKS server failure.")],
            Fault.UNCLEAR,
        ),
        ([Told("DownloadFailedError", "Malformed reply"), Told("ProtocolError", "Malformed reply")], Fault.PROXY),
        # libcurl
        (curl("(7) CONNECT tunnel failed, response 407"), Fault.PROXY),
        (curl("(7) CONNECT tunnel failed, response 502"), Fault.SHOP),
        (curl("(7) Failed to connect to shop.example:443 over proxy 127.0.0.1 after 8 ms"), Fault.PROXY),
        (curl("(5) Could not resolve proxy: no.such.host.invalid"), Fault.PROXY),
        (curl("(97) cannot complete SOCKS5 connection to shop.example. (4)"), Fault.SHOP),
        (curl("(97) cannot complete SOCKS5 connection to shop.example. (2)"), Fault.PROXY),
        (curl("(97) User was rejected by the SOCKS5 server (1 1)."), Fault.PROXY),
        # Chromium
        ([Told("DownloadFailedError", "net::ERR_PROXY_CONNECTION_FAILED at https://shop.example/")], Fault.PROXY),
        ([Told("DownloadFailedError", "net::ERR_TUNNEL_CONNECTION_FAILED at https://shop.example/")], Fault.UNCLEAR),
        ([Told("DownloadConnectionRefusedError", "net::ERR_CONNECTION_REFUSED at https://shop.example/")], Fault.SHOP),
        # and what isn't about a connection at all
        ([Told("TierUnusable", "no browser can be started")], Fault.SHOP),
        ([Told("ValueError", "a fault of ours")], Fault.SHOP),
    ],
)
def test_whose_fault_it_is(chain: list[Told], fault: Fault) -> None:
    assert fault_of(chain) is fault


def quoting() -> ValueError:
    """Return an error that came from another, both of which quote a password."""
    try:
        try:
            raise OSError("http://me:hush@127.0.0.1:3128")
        except OSError as cause:
            raise ValueError(f"failed: {cause}", 3) from cause
    except ValueError as error:
        return error


def test_a_chain_is_followed_to_what_began_it() -> None:
    assert [told.name for told in chain_of(quoting())] == ["ValueError", "OSError"]
    assert chain_of(OSError("alone")) == (Told("OSError", "alone"),)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("407, url='http://me:hush@127.0.0.1:3128'", "407, url='http://…@127.0.0.1:3128'"),
        ("socks5h://me:hu%40sh@proxy.example:1 and http://a:b@c:2", "socks5h://…@proxy.example:1 and http://…@c:2"),
        ("Getting https://shop.example/p/1?mail=a@b.example", "Getting https://shop.example/p/1?mail=a@b.example"),
        ("nothing of the kind", "nothing of the kind"),
    ],
)
def test_credentials_of_urls_are_not_shown(text: str, shown: str) -> None:
    assert without_login(text) == shown


def test_an_error_that_quotes_a_password_forgets_it_and_what_it_came_from() -> None:
    error = quoting()
    hide_login(error)
    assert error.args == ("failed: http://…@127.0.0.1:3128", 3)
    assert error.__cause__ is error.__context__ is None


def test_an_error_without_a_password_keeps_what_it_came_from() -> None:
    error = ValueError("failed")
    error.__cause__ = cause = OSError("refused")
    hide_login(error)
    assert error.__cause__ is cause
