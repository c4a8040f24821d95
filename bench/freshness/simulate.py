"""Ninety days of a simulated shop, hour by hour, and one policy that looks at it: what it caught, missed and spent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from bench.freshness.shop import DAY_H, Bools, Floats, Ints, Shop, What

SITEMAP_EVERY_H = 6
IN_TIME_H = 24  # a change that is seen later, or never, isn't caught
_DIMENSIONS = 3  # price, stock, content; new and gone are counted apart


@dataclass(frozen=True, slots=True)
class Looks:
    """What a run's looks at product pages found, one entry a page."""

    products: Ints
    changed: Bools  # since the last look of any kind, at what that look could see
    visible: Bools  # of these: in a field that the card shows
    gone: Bools
    first: Bools  # it was never read before


@dataclass(frozen=True, slots=True)
class Cards:
    """What looks at catalogue pages found, one entry a card."""

    products: Ints
    price_differs: Bools
    stock_differs: Bools
    unknown: Ints  # products on them that nobody knew
    vanished: Ints  # known products that they don't show any more


class Policy(ABC):
    """Decides what is fetched. It knows nothing of the shop but what it's told."""

    name = ""
    reads_sitemaps = False
    stores_prices = False  # the price on a card is an observation; else cards are hints

    @abstractmethod
    def start(self, shop: Shop, per_day: int, seed: int) -> None:
        """Begin with all products known that are there at the start, each just read."""

    @abstractmethod
    def found(self, products: Ints, now: int) -> None:
        """Take in products that a sitemap or a catalogue page names for the first time."""

    @abstractmethod
    def choose(self, now: int, budget: int) -> tuple[Ints, Ints]:
        """Return catalogue pages and products to fetch: so many requests together, at most."""

    @abstractmethod
    def looked(self, looks: Looks, now: int) -> None:
        """Take in what the product pages showed."""


class Listener(Policy):
    """A policy that goes by signals, too, where it's told to."""

    @abstractmethod
    def moved(self, products: Ints, lastmods: Ints, now: int) -> None:
        """Take in products whose lastmod moved since the last reading of the sitemap, and where to."""

    @abstractmethod
    def left_out(self, products: Ints, now: int) -> None:
        """Take in products that the sitemap doesn't name any more."""

    @abstractmethod
    def listed(self, cards: Cards, now: int) -> None:
        """Take in what the catalogue pages showed."""


@dataclass(slots=True)
class Score:
    """What a policy came to; shares of all changes."""

    policy: str
    requests: int = 0
    days: int = 0
    events: dict[What, int] = field(default_factory=lambda: dict.fromkeys(What, 0))
    caught: dict[What, int] = field(default_factory=lambda: dict.fromkeys(What, 0))
    missed: dict[What, int] = field(default_factory=lambda: dict.fromkeys(What, 0))
    staleness_h: float = 0.0  # mean over products and hours: how long the copy has been wrong
    oldest_h: int = 0  # the longest that a product on sale went without a look at its own page
    late: int = 0  # runs that asked for more than they had
    wasted: int = 0  # looks at pages that were known to be gone

    @property
    def caught_share(self) -> float:
        """Share of all changes that were seen within a day."""
        return sum(self.caught.values()) / max(sum(self.events.values()), 1)

    def share(self, what: What) -> tuple[float, float]:
        """Return the shares caught in time, and overwritten before any look."""
        return self.caught[what] / max(self.events[what], 1), self.missed[what] / max(self.events[what], 1)


