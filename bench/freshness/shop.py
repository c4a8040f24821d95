"""A simulated shop of the study behind the planner: what changes when, for ninety days, from a seed.

The processes are guesses, calibrated on aggregate figures and not on a shop: docs/decisions/0032-refresh-planner.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

DAY_H = 24
CARDS = 48  # products on a catalogue page


class What(IntEnum):
    """What of a product changes."""

    PRICE = 0
    STOCK = 1
    CONTENT = 2
    NEW = 3
    GONE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The whole input beside the seed."""

    products: int = 20_000
    categories: int = 60
    days: int = 90
    births_a_day: int = 60
    deaths_a_day: int = 50
    flash_sales_a_day: float = 1.4  # "hot": a tenth of a change a product and day
    site_sales: int = 1  # of the whole shop
    rate_factor: float = 1.0
    lastmod_recall: float = 0.6
    lastmod_false_a_day: float = 0.02
    listed: float = 0.92
    stock_on_card: float = 0.5


HOT = Sizes()
CALM = Sizes(flash_sales_a_day=0.25, rate_factor=0.5)


@dataclass(frozen=True, slots=True)
class Shop:
    """Events sorted by hour, and what doesn't change. Products that are born later have the higher numbers."""

    sizes: Sizes
    born_h: Ints  # -1: there from the start
    gone_h: Ints
    category: Ints
    listing: Ints  # catalogue page; -1: none shows it
    stock_on_card: Bools
    event_h: Ints
    event_product: Ints
    event_what: Ints
    bump_h: Ints  # when a sitemap entry's lastmod moves
    bump_product: Ints

    @property
    def hours(self) -> int:
        """How long it lasts."""
        return self.sizes.days * DAY_H


def make(seed: int, sizes: Sizes = HOT) -> Shop:
    """Return the shop of a seed."""
    rng = np.random.default_rng(seed)
    hours, births = sizes.days * DAY_H, sizes.births_a_day * sizes.days
    count = sizes.products + births
    born = np.concatenate([np.full(sizes.products, -1), np.sort(rng.integers(1, hours, births))])
    gone = np.full(count, hours + 1)
    dying = rng.choice(count, min(sizes.deaths_a_day * sizes.days, count), replace=False)
    gone[dying] = np.maximum(born[dying], 0) + rng.integers(DAY_H, hours, len(dying))
    popularity = 1 / np.arange(1, sizes.categories + 1)
    category = rng.choice(sizes.categories, count, p=popularity / popularity.sum())
    events = _Events(hours)
    _reprice(rng, events, sizes, category, count, hours)
    _flash_sales(rng, events, sizes, category, hours)
    _flip_stock(rng, events, count, hours)
    events.add(*_poisson(rng, np.full(count, 0.006 / DAY_H), hours), What.CONTENT)
    when, product, what = events.sorted()
    alive = (when > born[product]) & (when < gone[product])
    when, product, what = when[alive], product[alive], what[alive]
    told = rng.random(len(when)) < sizes.lastmod_recall
    false_h, false_product = _poisson(rng, np.full(count, sizes.lastmod_false_a_day / DAY_H), hours)
    bump_h, bump_product = np.concatenate([when[told], false_h]), np.concatenate([product[told], false_product])
    order = np.argsort(bump_h, kind="stable")
    return Shop(
        sizes,
        born,
        gone,
        category,
        _listings(rng, category, sizes.listed),
        rng.random(count) < sizes.stock_on_card,
        when,
        product,
        what,
        bump_h[order],
        bump_product[order],
    )


class _Events:
    def __init__(self, hours: int) -> None:
        self.hours = hours
        self._parts: list[tuple[Ints, Ints, Ints]] = []

    def add(self, when: Ints, product: Ints, what: What) -> None:
        inside = (when > 0) & (when < self.hours)
        self._parts.append((when[inside], product[inside], np.full(int(inside.sum()), int(what))))

    def sorted(self) -> tuple[Ints, Ints, Ints]:
        when, product, what = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        order = np.lexsort((what, product, when))
        return when[order], product[order], what[order]


