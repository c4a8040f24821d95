"""What a plan is going to take, by what visits of late took."""

from __future__ import annotations

from decimal import Decimal

from storebot.core.costs import Prices, PriceTable, nano
from storebot.core.planner.prospect import Counts, Manners, Sample, latency_s, prospect
from storebot.items import Expense, Tier

FULL = Sample(Tier.HTTP, 60, Expense(60, 6_000_000, 12_000))
SAME = Sample(Tier.HTTP, 40, Expense(40, 20_000, 4_000), not_modified=True)
CALLS = Sample(Tier.API, 10, Expense(10, 1_000_000, 30_000, billed=10))
MAPS = [Sample(Tier.HTTP, 4, Expense(4, 80_000, 400))]
POLITE = Manners(delay_s=1.0)
PRICES = PriceTable("EUR", {Tier.API: Prices(per_call=nano(Decimal("0.0021")))})


def test_conditional_pages_are_mixed_as_they_were_and_others_come_in_full() -> None:
    found = prospect(Counts(conditional=100), [FULL, SAME], [], POLITE, PriceTable())
    assert (found.requests, found.size_bytes, found.not_modified, found.basis) == (100, 6_020_000, 0.4, 100)
    assert prospect(Counts(full=100), [FULL, SAME], [], POLITE, PriceTable()).size_bytes == 10_000_000


def test_catalogue_pages_and_sitemaps_take_what_such_took() -> None:
    found = prospect(Counts(discovery=2, views=6), [FULL], MAPS, POLITE, PriceTable())
    assert (found.requests, found.size_bytes) == (8, 160_000)


def test_money_is_that_of_the_tiers_that_will_be_used() -> None:
    found = prospect(Counts(conditional=70), [FULL, CALLS], [], POLITE, PRICES)
    assert found.cost_micro == 10 * 2_100
    assert prospect(Counts(conditional=70), [FULL], [], POLITE, PRICES).cost_micro == 0


def test_time_is_the_delay_or_where_answers_are_slow_what_they_take() -> None:
    counts = Counts(full=90, discovery=10)
    assert prospect(counts, [FULL], [], POLITE, PRICES).seconds == 100
    slow = Manners(delay_s=0.5, concurrency=2, latency_s=3.0)
    assert prospect(counts, [FULL], [], slow, PRICES).seconds == 150


def test_nothing_is_claimed_before_the_first_visit() -> None:
    found = prospect(Counts(full=5, conditional=5), [], [], POLITE, PRICES)
    assert (found.requests, found.size_bytes, found.cost_micro, found.basis) == (10, 0, 0, 0)


def test_latency_is_the_mean_of_all_requests() -> None:
    assert latency_s([FULL, SAME]) == 0.16
    assert latency_s([]) == 0.0
