"""What is private, in every spelling that a browser takes; a store on a private address may reach its neighbours."""

from __future__ import annotations

import pytest

from storebot.core.addresses import is_private, refusal

PRIVATE = (
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "2130706433",
    "0",
    "10.0.0.7",
    "172.16.3.4",
    "192.168.1.1",
    "100.64.0.1",  # RFC 6598
    "169.254.169.254",
    "224.0.0.1",
    "255.255.255.255",
    "[::1]",
    "::",
    "fe80::1%eth0",
    "fc00::1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "::127.0.0.1",
    "::ffff:0:10.0.0.1",
    "64:ff9b:1::1",
    "fec0::1",
    "%31%32%37.0.0.1",
    "\N{FULLWIDTH DIGIT ONE}27.0.0.1",
    "127\N{IDEOGRAPHIC FULL STOP}0.0.1",
    "localhost",
    "LOCALHOST.",
    "shop.localhost",
    "printer.local",
    "metadata.google.internal",
    "router",
    "",
)
PUBLIC = (
    "shop.example",
    "www.localhost.example",
    "10.example.com",
    "8.8.8.8",
    "134744072",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "xn--bcher-kva.example",
    "1.2.3.4.5",
    "256.1.1.1",
    "0x.example",
)


@pytest.mark.parametrize("host", PRIVATE)
def test_a_private_host_is_known_in_every_spelling(host: str) -> None:
    assert is_private(host)


@pytest.mark.parametrize("host", PUBLIC)
def test_a_public_host_is_not_taken_for_a_private_one(host: str) -> None:
    assert not is_private(host)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:8080/admin", "127.0.0.1 is in a private network"),
        ("http://[::1]/", "::1 is in a private network"),
        ("file:///etc/passwd", "it is a file: address"),
        ("ftp://shop.example/x", "it is a ftp: address"),
        ("chrome://settings", "it is a chrome: address"),
        ("ws://localhost:9222/devtools", "localhost is in a private network"),
        ("http://user@10.1.1.1/", "10.1.1.1 is in a private network"),
        ("http://169.254.169.254/latest/meta-data", "169.254.169.254 is where clouds keep their secrets"),
        ("http://[", "its address can't be read"),
        ("/p/1", "it is a nameless: address"),
    ],
)
def test_a_url_that_leads_out_of_the_internet_is_refused(url: str, why: str) -> None:
    assert refusal(url, private_ok=False) == why


@pytest.mark.parametrize("url", ["https://shop.example/p/1", "data:text/html,x", "blob:https://a/b", "about:blank"])
def test_the_internet_and_what_needs_no_network_may_be_asked_for(url: str) -> None:
    assert refusal(url, private_ok=False, addresses=["93.184.215.14"]) == ""


def test_a_name_is_judged_by_what_it_resolves_to() -> None:
    said = refusal("https://evil.example/", private_ok=False, addresses=["93.184.215.14", "10.0.0.5"])
    assert said == "evil.example, which is 10.0.0.5, is in a private network"


def test_a_store_on_a_private_address_reaches_its_neighbours_but_no_metadata() -> None:
    assert refusal("http://10.0.0.5/", private_ok=True) == ""
    assert refusal("http://cdn.corp.example/", private_ok=True, addresses=["10.0.0.9"]) == ""
    assert refusal("http://[::ffff:169.254.169.254]/", private_ok=True)
    assert refusal("file:///etc/passwd", private_ok=True)