def _reprice(rng: np.random.Generator, events: _Events, sizes: Sizes, category: Ints, count: int, hours: int) -> None:
    """Add repricing: lognormal rates, more by night than by day, a third of it promotions that revert."""
    factor = np.exp(rng.normal(0, 0.5, sizes.categories))
    rate = sizes.rate_factor * np.exp(rng.normal(0, 1.7, count)) / 250 / DAY_H * factor[category]
    turning = rng.random(count) < 0.1
    turn_h = rng.integers(0, hours, count)
    by = np.where(rng.random(count) < 0.5, 10.0, 0.1)
    before, after = _poisson(rng, rate, hours), _poisson(rng, rate * by, hours)
    first = ~turning[before[1]] | (before[0] < turn_h[before[1]])
    second = turning[after[1]] & (after[0] >= turn_h[after[1]])
    when = np.concatenate([before[0][first], after[0][second]])
    product = np.concatenate([before[1][first], after[1][second]])
    weekend = (when // DAY_H) % 7 >= 5
    kept = ~weekend | (rng.random(len(when)) < 0.5)
    when, product = when[kept], product[kept]
    night = rng.random(len(when)) < 0.6
    when = np.where(night, when // DAY_H * DAY_H + rng.integers(0, 6, len(when)), when)
    events.add(when, product, What.PRICE)
    promoted = rng.random(len(when)) < 0.35
    lasts = np.ceil(np.exp(rng.normal(np.log(3 * DAY_H), 0.8, len(when)))).astype(np.int64)
    events.add((when + lasts)[promoted], product[promoted], What.PRICE)


def _flash_sales(rng: np.random.Generator, events: _Events, sizes: Sizes, category: Ints, hours: int) -> None:
    """Add sales of a category, and of the whole shop: prices fall together, and return together."""
    count = rng.poisson(sizes.flash_sales_a_day * sizes.days)
    groups = np.append(rng.integers(0, sizes.categories, count), [-1] * sizes.site_sales)
    for group in groups:
        members = np.arange(len(category)) if group < 0 else np.flatnonzero(category == group)
        chosen = members[rng.random(len(members)) < rng.uniform(0.3, 0.9)]
        start, lasts = int(rng.integers(1, hours)), int(rng.integers(6, 49))
        events.add(np.full(len(chosen), start), chosen, What.PRICE)
        events.add(np.full(len(chosen), start + lasts), chosen, What.PRICE)


def _flip_stock(rng: np.random.Generator, events: _Events, count: int, hours: int) -> None:
    """Add products that sell out and return; a few of them flap."""
    flips = rng.random(count) < 0.2
    rate = np.where(flips, np.exp(rng.normal(np.log(0.055), 1.0, count)) / DAY_H, 0.0)
    rate = np.where(flips & (rng.random(count) < 0.02), 2 / DAY_H, rate)
    events.add(*_poisson(rng, rate, hours), What.STOCK)


def _poisson(rng: np.random.Generator, rate: Floats, hours: int) -> tuple[Ints, Ints]:
    """Return hours and products of events, at most one an hour that counts."""
    counts = rng.poisson(np.minimum(rate, 1.0) * hours)
    product = np.repeat(np.arange(len(rate)), counts)
    return rng.integers(1, hours, len(product)), product


def _listings(rng: np.random.Generator, category: Ints, listed: float) -> Ints:
    """Return the catalogue page of each product: category by category, so many on a page."""
    listing = np.full(len(category), -1)
    shown = rng.random(len(category)) < listed
    number = 0
    for group in range(int(category.max()) + 1):
        members = np.flatnonzero((category == group) & shown)
        listing[members] = number + np.arange(len(members)) // CARDS
        number += -(-len(members) // CARDS)
    return listing
