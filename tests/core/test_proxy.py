"""Proxies are read from what people write, and never written back with their password."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.proxy import Proxy, read_proxy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://proxy.example:8080", Proxy("http", "proxy.example", 8080)),
        ("https://proxy.example:443/", Proxy("https", "proxy.example", 443)),
        (" socks5://10.0.0.1:1080 ", Proxy("socks5", "10.0.0.1", 1080)),
        ("socks5h://me:secret@proxy.example:1080", Proxy("socks5", "proxy.example", 1080, "me", "secret")),
        ("proxy.example:3128", Proxy("http", "proxy.example", 3128)),
        ("me:secret@proxy.example:3128", Proxy("http", "proxy.example", 3128, "me", "secret")),
        ("http://me:p%40ss%2F%23@[::1]:80", Proxy("http", "::1", 80, "me", "p@ss/#")),
        ("HTTP://me@Proxy.Example:80", Proxy("http", "proxy.example", 80, "me")),
    ],
)
def test_a_line_is_read(text: str, expected: Proxy) -> None:
    assert read_proxy(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("socks4://me:secret@proxy.example:80", "one of http, https, socks5, got socks4"),
        ("secret://me@proxy.example:80", "one of http, https, socks5"),
        ("proxy.example:8080:me:secret", "host or port can't be read (credentials stand before the host"),
        ("http://me:secret@proxy.example", "it names no port"),
        ("http://me:secret@proxy.example:0", "it names no port"),
        ("http://me:secret@proxy.example:99999", "host or port can't be read"),
        ("http://me:secret@:80", "its host can't be read"),
        ("http://me:secret@pro xy:80", "its host can't be read"),
        ("http://proxy.example:80/secret", "something follows the port"),
        ("http://me:se#cret@proxy.example:80", "host or port can't be read"),
        ("http://[::1:80", "host or port can't be read"),
        ("secret", "names no port"),
        ("", "can't be read"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_without_quoting_it(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="expected a proxy such as") as caught:
        read_proxy(text)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_only_two_properties_hold_the_password() -> None:
    proxy = Proxy("http", "::1", 80, "me", "p@ss")
    assert (proxy.server, proxy.url) == ("http://[::1]:80", "http://me:p%40ss@[::1]:80")
    assert proxy.authorization == b"Basic bWU6cEBzcw=="
    for shown in (str(proxy), repr(proxy), f"{proxy}", repr({"proxy": proxy})):
        assert "p@ss" not in shown
        assert "p%40ss" not in shown


def test_a_proxy_without_a_login_authorises_nothing() -> None:
    assert read_proxy("proxy.example:80").authorization is None
    assert not read_proxy("proxy.example:80").has_login


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_login_survives_its_url(username: str, password: str) -> None:
    proxy = Proxy("socks5", "proxy.example", 1080, username, password)
    assert read_proxy(proxy.url) == proxy
