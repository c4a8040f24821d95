"""A shop on the internet sends nobody into a private network: by name, by address, or by what a name stands for."""

from __future__ import annotations

from storebot.core.reach import Reach

HOME = "https://shop.example/"


def at_home(*addresses: str, home: str = HOME) -> Reach:
    reach = Reach(home)
    for host in reach.unresolved(home):
        reach.resolved(host, addresses)
    return reach


def test_names_are_resolved_before_they_are_judged_and_the_shops_own_first() -> None:
    reach = Reach(HOME)
    assert reach.unresolved("https://cdn.example/x") == ["shop.example", "cdn.example"]
    reach.resolved("shop.example", ["93.184.215.14"])
    assert reach.unresolved("https://cdn.example/x") == ["cdn.example"]
    reach.resolved("cdn.example", ["10.0.0.5"])
    assert reach.unresolved("https://cdn.example/y") == []
    assert reach.verdict("https://cdn.example/x") == "cdn.example, which is 10.0.0.5, is in a private network"
    assert reach.verdict(HOME) == ""


def test_what_is_refused_by_its_spelling_or_is_an_address_is_not_resolved() -> None:
    reach = at_home("93.184.215.14")
    for url in ("http://localhost/", "http://0x7f.1/", "file:///etc/passwd", "http://93.184.215.14/"):
        assert reach.unresolved(url) == []
    assert reach.spelling("http://localhost/") == reach.verdict("http://localhost/") != ""
    assert reach.verdict("http://93.184.215.14/") == ""


def test_the_first_addresses_of_a_name_hold() -> None:
    """DNS rebinding: the second look-up of a name says something else."""
    reach = at_home("93.184.215.14")
    reach.resolved("shop.example", ["127.0.0.1"])
    assert reach.verdict(HOME) == ""
    assert reach.peer("127.0.0.1") == "127.0.0.1 is in a private network"
    assert reach.peer("::1") == "::1 is in a private network"
    assert reach.peer("93.184.215.14") == ""


def test_a_shop_in_a_private_network_has_neighbours() -> None:
    for reach in (Reach("http://127.0.0.1:8400/"), at_home("10.0.0.1", home="https://intranet.example/")):
        assert reach.verdict("http://192.168.0.9/feed.xml") == ""
        assert reach.peer("10.0.0.7") == ""
        assert reach.verdict("http://169.254.169.254/") == "169.254.169.254 is where clouds keep their secrets"
        assert reach.verdict("ftp://10.0.0.7/") == "it is a ftp: address"


def test_a_name_that_nobody_knows_is_left_to_whoever_connects() -> None:
    reach = at_home("93.184.215.14")
    reach.resolved("nowhere.example", [])
    assert reach.verdict("https://nowhere.example/") == ""
    assert reach.unresolved("https://nowhere.example/") == []
