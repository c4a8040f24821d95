"""Days of a demo store over real HTTP, small: what a plan is worth beside round-robin, and what it never does."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.freshness.shop import What, make
from bench.month.arms import arm, backfilled, round_robin
from bench.month.events import play, script
from bench.month.measure import FROZEN, QUICK_MONTH
from storebot.demo.running import DemoStore

PRODUCTS, BUDGET, DAYS = 300, 30, 3


def test_plan_catches_four_times_what_round_robin_does_within_its_budget_and_leaves_what_is_gone(
    tmp_path: Path,
) -> None:
    with DemoStore(products=PRODUCTS, page_size=24, sitemap_size=PRODUCTS, variant_share=0.0, seed=5) as shop:
        shop.lie("frozen_lastmod", "^/sitemaps/", entries=FROZEN)
        read = backfilled(shop, tmp_path)
        planned = arm(shop, read, "planned", f"budget = {BUDGET}\n", 24)
        robin = round_robin(shop, read, PRODUCTS // BUDGET, 24)
        gone: set[str] = set()
        for _ in range(DAYS):
            shop.advance(changed=0, hours=12)
            changes = shop.advance(price=9, stock=4, title=2, appeared=1, vanished=2, vanished_status=410, hours=1)
            now_s = int(shop.status()["now_s"])
            shop.advance(changed=0, hours=11)
            for way in (planned, robin):
                for change in changes:
                    way.judge.happened(change, now_s)
                spent = way.refresh()
                if way is planned:
                    assert spent.requests <= BUDGET
                    assert gone.isdisjoint(spent.pages)
                    gone = set(planned.gone())
    assert gone, "nothing was delisted: it isn't proven that what is gone is left alone"
    caught, by_robin = planned.judge.caught.total(), robin.judge.caught.total()
    assert planned.judge.events.total() == 18 * DAYS
    assert caught >= 4 * max(by_robin, 1), (planned.judge.caught, robin.judge.caught)
    assert abs(planned.requests - robin.requests) <= 0.2 * planned.requests


@pytest.mark.parametrize("hour", [7])
def test_script_does_to_the_store_what_happens_in_the_simulated_shop(hour: int) -> None:
    happens = script(make(3, QUICK_MONTH))
    assert happens.hours == QUICK_MONTH.days * 24
    played = {1: 0, **{hour: len(happened) for hour, happened in happens.by_hour.items()}}
    with DemoStore(products=QUICK_MONTH.products, variant_share=0.0) as shop:
        began_s = int(shop.status()["now_s"])
        for hour_ in range(1, 25):
            assert len(play(shop, happens.by_hour.get(hour_, ()))) == played.get(hour_, 0)
        assert int(shop.status()["now_s"]) - began_s == pytest.approx(24 * 3600, abs=60)
    assert {what for happened in happens.by_hour.values() for what, _ in happened} >= {What.PRICE, What.NEW, What.GONE}
