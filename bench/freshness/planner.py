"""The planner of `storebot.core.planner` as a policy: its columns are what the table of pages holds."""

from __future__ import annotations

import numpy as np

from bench.freshness.shop import DAY_H, Bools, Ints, Shop
from bench.freshness.simulate import Cards, Listener, Looks
from storebot.core.planner.hazard import Flag
from storebot.core.planner.knowledge import CARDS_ENOUGH, Knowledge, Past, moved, observe, observe_card
from storebot.core.planner.scoring import AUDIT, SWEEP, Columns, Lane, choose, expected, hours_to_due, threshold_for


class Planner(Listener):
    """Signals as told, the rest by the index."""

    def __init__(
        self,
        name: str,
        *,
        sitemaps: bool = False,
        listings: bool = False,
        hints: bool = False,
        sweep: float = SWEEP,
        exact: bool = True,
    ) -> None:
        """``hints``: what a card shows is believed only once its page was fetched."""
        self.name, self.reads_sitemaps, self.reads_listings = name, sitemaps, listings or hints
        self.stores_prices = listings
        self.sweep, self.exact = sweep, exact

    def start(self, shop: Shop, per_day: int, seed: int) -> None:
        count = len(shop.born_h)
        self.rng = np.random.default_rng(seed)
        self.per_day = per_day
        self.live = shop.born_h < 0  # known, and not known to be gone
        self.all = Columns(
            looked=np.zeros(count),
            credit=np.zeros(count),
            exposure=np.zeros(count),
            listed=np.zeros(count),
            flag=np.zeros(count, np.int64),
            category=shop.category.astype(np.int64),
            listing=(shop.listing if self.reads_listings else np.full(count, -1)).astype(np.int64),
            value=np.ones(count),
        )
        self.knowledge = Knowledge(reads_sitemaps=self.reads_sitemaps)
        if self.stores_prices:  # the shop's cards always tell the truth: proven before the first day
            self.knowledge.card_pairs = self.knowledge.card_equal = CARDS_ENOUGH
        self.at_sitemap_h = 0
        self.due = np.zeros(count)
        self.picked = dict.fromkeys(Lane, 0)

    def found(self, products: Ints, now: int) -> None:
        self.live[products] = True
        self.all.flag[products] = Flag.NEW
        self.all.looked[products] = now

    def moved(self, products: Ints, lastmods: Ints, now: int) -> None:
        knowledge = self.knowledge
        for product, lastmod in zip(products.tolist(), lastmods.tolist(), strict=True):
            past = self._past(product)
            if moved(past, float(lastmod)):
                self.all.flag[product] = past.flag
                knowledge.bumps += 1
        knowledge.sitemap_page_hours += int(self.live.sum()) * (now - self.at_sitemap_h)
        self.at_sitemap_h = now

    def left_out(self, products: Ints, now: int) -> None:
        self.all.flag[products] = np.maximum(self.all.flag[products], Flag.DIFFERS)

    def choose(self, now: int, budget: int) -> tuple[Ints, Ints]:
        if now % DAY_H == 0:
            self._learn_means()
            if not self.exact:
                self._learn_threshold(float(now))
        live = np.flatnonzero(self.live)
        columns = Columns(**{name: getattr(self.all, name)[live] for name in Columns.__slots__})
        soon = None if self.exact else self._soon_due(live, columns, budget)
        plan = choose(
            columns, self.knowledge, float(now), budget, self.rng, sweep=self.sweep, audit=AUDIT, candidates=soon
        )
        if soon is not None:  # losers are due anew, or they'd clog the head of the queue
            self._set_due(live[soon], float(now))
        self.audits = set(live[plan.lanes[Lane.AUDIT]].tolist())
        for lane, places in plan.lanes.items():
            self.picked[lane] += len(places)
        self.picked[Lane.LISTING] += len(plan.listings)
        return plan.listings, live[np.concatenate(list(plan.lanes.values()))]

    def _soon_due(self, live: Ints, columns: Columns, budget: int) -> Bools:
        """Return the pages that a table with an index on their due date would give: the flagged, and the first due."""
        soon = columns.flag > Flag.NONE
        soon[np.argsort(self.due[live], kind="stable")[: 4 * budget]] = True
        return soon

    def _set_due(self, products: Ints, now: float) -> None:
        columns = Columns(**{name: getattr(self.all, name)[products] for name in Columns.__slots__})
        of = expected(columns, self.knowledge, now)._replace(changed=np.zeros(len(products)))
        self.due[products] = np.maximum(columns.looked + hours_to_due(of, self.knowledge.threshold), now + 1)

    def _learn_means(self) -> None:
        live, columns = self.live, self.all
        credit = np.bincount(columns.category[live], weights=columns.credit[live])
        hours = np.bincount(columns.category[live], weights=columns.exposure[live])
        self.knowledge.learn_means(
            {number: (float(credit[number]), float(hours[number])) for number in range(len(credit))}
        )

    def _learn_threshold(self, now: float) -> None:
        live = np.flatnonzero(self.live)
        columns = Columns(**{name: getattr(self.all, name)[live] for name in Columns.__slots__})
        per_hour = self.per_day / DAY_H * (1 - self.sweep - AUDIT) / 2
        self.knowledge.threshold = threshold_for(columns, self.knowledge, now, per_hour, self.rng)

    def looked(self, looks: Looks, now: int) -> None:
        columns = self.all
        if not self.exact:
            self._set_due(looks.products, float(now))
        for place, product in enumerate(looks.products.tolist()):
            if looks.gone[place]:
                self.live[product] = False
                continue
            if looks.first[place]:
                columns.flag[product], columns.looked[product] = Flag.NONE, now
                continue
            past = self._past(product)
            observe(
                past,
                self.knowledge,
                float(now),
                changed=bool(looks.changed[place]),
                visible=bool(looks.visible[place]),
                audit=product in self.audits,
            )
            self._keep(product, past)

    def listed(self, cards: Cards, now: int) -> None:
        for product, differs in zip(cards.products.tolist(), cards.price_differs.tolist(), strict=True):
            past = self._past(product)
            observe_card(past, self.knowledge, float(now), differs=differs)
            self._keep(product, past)
        columns = self.all
        due = np.concatenate([cards.products[cards.stock_differs], cards.vanished])
        columns.flag[due] = np.maximum(columns.flag[due], Flag.DIFFERS)
        if len(cards.unknown):
            self.found(cards.unknown, now)

    def _past(self, product: int) -> Past:
        columns = self.all
        return Past(
            float(columns.looked[product]),
            float(columns.credit[product]),
            float(columns.exposure[product]),
            float(columns.listed[product]),
            Flag(int(columns.flag[product])),
            int(columns.category[product]),
        )

    def _keep(self, product: int, past: Past) -> None:
        columns = self.all
        columns.looked[product], columns.credit[product] = past.looked_h, past.credit
        columns.exposure[product], columns.listed[product] = past.exposure_h, past.listed_h
        columns.flag[product] = past.flag


