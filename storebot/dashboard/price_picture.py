"""The picture of a price over time: in steps, on a ground that says whether it was for sale, or nobody could look."""

from __future__ import annotations

from collections.abc import Sequence

from storebot.core.dashboard.field_changes import FOR_SALE
from storebot.core.dashboard.price_history import Stretch
from storebot.core.history import MISSING, OBSERVED, UNOBSERVED
from storebot.core.money import EXPONENTS, from_minor
from storebot.dashboard.charts import Line, Step, steps, timeline

_AROUND = 0.08  # of the prices' range, above and below them


def drawn(history: Sequence[Stretch], currency: str | None, *, narrow: bool) -> bytes:
    """Return it, of what was priced in this currency."""
    seen = [one for one in history if one.kind == OBSERVED and one.offer is not None]
    prices = [step for one in seen if (step := _step(one, one.offer and one.offer.price_minor, currency))]
    regular = [step for one in seen if (step := _step(one, one.regular_minor, currency))]
    values = [step.value for step in (*prices, *regular)]
    low, high = min(values, default=0), max(values, default=1)
    room = (high - low or high or 1) * _AROUND
    low, high = max(0, low - room), high + room
    stocked = [one for one in seen if one.offer and one.offer.availability in FOR_SALE]
    found = [
        Line("for sale", "band", _ground(stocked, high), filled=True),
        Line(
            "nobody could look", "gap", _ground([one for one in history if one.kind == UNOBSERVED], high), filled=True
        ),
        Line("not there", "gone", _ground([one for one in history if one.kind == MISSING], high), filled=True),
        Line("regular price", "third", steps(regular)),
        Line("price", "main", steps(prices)),
    ]
    return timeline(
        [one for one in found if one.points or one.name == "price"],
        narrow=narrow,
        unit=f" {currency}" if currency else "",
        least=low,
        most=high,
    )


def _step(one: Stretch, minor: int | None, currency: str | None) -> Step | None:
    if minor is None or currency not in EXPONENTS or currency is None or not one.offer:
        return None
    if one.offer.currency != currency:
        return None
    return Step(one.drawn_since, one.drawn_until, float(from_minor(minor, currency)))


def _ground(found: Sequence[Stretch], height: float) -> list[tuple[int, float | None]]:
    return steps(Step(one.drawn_since, one.drawn_until, height) for one in found)