class World:
    """The shop as it is now, and what the copy of it knows."""

    def __init__(self, shop: Shop) -> None:
        count = len(shop.born_h)
        self.shop = shop
        self.now = 0
        self.known = shop.born_h < 0
        self.read = self.known.copy()  # has a record
        self.named = self.known.copy()  # a sitemap named it when it was last read
        self.buried = np.zeros(count, bool)  # it's known to be gone
        self.unseen = np.zeros((_DIMENSIONS, count), np.int32)  # changes since the last look
        self.last = np.zeros((_DIMENSIONS, count), np.int32)  # when the newest of them was
        self.since = np.zeros((_DIMENSIONS, count), np.int32)  # and the oldest
        self.looked = np.zeros(count, np.int32)
        self._event = self._bump = 0
        self._lastmod = np.zeros(count, np.int32)
        self._bumped = np.zeros(count, bool)
        self.by_listing = np.argsort(shop.listing, kind="stable")
        self._listing_starts = np.searchsorted(shop.listing[self.by_listing], np.arange(shop.listing.max() + 2))

    @property
    def alive(self) -> Bools:
        return (self.shop.born_h <= self.now) & (self.shop.gone_h > self.now)

    def advance(self, score: Score) -> None:
        """Let one hour pass."""
        shop = self.shop
        self.now += 1
        end = int(np.searchsorted(shop.event_h, self.now, side="right"))
        for place in range(self._event, end):
            product, what = int(shop.event_product[place]), int(shop.event_what[place])
            score.events[What(what)] += 1
            if not self.unseen[what, product]:
                self.since[what, product] = self.now
            self.unseen[what, product] += 1
            self.last[what, product] = self.now
        self._event = end
        end = int(np.searchsorted(shop.bump_h, self.now, side="right"))
        self._bumped[shop.bump_product[self._bump : end]] = True
        self._lastmod[shop.bump_product[self._bump : end]] = shop.bump_h[self._bump : end]
        self._bump = end
        score.events[What.NEW] += int((shop.born_h == self.now).sum())
        score.events[What.GONE] += int(((shop.gone_h == self.now) & (shop.born_h < self.now)).sum())

    def sitemap(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return what a reading of the sitemap tells: new products, moved ones with lastmod, what it names no more."""
        alive = self.alive
        new = np.flatnonzero(alive & ~self.known)
        moved = np.flatnonzero(alive & self.known & self._bumped)
        left = np.flatnonzero(~alive & self.known & self.named & ~self.buried)
        self._bumped[:] = False
        self.known[new] = True
        self.named = alive.copy()
        return new, moved, self._lastmod[moved].astype(np.int64), left

    def look(self, products: Ints, score: Score) -> Looks:
        """Fetch product pages."""
        shop, now = self.shop, self.now
        gone = shop.gone_h[products] <= now
        first = ~self.read[products]
        there, new = products[~gone], products[~gone & first]
        changed = (self.unseen[:, products] > 0).any(axis=0) & ~gone
        visible = (self.unseen[What.PRICE, products] > 0) & ~gone
        visible |= (self.unseen[What.STOCK, products] > 0) & shop.stock_on_card[products] & ~gone
        for what in (What.PRICE, What.STOCK, What.CONTENT):
            self._settle(what, there, score)
        in_time = now - shop.born_h[new] <= IN_TIME_H
        score.caught[What.NEW] += int(in_time.sum())
        score.wasted += int(self.buried[products].sum())
        dead = products[gone & ~self.buried[products]]
        score.caught[What.GONE] += int((now - shop.gone_h[dead] <= IN_TIME_H).sum())
        self.buried[dead] = True
        self.read[there] = True
        self.looked[products] = now
        return Looks(products, changed & ~first, visible & ~first, gone, first)

    def view(self, listings: Ints, score: Score, *, stores: bool) -> Cards:
        """Fetch catalogue pages; ``stores``: the price on a card is an observation."""
        shop = self.shop
        starts, ends = self._listing_starts[listings], self._listing_starts[listings + 1]
        cards = np.concatenate([self.by_listing[a:b] for a, b in zip(starts, ends, strict=True)] or [np.empty(0, int)])
        alive = self.alive[cards]
        unknown = cards[alive & ~self.known[cards]]
        vanished = cards[~alive & self.known[cards] & ~self.buried[cards]]
        self.known[unknown] = True
        shown = cards[alive & self.read[cards]]
        price = self.unseen[What.PRICE, shown] > 0
        stock = (self.unseen[What.STOCK, shown] > 0) & shop.stock_on_card[shown]
        if stores:
            self._settle(What.PRICE, shown, score)
        return Cards(shown, price, stock, unknown, vanished)

    def _settle(self, what: What, products: Ints, score: Score) -> None:
        """Have the copy know what is there."""
        unseen = self.unseen[what, products]
        dirty = products[unseen > 0]
        score.caught[what] += int((self.now - self.last[what, dirty] <= IN_TIME_H).sum())
        score.missed[what] += int((unseen[unseen > 0] - 1).sum())
        self.unseen[what, products] = 0

    def staleness_h(self) -> float:
        """Return how long the copies of products on sale have been wrong, on average."""
        alive = self.alive & self.read
        wrong = self.unseen[:, alive] > 0
        ages = np.where(wrong, self.now - self.since[:, alive], 0).max(axis=0)
        return float(ages.mean())

    def oldest_h(self) -> int:
        """Return the longest that a product which is read and on sale went without a look at its page."""
        alive = self.alive & self.read & ~self.buried
        return int((self.now - self.looked[alive]).max())


def simulate(policy: Policy, shop: Shop, share: float, *, seed: int = 0, every_h: int = 1) -> Score:
    """Run a policy for the shop's whole time with ``share`` of its products a day, split over runs."""
    world, score = World(shop), Score(policy.name, days=shop.sizes.days)
    per_day = round(shop.sizes.products * share)
    policy.start(shop, per_day, seed)
    staleness: Floats = np.zeros(shop.hours // every_h + 1)
    spent, runs = 0, 0
    for hour in range(1, shop.hours):
        world.advance(score)
        if hour % every_h:
            continue
        allowed = per_day * hour // DAY_H - spent
        if isinstance(policy, Listener) and policy.reads_sitemaps and hour % SITEMAP_EVERY_H < every_h and allowed > 0:
            allowed -= 1
            spent += 1
            new, moved, lastmods, left = world.sitemap()
            policy.found(new, hour)
            policy.moved(moved, lastmods, hour)
            policy.left_out(left, hour)
        elif not policy.reads_sitemaps:  # new products are found by what names them, which is then free
            new, *_ = world.sitemap()
            policy.found(new, hour)
        listings, products = policy.choose(hour, max(allowed, 0))
        used = len(listings) + len(products)
        score.late += used > max(allowed, 0)
        spent += used
        if len(listings):
            assert isinstance(policy, Listener), "who reads no cards asks for none"
            policy.listed(world.view(listings, score, stores=policy.stores_prices), hour)
        policy.looked(world.look(products, score), hour)
        staleness[runs] = world.staleness_h()
        score.oldest_h = max(score.oldest_h, world.oldest_h())
        runs += 1
    score.requests = spent
    score.staleness_h = float(staleness[:runs].mean())
    for what in (What.PRICE, What.STOCK, What.CONTENT):
        score.missed[what] += int(np.maximum(world.unseen[what] - 1, 0).sum())
    return score
