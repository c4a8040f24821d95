"""The request that tries the next tier: what it takes along, and what it leaves behind."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection
from typing import Any

import pytest
from scrapy.http import Request

from storebot.core.rung import FIRST_WAIT_MS, Rung
from storebot.exceptions import TierUnusable
from storebot.items import PageType, Spent, Target, Tier
from storebot.request_ladder import RequestLadder
from storebot.stores.writing import checked

NOW = 1_800_000_000_000
MUG = "http://shop.example/p/mug"
API = '[fetch.api]\npreset = "finedata"\n'


class Clock:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


def ladder(
    tiers: str = '["http", "http2", "browser", "api"]',
    more: str = API,
    allowed: Collection[Tier] = frozenset(Tier),
    clock: Clock | None = None,
    counted: Counter[str] | None = None,
) -> RequestLadder:
    store = checked("shop", f'base_url = "http://shop.example"\nproduct_url = "/p/"\n[fetch]\ntiers = {tiers}\n{more}')
    stats = Counter[str]() if counted is None else counted
    return RequestLadder(
        store, clock=clock or Clock(), count=lambda name: stats.update([name]), allowed=lambda: allowed
    )


def asked(**meta: Any) -> Request:
    target = Target(store="shop", url=MUG, url_key="https://shop.example/p/mug")
    headers = {"If-None-Match": '"1"', "If-Modified-Since": "Mon, 01 Jan 2024 00:00:00 GMT", "Accept": "text/html"}
    return Request(MUG, headers=headers, meta={"target": target, "page_type": PageType.PRODUCT, **meta})


def blocked(one: RequestLadder, times: int = 4) -> Request | None:
    """Have so many pages blocked, and return what the last one goes on with."""
    found = None
    for _ in range(times):
        request = asked()
        one.begin(request)
        found = one.escalated(request, "blocked (akamai)")
    return found


def test_a_page_begins_with_the_cheapest_tier_and_its_validators() -> None:
    request = asked()
    ladder().begin(request)
    assert request.meta["tier"] is Tier.HTTP
    assert "If-None-Match" in request.headers


def test_the_next_tier_gets_the_page_that_was_asked_for_and_nothing_of_the_last_try() -> None:
    """Case R07: not the address to which a redirect led."""
    spent = Spent(requests=2)
    request = asked(
        spent=spent, tier=Tier.HTTP, walk="w", page="p", reading="r", links="l", identity="i", cookiejar=3,
        proxy="http://proxy", retry_times=2, redirect_times=1, redirect_urls=[MUG], playwright_page="x",
        download_slot="s",
    ).replace(url="http://shop.example/challenge")  # fmt: skip
    again = ladder().escalated(request, "blocked (cloudflare)")
    assert again is not None
    assert (again.url, again.dont_filter) == (MUG, True)
    assert set(again.meta) == {"target", "page_type", "spent", "tier", "walk"}
    assert again.meta["tier"] is Tier.HTTP2
    assert again.meta["spent"] is spent, "a visit has one, whatever it's fetched by"
    assert spent.steps == ["http: blocked (cloudflare)"]
    assert again.callback == request.callback
    assert request.meta["tier"] is Tier.HTTP, "the request that failed is as it was"


def test_a_tier_by_which_nothing_comes_in_time_twice_is_climbed_and_blamed_once_a_dearer_one_got_the_page() -> None:
    one = ladder('["http", "api"]')
    first = asked(tier=Tier.HTTP)
    assert one.timed_out(first, 2) is None
    retried = first.replace()
    retried.meta["retry_times"] = 1
    assert one.has_next(retried)
    again = one.timed_out(retried, 2)
    assert again is not None
    assert (again.meta["tier"], again.meta["spent"].steps) == (Tier.API, ["http: timed out 2 times"])
    assert list(one.rungs) == [], "so far the shop may be down"
    assert not one.has_next(again)
    assert one.timed_out(again, 1) is None, "there is nothing above"
    one.worked(again)
    failures = {known.tier: (known.failures, known.reason) for known in one.rungs}
    assert failures == {Tier.API: (0, ""), Tier.HTTP: (1, "timed out, where api got the page")}


@pytest.mark.parametrize("meta", [{"retry_times": 2, "timeouts": 1}, {"retry_times": 1, "timeouts": 1, "probe": True}])
def test_what_failed_in_another_way_too_or_only_probes_stays_with_its_tier(meta: dict[str, Any]) -> None:
    assert ladder('["http", "api"]').timed_out(asked(tier=Tier.HTTP, **meta), 2) is None


def test_a_tier_that_is_left_is_no_next_one_until_its_back_off_is_over() -> None:
    clock = Clock()
    one = ladder('["http", "api"]', clock=clock)
    for _ in range(4):
        one.failed(asked(tier=Tier.API), "blocked")
    assert not one.has_next(asked(tier=Tier.HTTP))
    clock.now += FIRST_WAIT_MS
    assert one.has_next(asked(tier=Tier.HTTP))
    assert not ladder('["http", "api"]', allowed={Tier.HTTP}).has_next(asked(tier=Tier.HTTP))


def test_validators_stay_with_tiers_that_take_a_304() -> None:
    one = ladder()
    second = one.escalated(asked(), "blocked (akamai)")
    assert second is not None
    assert "If-None-Match" in second.headers
    third = one.escalated(second, "blocked (akamai)")
    assert third is not None
    assert third.meta["tier"] is Tier.BROWSER
    assert not {b"If-None-Match", b"If-Modified-Since"} & set(third.headers)
    assert b"Accept" in third.headers


def test_every_step_is_told_and_they_end() -> None:
    counted: Counter[str] = Counter()
    one, request, seen = ladder(counted=counted), asked(), [Tier.HTTP]
    while (again := one.escalated(request, "blocked (akamai)")) is not None:
        request = again
        seen.append(request.meta["tier"])
    assert seen == [Tier.HTTP, Tier.HTTP2, Tier.BROWSER, Tier.API]
    assert request.meta["spent"].steps == [f"{tier}: blocked (akamai)" for tier in seen[:-1]]
    assert counted == {f"storebot/ladder/escalated/{tier}": 1 for tier in seen[1:]}


def test_fields_that_scripts_would_fill_go_past_tiers_that_run_none() -> None:
    one = ladder()
    again = one.escalated(asked(), "no product, and it is loading", rendering=True)
    assert again is not None
    assert again.meta["tier"] is Tier.BROWSER
    assert one.is_for_fields(again)
    assert one.renders(again)
    assert one.escalated(again, "no product, though scripts ran", rendering=True) is None, "this API runs none"
    rendering = ladder(more=f"{API}render = true\n")
    assert rendering.escalated(asked(tier=Tier.BROWSER), "loading", rendering=True) is not None


def test_what_filled_a_page_is_known_for_the_next_ones() -> None:
    one = ladder()
    again = one.escalated(asked(), "no product, and it is loading", rendering=True)
    assert again is not None
    assert not one.fills(asked())
    one.worked(again, filled=True)
    assert one.fills(asked())
    assert not one.fills(asked(page_type=PageType.CATALOGUE))


def test_a_dear_tier_that_was_not_asked_for_fields_fills_none() -> None:
    one = ladder()
    one.worked(asked(tier=Tier.BROWSER), filled=True)
    assert not one.fills(asked())


def test_four_blocked_pages_and_the_rest_begins_with_the_next_tier(caplog: pytest.LogCaptureFixture) -> None:
    one, request = ladder(), asked()
    with caplog.at_level(logging.WARNING):
        blocked(one)
    one.begin(request)
    assert request.meta["tier"] is Tier.HTTP2
    assert "If-None-Match" in request.headers
    (record,) = caplog.records
    assert record.getMessage() == (
        "shop: product pages aren't fetched by http any more (blocked (akamai)); it is probed in 15 minutes"
    )


def test_where_the_last_tier_fails_too_it_is_not_said_to_be_left(caplog: pytest.LogCaptureFixture) -> None:
    one = ladder('["http", "browser"]')
    for tier in (Tier.HTTP, Tier.BROWSER):
        for _ in range(4):
            one.failed(asked(tier=tier), "blocked (akamai)")
    assert "aren't fetched by http any more" in caplog.messages[0]
    assert caplog.messages[1].startswith("shop: product pages aren't got by browser either (blocked (akamai)): no tier")
    assert len(caplog.messages) == 2


def test_what_one_run_learned_the_next_one_knows(caplog: pytest.LogCaptureFixture) -> None:
    first, clock, request = ladder(), Clock(), asked()
    blocked(first)
    second = ladder(clock=clock)
    second.remember(first.rungs)
    second.begin(request)
    assert request.meta["tier"] is Tier.HTTP2
    clock.now += FIRST_WAIT_MS
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            probe = asked()
            second.begin(probe)
            assert probe.meta["tier"] is Tier.HTTP
            second.worked(probe)
    assert caplog.records[-1].getMessage() == "shop: product pages are fetched by http again: it works"


def test_a_tier_that_cannot_be_used_is_passed_over_and_not_remembered() -> None:
    one = ladder('["http", "browser", "api"]')
    again = one.unusable(asked(tier=Tier.BROWSER), TierUnusable("no browser could be started"))
    assert again is not None
    assert again.meta["tier"] is Tier.API
    assert again.meta["spent"].steps == ["browser: can't be used (TierUnusable)"]
    assert one.rungs == ()
    next_one = one.escalated(asked(), "blocked (akamai)")
    assert next_one is not None
    assert next_one.meta["tier"] is Tier.API


def test_what_may_not_be_paid_for_is_not_tried() -> None:
    one = ladder(allowed={Tier.HTTP, Tier.HTTP2})
    again = one.escalated(asked(), "blocked (akamai)")
    assert again is not None
    assert one.escalated(again, "blocked (akamai)") is None
    assert one.escalated(asked(), "no product", rendering=True) is None


def test_a_store_with_one_tier_has_nothing_to_choose_and_nothing_to_remember() -> None:
    one, request = ladder('["browser"]', more=""), asked()
    one.begin(request)
    assert request.meta["tier"] is Tier.BROWSER
    assert "If-None-Match" not in request.headers
    assert one.escalated(request, "blocked (akamai)") is None
    one.worked(request)
    assert one.rungs == ()
    assert not one.is_plain
    assert ladder('["http"]', more="").is_plain


def test_what_is_no_page_of_the_store_climbs_nowhere() -> None:
    request = Request("http://shop.example/robots.txt", meta={"page_type": None})
    one = ladder()
    assert one.escalated(request, "blocked (akamai)") is None
    assert one.rungs == ()


def test_memory_of_another_list_of_tiers_does_no_harm() -> None:
    one, request = ladder('["http", "browser"]', more=""), asked()
    one.remember([Rung(page_type=PageType.PRODUCT, tier=Tier.API, worked_at=NOW)])
    one.begin(request)
    assert request.meta["tier"] is Tier.HTTP
