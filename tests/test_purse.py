"""What a run's requests cost is told once and whole, and no request goes that there is no room for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from storebot.core.month import Month
from storebot.core.thrift import Thrift
from storebot.exceptions import BudgetReached
from storebot.items import Expense, Outlay, PageType, Spent, Target, Tier, Visit
from storebot.purse import Purse
from tests.stores.writing import LEAST, read

JULY = Month.named("2026-07")
API = '[fetch]\ntiers = ["http", "api"]\n[fetch.api]\nurl = "https://api.example/?url={url}"\nhtml = "html"\n'
PRICES = '[costs]\ncurrency = "EUR"\n[costs.http]\nper_request = "0.0001"\n[costs.api]\nper_call = "0.0021"\n'


class Opened:
    """A purse that is open, a clock to set, and all that the purse told."""

    def __init__(self, tmp_path: Path, text: str, spent_in_month: Expense | None = None, at_ms: int = JULY.start_ms):
        self.at_ms = at_ms
        self.outlays: list[Outlay] = []
        self.stops: list[tuple[str, bool]] = []
        self.thrift: list[Thrift] = []
        self.purse = Purse(read(tmp_path, LEAST + text))
        self.purse.open(
            spent_in_month or Expense(),
            now_ms=lambda: self.at_ms,
            submit=self.outlays.append,
            on_stop=lambda why, discovery: self.stops.append((why, discovery)),
            on_thrift=self.thrift.append,
        )

    async def sent(
        self, page_type: PageType | None = PageType.PRODUCT, tier: Tier = Tier.HTTP, **took: int
    ) -> dict[str, Any]:
        """Send one request to its end; return its meta."""
        meta: dict[str, Any] = {"page_type": page_type, "tier": tier}
        await self.purse.admit(meta)
        self.answered(meta, **took)
        return meta

    def answered(self, meta: dict[str, Any], **took: int) -> None:
        spent = meta.setdefault("spent", Spent())
        spent.requests += 1
        spent.tries[meta["tier"]] = spent.tries.get(meta["tier"], 0) + 1
        for name, amount in took.items():
            setattr(spent, name, getattr(spent, name) + amount)
        self.purse.tried(meta, meta["tier"], spent)


def visit(meta: dict[str, Any]) -> Visit:
    target = Target(store="shop", url="u", url_key="u", page_id=1)
    return Visit(target=target, at_ms=1, requests=meta["spent"].requests, by_tier=meta["spent"].by_tier)


def test_discovery_is_told_at_once_and_a_page_by_its_visit(tmp_path: Path) -> None:
    it = Opened(tmp_path, PRICES)
    asyncio.run(it.sent(PageType.SITEMAP, size_bytes=7))
    asyncio.run(it.sent(None))
    page = asyncio.run(it.sent())
    assert [(told.page_type, told.expense) for told in it.outlays] == [
        ("sitemap", Expense(1, 7, cost_micro=100)),
        ("robots", Expense(1, cost_micro=100)),
    ]
    it.purse.told(visit(page))
    it.purse.tell_rest()
    assert len(it.outlays) == 2
    assert it.purse.total == Expense(3, 7, cost_micro=300)


def test_a_page_that_brought_no_visit_is_told_in_the_end(tmp_path: Path) -> None:
    it = Opened(tmp_path, PRICES + API)
    lost = asyncio.run(it.sent(tier=Tier.API, billed=1))
    it.answered(lost)
    it.purse.told(visit(asyncio.run(it.sent())))
    it.purse.tell_rest()
    it.purse.tell_rest()
    (told,) = it.outlays
    assert (told.tier, told.page_type, told.expense) == (Tier.API, "product", Expense(2, billed=1, cost_micro=2_100))


def test_a_request_that_finds_no_room_is_refused_and_the_reason_told(tmp_path: Path) -> None:
    it = Opened(tmp_path, "[budget.run]\nrequests = 2\n")

    async def three() -> None:
        await it.sent()
        await it.sent()
        await it.sent()

    with pytest.raises(BudgetReached):
        asyncio.run(three())
    assert it.stops == [("2 of 2 requests of this run", False)]
    assert it.purse.used_up == "2 of 2 requests of this run"


def test_one_waits_for_those_under_way_and_goes_when_they_left_room(tmp_path: Path) -> None:
    """Two calls fit in, by what they are expected to cost; the first page did with the plain tier."""
    it = Opened(tmp_path, f'{PRICES}{API}[budget.run]\nmoney = "0.005"\n')

    async def crawl() -> list[bool]:
        metas: list[dict[str, Any]] = [{"page_type": PageType.PRODUCT, "tier": Tier.HTTP} for _ in range(3)]
        asked = [asyncio.ensure_future(it.purse.admit(meta)) for meta in metas]
        await asyncio.sleep(0)
        before = asked[2].done()
        it.answered(metas[0])
        await asyncio.wait_for(asked[2], 5)
        return [before, all(one.done() for one in asked)]

    assert asyncio.run(crawl()) == [False, True]
    assert it.stops == []


def test_the_dearest_tier_that_a_page_may_come_to_must_be_paid_for(tmp_path: Path) -> None:
    it = Opened(tmp_path, f'{PRICES}{API}[budget.run]\nmoney = "0.002"\n')
    with pytest.raises(BudgetReached):
        asyncio.run(it.sent())
    assert it.stops == [("0.00 of 0.002 EUR of this run", False)]


def test_a_try_that_follows_another_is_finished_though_nothing_is_left(tmp_path: Path) -> None:
    it = Opened(tmp_path, "[budget.run]\nrequests = 1\n")

    async def redirected() -> dict[str, Any]:
        meta = await it.sent()
        await it.purse.admit(meta)
        it.answered(meta)
        return meta

    assert asyncio.run(redirected())["spent"].requests == 2


def test_a_request_that_was_never_sent_gives_its_room_back(tmp_path: Path) -> None:
    it = Opened(tmp_path, "[budget.run]\nrequests = 1\n")

    async def dropped() -> None:
        meta: dict[str, Any] = {"page_type": PageType.PRODUCT, "tier": Tier.HTTP}
        await it.purse.admit(meta)
        it.purse.release(meta)
        it.purse.release(meta)
        await asyncio.wait_for(it.sent(), 5)

    asyncio.run(dropped())


def test_a_run_that_goes_on_into_the_next_month_has_that_ones_budget(tmp_path: Path) -> None:
    it = Opened(tmp_path, "[budget.month]\nrequests = 2\n", Expense(requests=1), at_ms=JULY.end_ms - 1)
    asyncio.run(it.sent())
    assert it.purse.used_up == "2 of 2 requests of 2026-07"
    it.at_ms = JULY.end_ms
    meta: dict[str, Any] = {"page_type": None, "tier": Tier.HTTP}
    it.answered(meta)  # one that was under way
    asyncio.run(it.sent())
    assert it.purse.used_up == "2 of 2 requests of 2026-08"


def test_when_the_month_runs_ahead_dearer_tiers_are_not_tried_any_more(tmp_path: Path) -> None:
    it = Opened(tmp_path, f'{PRICES}{API}[budget.month]\nmoney = "1"\n', Expense(cost_micro=799_900))
    assert it.purse.allowed == {Tier.HTTP, Tier.API}
    asyncio.run(it.sent())
    asyncio.run(it.sent())
    assert len(it.thrift) == 1
    assert it.thrift[0].why == "80% of the month's money is spent, and 0% of the month has passed"
    assert it.purse.allowed == {Tier.HTTP}


def test_a_month_that_was_short_before_the_run_is_told_as_it_opens(tmp_path: Path) -> None:
    it = Opened(tmp_path, "[budget.month]\nrequests = 10\n", Expense(requests=9))
    assert [one.stretch for one in it.thrift] == [8.0]
    assert it.purse.allowed == {Tier.HTTP}
