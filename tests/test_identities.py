"""The identities of a run: sticky, one after the other, each with its own proxy and number."""

from __future__ import annotations

import pytest

from storebot.core.identity import FIRST, Identity
from storebot.core.proxy import Proxy
from storebot.core.proxy_pool import DOUBTS, FAILED_S, Rest
from storebot.identities import Identities
from storebot.items import Tier

A, B, C = (Proxy("http", host, 80) for host in ("a.example", "b.example", "c.example"))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def through(clock: Clock, *proxies: Proxy, rotate_after: int | None = None) -> Identities:
    return Identities({Tier.HTTP: proxies}, blocked_s=100, rotate_after=rotate_after, clock=clock)


def test_without_proxies_the_first_serves_and_need_not_be_marked() -> None:
    identities = Identities()
    assert identities.are_plain
    assert identities.of(Tier.HTTP) == identities.of(Tier.BROWSER) == FIRST


@pytest.mark.parametrize("asked", [True, False])
def test_the_first_that_is_blocked_has_a_successor_whether_or_not_it_was_asked_for(asked: bool) -> None:
    identities = Identities()
    if asked:
        identities.of(Tier.HTTP)
    identities.blocked(FIRST, Tier.HTTP)
    assert not identities.are_plain
    assert identities.of(Tier.HTTP) == Identity(2)
    assert not identities.serves(FIRST, Tier.HTTP)


def test_pages_in_flight_of_one_that_was_blocked_retire_no_other() -> None:
    identities = Identities()
    for _ in range(5):
        identities.blocked(FIRST, Tier.HTTP)
    assert identities.of(Tier.HTTP) == Identity(2)
    identities.blocked(FIRST, Tier.HTTP)
    assert identities.of(Tier.HTTP) == Identity(2)


def test_one_proxy_serves_until_it_is_blocked(clock: Clock) -> None:
    identities = through(clock, A, B)
    assert not identities.are_plain
    first = identities.of(Tier.HTTP)
    assert first == identities.of(Tier.HTTP) == Identity(1, A)
    identities.blocked(first, Tier.HTTP)
    assert identities.of(Tier.HTTP) == Identity(2, B)


def test_there_is_none_while_all_proxies_rest(clock: Clock) -> None:
    identities = through(clock, A)
    identities.blocked(Identity(1, A), Tier.HTTP)
    identities.of(Tier.HTTP)
    first = identities.of(Tier.HTTP)
    assert first is None
    assert identities.wait_s(Tier.HTTP) == 100
    assert identities.are_all_blocked(Tier.HTTP)
    assert identities.told(Tier.HTTP) == "1 of 1 proxies rest (1 blocked)"
    clock.now = 100
    assert identities.wait_s(Tier.HTTP) == 0
    assert identities.of(Tier.HTTP) == Identity(1, A)


def test_one_whose_proxy_comes_back_is_another(clock: Clock) -> None:
    """Its cookies are those of somebody who was blocked."""
    identities = through(clock, A)
    first = identities.of(Tier.HTTP)
    assert first is not None
    identities.failed(first, Tier.HTTP, surely=True)
    clock.now = FAILED_S
    assert identities.of(Tier.HTTP) == Identity(2, A)


def test_doubts_retire_one_only_when_they_come_in_a_row(clock: Clock) -> None:
    identities = through(clock, A, B)
    first = identities.of(Tier.HTTP)
    assert first is not None
    for _ in range(DOUBTS - 1):
        assert not identities.failed(first, Tier.HTTP, surely=False)
    identities.served(first, Tier.HTTP)
    assert not identities.failed(first, Tier.HTTP, surely=False)
    assert identities.serves(first, Tier.HTTP)


def test_a_failure_without_a_proxy_is_no_proxys(clock: Clock) -> None:
    assert not Identities().failed(FIRST, Tier.HTTP, surely=True)


def test_tiers_with_one_list_share_an_identity_and_others_have_their_own(clock: Clock) -> None:
    lists = {Tier.HTTP: (A, B), Tier.HTTP2: (A, B), Tier.BROWSER: (C,)}
    identities = Identities(lists, clock=clock)
    assert identities.of(Tier.HTTP) == identities.of(Tier.HTTP2) == Identity(1, A)
    assert identities.of(Tier.BROWSER) == Identity(2, C)
    assert identities.of(Tier.API) == Identity(3)
    identities.blocked(Identity(1, A), Tier.HTTP2)
    assert identities.of(Tier.HTTP) == Identity(4, B)
    assert identities.of(Tier.BROWSER) == Identity(2, C)


def test_what_was_blocked_is_kept_once_and_restored_in_every_list(clock: Clock) -> None:
    lists = {Tier.HTTP: (A, B), Tier.BROWSER: (A, C)}
    identities = Identities(lists, blocked_s=100, clock=clock)
    identities.blocked(Identity(1, A), Tier.HTTP)
    clock.now = 50
    identities.blocked(Identity(2, A), Tier.BROWSER)
    kept = identities.rests(0)
    assert kept == [Rest("http://a.example:80", 100_000, 1)], "the longest"
    later = Identities(lists, clock=clock)
    later.remember(kept, 90_000)
    assert [later.of(tier) for tier in lists] == [Identity(1, B), Identity(2, C)]
    assert Identities().rests(0) is None


def test_relieved_proxies_take_turns(clock: Clock) -> None:
    identities = through(clock, A, B, rotate_after=1)
    found = []
    for _ in range(3):
        found.append(identities.of(Tier.HTTP))
        identities.count(Tier.HTTP)
    assert found == [Identity(1, A), Identity(2, B), Identity(3, A)]


def test_one_is_relieved_after_so_many_requests(clock: Clock) -> None:
    identities = Identities(rotate_after=2, clock=clock)
    assert not identities.are_plain
    numbers = []
    for _ in range(5):
        identity = identities.of(Tier.HTTP)
        assert identity is not None
        numbers.append(identity.number)
        identities.count(Tier.HTTP)
    assert numbers == [1, 1, 2, 2, 3]