class RoundRobin(Listener):
    """The oldest first; with signals, what they name before that."""

    def __init__(self, name: str = "round-robin", *, sitemaps: bool = False, listings: bool = False) -> None:
        self.name, self.reads_sitemaps, self.reads_listings, self.stores_prices = name, sitemaps, listings, listings

    def start(self, shop: Shop, per_day: int, seed: int) -> None:
        self.live = shop.born_h < 0
        self.looked_h = np.arange(len(shop.born_h)) * 1e-6  # ties by number
        self.flagged = np.zeros(len(shop.born_h), bool)
        self.listings = int(shop.listing.max()) + 1
        self.next_listing = 0

    def found(self, products: Ints, now: int) -> None:
        self.live[products] = True
        self.looked_h[products] = now  # at the end of the queue, where nothing says that it is new
        self.flagged[products] = self.reads_sitemaps or self.reads_listings

    def moved(self, products: Ints, lastmods: Ints, now: int) -> None:
        self.flagged[products] = True

    def left_out(self, products: Ints, now: int) -> None:
        self.flagged[products] = True

    def choose(self, now: int, budget: int) -> tuple[Ints, Ints]:
        count = min(budget // 2, self.listings) if self.reads_listings else 0
        views = (self.next_listing + np.arange(count)) % self.listings
        self.next_listing += count
        live = np.flatnonzero(self.live)
        keys = np.where(self.flagged[live], -1.0, 0.0) * 1e9 + self.looked_h[live]
        return views, live[np.argsort(keys, kind="stable")[: budget - count]]

    def looked(self, looks: Looks, now: int) -> None:
        self.looked_h[looks.products] = now
        self.flagged[looks.products] = False
        self.live[looks.products[looks.gone]] = False

    def listed(self, cards: Cards, now: int) -> None:
        self.flagged[cards.products[cards.stock_differs]] = True
        self.flagged[cards.vanished] = True
        if len(cards.unknown):
            self.found(cards.unknown, now)
