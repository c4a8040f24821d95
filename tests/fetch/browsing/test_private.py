"""What a browser with a network of its own may ask for, and take."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from scrapy.exceptions import CannotResolveHostError

from storebot.fetch.browsing.private import Network, OwnNetwork
from tests.fetch.rendered import store_at

NAMES = {"shop.example": "93.184.215.14", "inside.example": "10.0.0.7", "company.example": "10.0.0.8"}


def judged(base_url: str, *, resolves: bool = True) -> OwnNetwork:
    async def resolve(host: str) -> Sequence[str]:
        if host not in NAMES:
            raise CannotResolveHostError(host)
        return [NAMES[host]]

    return OwnNetwork(Network(store_at(base_url, ""), resolve), resolves=resolves)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://shop.example/p/1", ""),
        ("http://unknown.example/", ""),
        ("http://inside.example/", "inside.example, which is 10.0.0.7, is in a private network"),
        ("http://0x7f000001:9000/", "0x7f000001 is in a private network"),
        ("http://router.lan/", "router.lan is in a private network"),
        ("file:///etc/hostname", "it is a file: address"),
        ("chrome://version/", "it is a chrome: address"),
    ],
)
def test_a_public_shop_leads_to_public_addresses(url: str, why: str) -> None:
    assert asyncio.run(judged("http://shop.example").request(url)) == why


def test_through_a_proxy_names_are_judged_by_their_spelling() -> None:
    own = judged("http://shop.example", resolves=False)
    assert asyncio.run(own.request("http://inside.example/")) == ""
    assert asyncio.run(own.request("http://127.0.0.1/"))


@pytest.mark.parametrize(("space", "is_taken"), [("Public", True), ("Unknown", True), ("", True), ("Local", False)])
def test_an_answer_out_of_a_private_network_is_not_taken(space: str, is_taken: bool) -> None:
    assert (asyncio.run(judged("http://shop.example").answer(space)) == "") is is_taken


def test_a_shop_whose_name_is_private_here_has_private_neighbours() -> None:
    own = judged("http://company.example")
    assert asyncio.run(own.answer("Local")) == ""
    assert asyncio.run(own.request("http://inside.example/")) == ""
    assert "keep their secrets" in asyncio.run(own.request("http://169.254.169.254/"))
