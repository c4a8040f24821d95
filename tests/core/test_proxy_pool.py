"""The health of proxies: who serves next, who rests for how long, and what takes a rest back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.proxy import Proxy
from storebot.core.proxy_pool import DOUBTS, FAILED_S, LONGEST_S, ProxyPool, Rest, names

A, B, C = (Proxy("http", host, 80, "me", "secret") for host in ("a.example", "b.example", "c.example"))


def test_they_take_turns_in_the_order_of_the_list() -> None:
    pool = ProxyPool([A, B, C])
    assert [pool.next(0) for _ in range(5)] == [A, B, C, A, B]
    pool.blocked(C, 1)
    assert [pool.next(2) for _ in range(3)] == [A, B, A]


def test_a_blocked_one_is_back_after_its_rest_and_rests_twice_as_long_the_next_time() -> None:
    pool = ProxyPool([A], blocked_s=100)
    pool.blocked(A, 0)
    assert (pool.next(99.9), pool.next(100)) == (None, A)
    pool.blocked(A, 100)
    assert (pool.next(299.9), pool.next(300)) == (None, A)
    assert pool.next_at() == 300


def test_a_page_in_between_makes_the_next_rest_short_again() -> None:
    pool = ProxyPool([A], blocked_s=100)
    pool.blocked(A, 0)
    pool.served(A)
    pool.blocked(A, 100)
    assert pool.next_at() == 200


def test_no_rest_is_longer_than_a_day() -> None:
    pool = ProxyPool([A], blocked_s=100)
    now = 0.0
    for _ in range(60):
        pool.blocked(A, now)
        assert pool.next_at() - now <= LONGEST_S
        now = pool.next_at()


def test_a_failed_one_rests_briefly() -> None:
    pool = ProxyPool([A])
    pool.failed(A, 0)
    assert (pool.next(1), pool.next(FAILED_S)) == (None, A)


def test_what_was_in_flight_when_it_was_taken_out_tells_nothing_new() -> None:
    pool = ProxyPool([A], blocked_s=100)
    for moment in range(5):
        pool.blocked(A, moment)
        pool.failed(A, moment)
    assert pool.next_at() == 100


def test_of_those_in_service_the_less_blocked_one_is_next() -> None:
    """Two of three are banned for good: the third serves, though the others come back to service."""
    pool = ProxyPool([A, B, C], blocked_s=10)
    pool.blocked(A, 0)
    pool.blocked(B, 0)
    assert pool.next(20) == C


def test_one_is_acquitted_where_another_visitor_was_blocked_at_the_same_page() -> None:
    pool = ProxyPool([A, B], blocked_s=100)
    pool.blocked(A, 0)
    pool.acquit(A)
    assert pool.next_at() <= 1
    assert pool.next(1) == B  # it is still the one that was blocked less
    pool.blocked(A, 2)
    pool.blocked(B, 2)
    assert pool.next_at() == 102


def test_an_acquittal_takes_no_rest_of_another_cause_back() -> None:
    pool = ProxyPool([A])
    pool.failed(A, 0)
    pool.acquit(A)
    assert pool.next(1) is None


def test_doubts_in_a_row_are_a_failure() -> None:
    pool = ProxyPool([A, B])
    assert [pool.doubted(A, 0) for _ in range(DOUBTS)] == [False] * (DOUBTS - 1) + [True]
    assert pool.next(1) == B
    assert not pool.doubted(B, 0)
    pool.served(B)
    assert not any(pool.doubted(B, 0) for _ in range(DOUBTS - 1))


@pytest.mark.parametrize(
    ("blocked", "failed", "told"),
    [
        ([], [], "3 proxies serve"),
        ([A], [], "1 of 3 proxies rest (1 blocked)"),
        ([A, B], [C], "3 of 3 proxies rest (2 blocked, 1 failed)"),
    ],
)
def test_who_rests_is_told_without_a_name(blocked: list[Proxy], failed: list[Proxy], told: str) -> None:
    pool = ProxyPool([A, B, C])
    for proxy in blocked:
        pool.blocked(proxy, 0)
    for proxy in failed:
        pool.failed(proxy, 0)
    assert pool.told(1) == told
    assert pool.all_blocked(1) is (len(blocked) == 3)


@given(st.lists(st.tuples(st.sampled_from("bfasd"), st.sampled_from([A, B, C]), st.floats(0, 1000)), max_size=40))
def test_a_proxy_is_next_exactly_when_one_is_in_service(steps: list[tuple[str, Proxy, float]]) -> None:
    pool = ProxyPool([A, B, C], blocked_s=50)
    now = 0.0
    for kind, proxy, wait_s in steps:
        now += wait_s
        if kind == "b":
            pool.blocked(proxy, now)
        elif kind == "f":
            pool.failed(proxy, now)
        elif kind == "a":
            pool.acquit(proxy)
        elif kind == "s":
            pool.served(proxy)
        else:
            pool.doubted(proxy, now)
        assert (pool.next(now) is None) == (pool.next_at() > now)
        assert pool.next(pool.next_at()) is not None


NOW_MS = 1_800_000_000_000


def test_a_ban_outlives_the_run_and_a_failure_does_not() -> None:
    pool = ProxyPool([A, B, C], blocked_s=100)
    for blocked_at in (0, 200):
        pool.blocked(A, blocked_at)
    pool.blocked(B, 0)
    pool.failed(C, 200)
    assert pool.rests(300, NOW_MS) == [
        Rest("http://a.example:80 2744ccd1", NOW_MS + 100_000, 2),
        Rest("http://b.example:80 2744ccd1", 0, 1),
    ]
    pool.served(B)
    kept = pool.rests(300, NOW_MS)
    assert [rest.name for rest in kept] == ["http://a.example:80 2744ccd1"]

    later = ProxyPool([B, A], blocked_s=100)
    later.remember([*kept, Rest("http://gone.example:80", NOW_MS * 2, 9)], 5_000, NOW_MS + 40_000)
    assert [later.next(now) for now in (5_000, 5_059)] == [B, B]
    assert later.told(5_059) == "1 of 2 proxies rest (1 blocked)"
    later.blocked(B, 5_059)
    assert later.next(5_061) == A
    later.blocked(A, 5_061)
    assert Rest("http://a.example:80 2744ccd1", 400_000, 3) in later.rests(5_061, 0), "its third rest in a row"


def test_a_ban_by_a_clock_that_was_wrong_ends_within_a_day() -> None:
    pool = ProxyPool([A])
    pool.remember([Rest(names([A])[A], NOW_MS * 2, 1)], 0, NOW_MS)
    assert pool.next_at() == LONGEST_S


def test_names_say_neither_user_nor_password_and_tell_all_apart() -> None:
    plain, other = Proxy("socks5", "2001:db8::1", 1080), Proxy("http", "a.example", 80, "somebody", "secret")
    again = Proxy("http", "a.example", 80, "me", "another secret")
    found = names([plain, A, other, again])
    assert list(found.values()) == [
        "socks5://[2001:db8::1]:1080",
        "http://a.example:80 2744ccd1",
        "http://a.example:80 729d7d63",
        "http://a.example:80 2744ccd1 2",
    ]
    assert not any(secret in name for name in found.values() for secret in ("secret", "somebody", "me "))
