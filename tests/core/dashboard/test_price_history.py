"""The history of a price with honest gaps."""

from __future__ import annotations

from storebot.core.dashboard.price_history import Priced, Visited, since_when, stretches
from storebot.core.history import Offer


def offer(at: int, price: int, stock: str = "InStock") -> Priced:
    return Priced(Offer(at=at, price_minor=price, currency="EUR", availability=stock, cause="seen"), None)


def test_a_price_holds_until_the_look_that_saw_another_one() -> None:
    visits = [Visited(at, "changed" if at in (10, 30) else "not_modified", "") for at in (10, 20, 30, 40)]
    first, second = stretches(visits, [offer(10, 1000), offer(30, 900)])
    assert (first.since, first.until, first.drawn_until, first.looks) == (10, 20, 30, 2)
    assert (second.since, second.until, second.offer.price_minor if second.offer else None) == (30, 40, 900)


def test_time_in_which_nobody_could_look_is_a_gap_with_its_reason() -> None:
    visits = [
        Visited(10, "new", ""),
        Visited(20, "blocked", "cloudflare"),
        Visited(30, "blocked", "cloudflare"),
        Visited(40, "not_modified", ""),
    ]
    before, gap, after = stretches(visits, [offer(10, 1000)])
    assert (before.kind, after.kind) == ("observed", "observed")
    assert gap.offer is None
    assert (gap.drawn_since, gap.drawn_until) == (10, 40)
    assert "blocked 2 times" in gap.note
    assert "cloudflare" in gap.note


def test_since_when_follows_one_value_back() -> None:
    series = [offer(10, 1000), offer(20, 900), offer(30, 900, "OutOfStock"), offer(40, 900)]
    assert since_when(series, "price_minor") == 20
    assert since_when(series, "availability") == 40
    assert since_when([], "price_minor") is None
