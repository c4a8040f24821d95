"""By which tier a page is fetched: laws of the ladder, and shops that set it traps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storebot.core.ladder import PROBE_MS, Ladder
from storebot.core.rung import DAY_MS, FIRST_WAIT_MS, LONGEST_WAIT_MS, MINUTE_MS, Rung
from storebot.items import PageType, Tier

NOW = 1_800_000_000_000
HOUR_MS = 60 * MINUTE_MS
PRODUCT, CATALOGUE = PageType.PRODUCT, PageType.CATALOGUE
HTTP, HTTP2, BROWSER, ATTACHED, API = Tier
TIERS = st.lists(st.sampled_from(Tier), min_size=1, unique=True)
# One page each: its type, the time since the last one, and by which tiers it would be got.
PAGES = st.lists(
    st.tuples(st.sampled_from([PRODUCT, CATALOGUE]), st.integers(0, 2 * HOUR_MS), st.sets(st.sampled_from(Tier))),
    max_size=60,
)

few = settings(max_examples=25, deadline=None)  # whole crawls: a busy machine takes longer, and more shows no more

Works = Callable[[Tier, int, int], bool]  # tier, milliseconds since the beginning, number of the page


class Crawl:
    """A crawl by a ladder: who asked for what, and what was got."""

    def __init__(self, *tiers: Tier, memory: Iterable[Rung] = ()) -> None:
        self.ladder = Ladder(tiers, memory)
        self.now = NOW
        self.asked: Counter[Tier] = Counter()
        self.begun: Counter[Tier] = Counter()
        self.got = self.lost = 0

    def page(self, works: Callable[[Tier], bool], page_type: PageType = PRODUCT) -> None:
        """Fetch one page, from the tier that it begins with up."""
        tier: Tier | None = self.ladder.begin(page_type, self.now)
        assert tier is not None
        self.begun[tier] += 1
        while tier is not None:
            self.asked[tier] += 1
            got = works(tier)
            self.ladder.record(page_type, tier, works=got, now_ms=self.now, reason="" if got else "blocked")
            if got:
                self.got += 1
                return
            tier = self.ladder.after(tier, page_type, self.now)
        self.lost += 1

    def pages(self, count: int, works: Works, every_ms: int = 1000) -> Crawl:
        """Fetch pages one after another."""
        for number in range(count):
            self.page(lambda tier, number=number: works(tier, self.now - NOW, number))  # type: ignore[misc]  # a default
            self.now += every_ms
        return self


# --- laws -----------------------------------------------------------------------------------------------------------


@given(TIERS, PAGES)
def test_no_tier_is_asked_that_is_not_listed_and_no_page_is_asked_for_twice_by_one(
    tiers: list[Tier], pages: list[tuple[PageType, int, set[Tier]]]
) -> None:
    ladder, now, order = Ladder(tiers), NOW, list(Tier)
    for page_type, later, good in pages:
        now += later
        tier: Tier | None = ladder.begin(page_type, now)
        asked: list[Tier] = []
        while tier is not None:
            asked.append(tier)
            ladder.record(page_type, tier, works=tier in good, now_ms=now)
            tier = None if tier in good else ladder.after(tier, page_type, now)
        assert set(asked) <= set(tiers)
        assert [order.index(one) for one in asked] == sorted({order.index(one) for one in asked}), "only ever up"


@given(TIERS, PAGES)
def test_what_is_remembered_is_all_that_is_known(
    tiers: list[Tier], pages: list[tuple[PageType, int, set[Tier]]]
) -> None:
    """A run that is killed and one that goes on choose alike, but for the probes under way."""
    crawl = Crawl(*tiers)
    for page_type, later, good in pages:
        crawl.now += later
        crawl.page(lambda tier, good=good: tier in good, page_type)  # type: ignore[misc]  # a default
    again = Ladder(tiers, crawl.ladder.rungs())
    later = crawl.now + PROBE_MS
    for page_type in (PRODUCT, CATALOGUE):
        assert again.begin(page_type, later) is crawl.ladder.begin(page_type, later)


@given(TIERS, st.sampled_from(Tier))
def test_memory_of_a_tier_that_is_not_listed_any_more_is_ignored(tiers: list[Tier], other: Tier) -> None:
    ladder = Ladder(tiers, [Rung(page_type=PRODUCT, tier=other, worked_at=NOW)])
    assert ladder.begin(PRODUCT, NOW) in tiers
    assert all(rung.tier in tiers for rung in ladder.rungs())


def test_a_ladder_needs_a_tier() -> None:
    with pytest.raises(ValueError, match="needs a tier"):
        Ladder([])


@few
@given(st.integers(1, 200), st.integers(1, 10))
def test_probes_of_a_tier_that_never_works_are_few(hours: int, per_hour: int) -> None:
    """Four pages find out, then the wait doubles from 15 minutes to 16 hours: seven probes, and then one each."""
    crawl = Crawl(HTTP, BROWSER).pages(
        hours * per_hour, lambda tier, ms, page: tier is BROWSER, every_ms=HOUR_MS // per_hour
    )
    assert crawl.lost == 0
    assert crawl.asked[HTTP] <= 4 + 7 + hours / 16 + 1


@few
@given(st.integers(0, 7 * 24), st.integers(5, 60))
def test_a_cheap_tier_that_recovered_is_back_within_two_probes(blocked_hours: int, every_min: int) -> None:
    ends = blocked_hours * HOUR_MS
    crawl = Crawl(HTTP, BROWSER)
    while crawl.now - NOW < ends:
        crawl.page(lambda tier: tier is BROWSER)
        crawl.now += every_min * MINUTE_MS
    crawl.asked.clear()
    deadline = crawl.now + LONGEST_WAIT_MS + 3 * every_min * MINUTE_MS
    while crawl.now < deadline:
        crawl.page(lambda tier: True)
        crawl.now += every_min * MINUTE_MS
    rung = crawl.ladder.of(PRODUCT, HTTP)
    assert not rung.is_left
    crawl.begun.clear()
    crawl.pages(20, lambda tier, ms, page: True)
    assert crawl.begun == {HTTP: 20}


@few
@given(st.randoms(use_true_random=False), st.integers(1, 32))
def test_order_of_results_of_requests_under_way_together_hardly_matters(random: Random, window: int) -> None:
    """With any number under way, answered in any order, the same shop is crawled by the same tier."""
    ladder, now, begun = Ladder([HTTP, BROWSER]), NOW, Counter[Tier]()
    under_way: list[Tier] = []
    for number in range(400):
        tier = ladder.begin(PRODUCT, now)
        begun[tier] += 1
        under_way.append(tier)
        if len(under_way) >= window or number == 399:
            random.shuffle(under_way)
            for one in under_way:
                works = one is BROWSER
                ladder.record(PRODUCT, one, works=works, now_ms=now)
                if not works and (above := ladder.after(one, PRODUCT, now)):
                    ladder.record(PRODUCT, above, works=True, now_ms=now)
            under_way.clear()
        now += 100
    assert begun[HTTP] <= max(4, window) + window


# --- traps ----------------------------------------------------------------------------------------------------------


def test_a_tier_that_gets_most_pages_is_kept_and_only_the_others_cost_more() -> None:
    random = Random(3)
    good = [random.random() < 0.7 for _ in range(5000)]
    crawl = Crawl(HTTP, BROWSER).pages(5000, lambda tier, ms, page: tier is BROWSER or good[page])
    assert crawl.lost == 0
    assert crawl.begun[HTTP] == 5000
    assert crawl.asked[BROWSER] == good.count(False)


def test_a_tier_that_fails_for_one_type_of_page_is_kept_for_the_others() -> None:
    crawl = Crawl(HTTP, BROWSER)
    for _ in range(50):
        crawl.page(lambda tier: tier is BROWSER, PRODUCT)
        crawl.page(lambda tier: True, CATALOGUE)
        crawl.now += 1000
    assert crawl.ladder.begin(CATALOGUE, crawl.now) is HTTP
    assert crawl.ladder.begin(PRODUCT, crawl.now) is BROWSER
    assert (crawl.asked[HTTP], crawl.asked[BROWSER]) == (50 + 4, 50)


def test_a_shop_that_blocks_the_plain_tier_for_two_days_is_asked_by_it_a_dozen_times() -> None:
    def works(tier: Tier, ms: int, page: int) -> bool:
        return tier is BROWSER or not DAY_MS <= ms < 3 * DAY_MS

    crawl = Crawl(HTTP, BROWSER).pages(24 * 60, works, every_ms=MINUTE_MS)
    assert (crawl.asked[HTTP], crawl.asked[BROWSER]) == (24 * 60, 0)
    crawl.asked.clear()
    crawl.pages(2 * 24 * 60, works, every_ms=MINUTE_MS)
    assert crawl.asked[HTTP] <= 12
    assert crawl.lost == 0
    crawl.asked.clear()
    crawl.pages(24 * 60, works, every_ms=MINUTE_MS)
    assert crawl.asked[BROWSER] <= 16 * 60, "the last wait, and no more"
    assert crawl.ladder.begin(PRODUCT, crawl.now) is HTTP


def test_a_store_that_is_read_once_a_day_is_probed_once_a_day() -> None:
    crawl = Crawl(HTTP, BROWSER).pages(100, lambda tier, ms, page: tier is BROWSER)
    for day in range(1, 15):
        crawl = Crawl(HTTP, BROWSER, memory=crawl.ladder.rungs())
        crawl.now = NOW + day * DAY_MS
        crawl.pages(100, lambda tier, ms, page: tier is BROWSER)
        assert (crawl.asked[HTTP], crawl.asked[BROWSER]) == (1, 100), f"day {day}"


def test_while_a_probe_is_under_way_all_others_go_by_the_tier_that_works() -> None:
    crawl = Crawl(HTTP, BROWSER).pages(10, lambda tier, ms, page: tier is BROWSER)
    due = crawl.now + FIRST_WAIT_MS
    begun = [crawl.ladder.begin(PRODUCT, due + one) for one in range(50)]
    assert begun == [HTTP, *[BROWSER] * 49]


def test_a_probe_that_brings_nothing_is_over_after_a_while() -> None:
    """Its connection broke, or robots.txt forbade it: that says nothing of the tier."""
    crawl = Crawl(HTTP, BROWSER).pages(10, lambda tier, ms, page: tier is BROWSER)
    due = crawl.now + FIRST_WAIT_MS
    assert crawl.ladder.begin(PRODUCT, due) is HTTP
    assert crawl.ladder.begin(PRODUCT, due + PROBE_MS - 1) is BROWSER
    assert crawl.ladder.begin(PRODUCT, due + PROBE_MS) is HTTP


def test_a_few_bad_pages_do_not_send_a_run_back_to_a_tier_that_is_blocked() -> None:
    crawl = Crawl(HTTP, BROWSER).pages(100, lambda tier, ms, page: tier is BROWSER)
    crawl.pages(6, lambda tier, ms, page: False)
    assert crawl.ladder.of(PRODUCT, BROWSER).is_left
    crawl.begun.clear()
    crawl.pages(300, lambda tier, ms, page: tier is BROWSER)
    assert crawl.lost == 6
    assert crawl.begun == {BROWSER: 300}


def test_a_store_that_says_no_to_every_tier_costs_little() -> None:
    """The run goes on by the cheapest, until its circuit breaker ends it; the dear ones are only probed."""
    crawl = Crawl(HTTP, BROWSER, API).pages(1000, lambda tier, ms, page: False)
    assert crawl.got == 0
    assert crawl.begun[HTTP] >= 990
    assert crawl.asked[BROWSER] <= 8
    assert crawl.asked[API] <= 8


def test_a_dear_tier_that_worked_and_does_not_any_more_is_given_up_with_its_hope() -> None:
    crawl = Crawl(HTTP, API).pages(50, lambda tier, ms, page: tier is API)
    crawl.asked.clear()
    crawl.pages(4000, lambda tier, ms, page: False)
    assert crawl.asked[API] <= FIRST_WAIT_MS // 1000 + 10


def test_the_tier_between_is_used_where_it_is_enough() -> None:
    crawl = Crawl(HTTP, HTTP2, BROWSER).pages(200, lambda tier, ms, page: tier is not HTTP)
    assert (crawl.asked[HTTP], crawl.asked[HTTP2], crawl.asked[BROWSER]) == (4, 200, 0)


def test_a_tier_between_that_does_not_work_is_passed_over() -> None:
    crawl = Crawl(HTTP, HTTP2, BROWSER).pages(200, lambda tier, ms, page: tier is BROWSER)
    assert (crawl.asked[HTTP], crawl.asked[HTTP2], crawl.asked[BROWSER]) == (4, 4, 200)


def test_among_says_which_tiers_may_be_tried() -> None:
    ladder = Ladder([HTTP, HTTP2, BROWSER, API])
    assert ladder.after(HTTP, PRODUCT, NOW, among={BROWSER, API}) is BROWSER
    assert ladder.after(HTTP, PRODUCT, NOW, among={HTTP}) is None
    assert ladder.begin(PRODUCT, NOW, among={BROWSER}) is BROWSER
    assert ladder.begin(PRODUCT, NOW, among=()) is HTTP, "that may always be used"


def test_where_no_cheap_tier_is_in_use_the_one_that_works_begins() -> None:
    """A budget that runs out has pages fetched by cheaper tiers, not blocked by them."""
    ladder = Ladder([HTTP, API])
    for _ in range(30):
        ladder.record(PRODUCT, HTTP, works=False, now_ms=NOW, reason="blocked")
    assert ladder.of(PRODUCT, HTTP).is_left
    assert ladder.begin(PRODUCT, NOW, among={HTTP}) is API


def test_a_tier_that_cannot_be_used_is_passed_over() -> None:
    ladder = Ladder([HTTP, BROWSER, API])
    ladder.close(BROWSER)
    ladder.close(BROWSER)
    assert ladder.after(HTTP, PRODUCT, NOW) is API
    ladder.close(HTTP)
    assert ladder.begin(PRODUCT, NOW) is API
    ladder.close(API)
    assert ladder.begin(PRODUCT, NOW) is HTTP, "there is nothing else to say"
    assert ladder.after(HTTP, PRODUCT, NOW) is None


def test_a_tier_that_filled_a_page_speaks_for_other_pages_of_its_type() -> None:
    ladder = Ladder([HTTP, BROWSER])
    assert not ladder.fills(PRODUCT, HTTP, NOW)
    ladder.record(PRODUCT, BROWSER, works=True, now_ms=NOW, filled=True)
    assert ladder.fills(PRODUCT, HTTP, NOW)
    assert not ladder.fills(CATALOGUE, HTTP, NOW)
    assert not ladder.fills(PRODUCT, BROWSER, NOW), "there is none above"
    ladder.close(BROWSER)
    assert not ladder.fills(PRODUCT, HTTP, NOW)
