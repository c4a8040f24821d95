"""The download handler: which tier fetches what, what is counted, and what happens to a tier that can't be used."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import ClassVar, Self

import pytest
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadConnectionRefusedError
from scrapy.http import Request, Response

from storebot.exceptions import ApiQuotaUsedUp, ConfigurationError, ExitCode, TierNotListed, TierUnusable
from storebot.fetch.handler import LadderDownloadHandler, check_tiers
from storebot.fetch.tier import FetchTier
from storebot.items import Spent, Tier
from tests.fetch.fetching import asked, crawler_of, fetched, names, response, spent, store_of, within
from tests.scripted import Answer, Asked, ScriptedShop

NOBODY = "http://127.0.0.1:9/p/1"  # the discard port: nothing listens there


class Scripted(FetchTier):
    """A tier that raises what it is told to, in turn, and then answers; it counts what it sends by itself."""

    tier: ClassVar[Tier] = Tier.BROWSER
    counts_wire: ClassVar[bool] = True

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls = self.closed = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls()

    async def fetch(self, request: Request) -> Response:
        self.calls += 1
        spent(request).requests += 3
        if self.failures:
            raise self.failures.pop(0)
        return Response(request.url, body=b"rendered")

    async def close(self) -> None:
        self.closed += 1
        raise OSError("the browser was gone")


class Told:
    """What a run, and its purse, are told by the handler."""

    def __init__(self) -> None:
        self.purse = self
        self.tries: list[Tier] = []
        self.notes: list[str] = []
        self.ended: list[Exception] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def tried(self, meta: object, tier: Tier, taken: Spent) -> None:
        self.tries.append(tier)

    def abandon(self, error: Exception) -> None:
        self.ended.append(error)


def test_a_request_without_a_tier_goes_by_plain_http_and_counts() -> None:
    with ScriptedShop() as shop:
        shop.says("/p/1", Answer(b"a mug"))
        crawler, request = crawler_of(store_of()), asked(f"{shop.url}/p/1")
        assert response(crawler, request).body == b"a mug"
    found = spent(request)
    assert (found.requests, found.size_bytes, found.tries, found.billed) == (1, 5, {Tier.HTTP: 1}, 0)
    assert request.meta["tier"] is Tier.HTTP
    assert crawler.stats.get_value("fetch/tier/http") == 1


def test_tries_of_one_visit_add_up_failures_included() -> None:
    taken = Spent()
    with ScriptedShop() as shop:
        shop.says("/p/1", Answer(b"x" * 10, 500), Answer(b"y" * 20))
        url = f"{shop.url}/p/1"
        crawler = crawler_of(store_of())
        requests = [asked(where, spent=taken) for where in (url, NOBODY, url)]
        assert names(fetched(crawler, *requests)) == [500, "DownloadConnectionRefusedError", 200]
    assert (taken.requests, taken.size_bytes, taken.tries) == (3, 30, {Tier.HTTP: 3})
    assert crawler.stats.get_value("fetch/failed/http/DownloadConnectionRefusedError") == 1


class SlowShop(ScriptedShop):
    """A shop that takes half a second for every answer."""

    def answer(self, asked: Asked) -> Answer:
        time.sleep(0.5)
        return super().answer(asked)


def test_time_of_a_failure_is_counted() -> None:
    with SlowShop() as shop:
        request = asked(f"{shop.url}/p/1", download_timeout=0.2)
        assert names(fetched(crawler_of(store_of()), request)) == ["DownloadTimeoutError"]
    assert spent(request).elapsed_ms >= 150


def test_a_tier_that_counts_the_wire_itself_is_not_counted_twice() -> None:
    tier, taken = Scripted(), Spent()
    handler = LadderDownloadHandler(crawler_of(None), {Tier.BROWSER: tier}, tier, crawler_of(None).stats, None)
    asyncio.run(handler.download_request(asked(NOBODY, Tier.BROWSER, spent=taken)))
    assert (taken.requests, taken.size_bytes, taken.tries) == (3, 0, {Tier.BROWSER: 1})


@pytest.mark.parametrize("tier", [tier for tier in Tier if tier is not Tier.HTTP])
def test_a_tier_that_the_store_does_not_list_is_an_error_and_sends_nothing(tier: Tier) -> None:
    with ScriptedShop() as shop:
        request = asked(f"{shop.url}/p/1", tier)
        (error,) = fetched(crawler_of(store_of()), request)
        assert shop.asked == []
    assert isinstance(error, TierNotListed)
    assert str(error).endswith(f"/p/1: is to be fetched by the tier {tier.value}, which fetch.tiers doesn't list")
    assert "spent" not in request.meta


def test_plain_http_is_refused_for_pages_too_where_the_store_does_not_list_it() -> None:
    with ScriptedShop() as shop:
        shop.says("/robots.txt", Answer(b"User-agent: *"))
        crawler = crawler_of(store_of('[fetch]\ntiers = ["http2"]'))
        robots = Request(f"{shop.url}/robots.txt")
        found = fetched(crawler, asked(f"{shop.url}/p/1", Tier.HTTP), robots)
        assert names(found) == ["TierNotListed", 200]
        assert [one.path for one in shop.asked] == ["/robots.txt"]
    assert spent(robots).tries == {Tier.HTTP: 1}


def test_a_page_without_a_tier_goes_by_the_cheapest_that_is_listed() -> None:
    with ScriptedShop() as shop:
        shop.says("/p/1", Answer(b"a mug"))
        request = asked(f"{shop.url}/p/1")
        response(crawler_of(store_of('[fetch]\ntiers = ["http2"]')), request)
    assert request.meta["tier"] is Tier.HTTP2
    assert spent(request).tries == {Tier.HTTP2: 1}


def test_a_command_without_a_store_has_plain_http_alone() -> None:
    with ScriptedShop() as shop:
        shop.says("/p/1", Answer(b"a mug"))
        found = fetched(crawler_of(None), asked(f"{shop.url}/p/1"), asked(f"{shop.url}/p/1", Tier.HTTP2))
    assert names(found) == [200, "TierNotListed"]


def test_both_schemes_share_one_handler_and_it_closes_once() -> None:
    crawler = crawler_of(store_of())

    async def twice(first: LadderDownloadHandler) -> bool:
        second = LadderDownloadHandler.from_crawler(crawler)
        await second.close()
        return first is second

    assert within(crawler, twice)
    assert within(crawler_of(store_of()), lambda other: _is(other, crawler)) is False


async def _is(handler: LadderDownloadHandler, crawler: Crawler) -> bool:
    return handler is LadderDownloadHandler.from_crawler(crawler)


def test_a_tier_that_does_not_close_keeps_no_other_from_closing(caplog: pytest.LogCaptureFixture) -> None:
    first, second = Scripted(), Scripted()
    crawler = crawler_of(None)
    handler = LadderDownloadHandler(crawler, {Tier.BROWSER: first, Tier.ATTACHED: second}, first, crawler.stats, None)
    with caplog.at_level(logging.ERROR):
        asyncio.run(handler.close())
    assert (first.closed, second.closed) == (1, 1)
    assert caplog.text.count("the tier browser could not be closed") == 2


def _handler(tiers: dict[Tier, FetchTier], run: Told) -> LadderDownloadHandler:
    crawler = crawler_of(None)
    plain = next(iter(tiers.values()))
    return LadderDownloadHandler(crawler, tiers, plain, crawler.stats, run)  # type: ignore[arg-type]  # what it calls


async def _raised(handler: LadderDownloadHandler, *tiers: Tier) -> list[str]:
    """Return what a request of each tier raised, one after the other; "" for none."""
    found = []
    for tier in tiers:
        try:
            await handler.download_request(asked(NOBODY, tier))
            found.append("")
        except TierUnusable as error:
            found.append(str(error))
    return found


def test_a_tier_that_cannot_be_used_is_not_asked_again_and_the_run_says_so() -> None:
    broken, whole, run = Scripted(TierUnusable("no browser starts here")), Scripted(), Told()
    handler = _handler({Tier.BROWSER: broken, Tier.ATTACHED: whole}, run)
    found = asyncio.run(_raised(handler, Tier.BROWSER, Tier.BROWSER, Tier.ATTACHED))
    assert found == ["no browser starts here", "no browser starts here", ""]
    assert (broken.calls, whole.calls) == (1, 1)
    assert run.tries == [Tier.BROWSER, Tier.ATTACHED]
    assert (run.notes, run.ended) == (["the tier browser can't be used: no browser starts here"], [])


def test_with_the_last_tier_the_run_ends_by_its_error() -> None:
    run, paid = Told(), ApiQuotaUsedUp("top up")
    tiers: dict[Tier, FetchTier] = {Tier.BROWSER: Scripted(TierUnusable("none")), Tier.API: Scripted(paid)}
    asyncio.run(_raised(_handler(tiers, run), Tier.BROWSER, Tier.API, Tier.API))
    assert run.ended == [paid]
    assert (paid.exit_code, TierUnusable("none").exit_code) == (ExitCode.BUDGET, ExitCode.USAGE)


def test_a_failure_of_one_page_leaves_its_tier_in_use() -> None:
    tier, run = Scripted(DownloadConnectionRefusedError("no"), DownloadConnectionRefusedError("no")), Told()
    handler = _handler({Tier.BROWSER: tier}, run)
    for _ in range(2):
        with pytest.raises(DownloadConnectionRefusedError):
            asyncio.run(handler.download_request(asked(NOBODY, Tier.BROWSER)))
    assert (tier.calls, run.notes, run.ended) == (2, [], [])


def test_what_keeps_a_listed_tier_from_being_used_is_told_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("FINEDATA_API_KEY", raising=False)
    check_tiers(store_of())
    listed = store_of('[fetch]\ntiers = ["http", "api"]\n[fetch.api]\npreset = "finedata"')
    with pytest.raises(
        ConfigurationError, match=r"shop/store\.toml: fetch\.api\.key_env: .* FINEDATA_API_KEY isn't set"
    ):
        check_tiers(listed)
    check_tiers(store_of('[fetch.api]\npreset = "finedata"'))  # described, but not listed
