"""What others do without signals: intervals that adapt, estimated rates with the best frequencies, perfect rates."""

from __future__ import annotations

import numpy as np

from bench.freshness.shop import DAY_H, Floats, Ints, Shop
from bench.freshness.simulate import Looks, Policy
from storebot.core.planner.scoring import Expected, index


class Queue(Policy):
    """Fetches whatever has the highest key, products that are new at the end of the queue."""

    def start(self, shop: Shop, per_day: int, seed: int) -> None:
        count = len(shop.born_h)
        self.per_day = per_day
        self.live = shop.born_h < 0
        self.looked_h: Floats = np.arange(count).astype(np.float64) * 1e-6

    def found(self, products: Ints, now: int) -> None:
        self.live[products] = True
        self.looked_h[products] = now

    def keys(self, products: Ints, now: int) -> Floats:
        """Return how urgent products are; the highest first."""
        return now - self.looked_h[products]

    def choose(self, now: int, budget: int) -> tuple[Ints, Ints]:
        live = np.flatnonzero(self.live)
        order = np.argsort(-self.keys(live, now), kind="stable")[:budget]
        return np.empty(0, np.int64), live[order]

    def looked(self, looks: Looks, now: int) -> None:
        self.learn(looks, now)
        self.looked_h[looks.products] = now
        self.live[looks.products[looks.gone]] = False

    def learn(self, looks: Looks, now: int) -> None:
        """Take in whether pages had changed."""


class Adaptive(Queue):
    """Multiplies a page's interval by 0.8 when it changed and by 1.4 when it didn't, the defaults of Apache Nutch.

    With a fixed budget the queue goes by relative lateness.
    """

    name = "Nutch-style intervals"

    def start(self, shop: Shop, per_day: int, seed: int) -> None:
        super().start(shop, per_day, seed)
        self.interval_h: Floats = np.full(len(shop.born_h), shop.sizes.products / per_day * DAY_H)

    def keys(self, products: Ints, now: int) -> Floats:
        lateness: Floats = (now - self.looked_h[products]) / self.interval_h[products]
        return lateness

    def learn(self, looks: Looks, now: int) -> None:
        factor = np.where(looks.changed, 0.8, 1.4)
        self.interval_h[looks.products] = np.clip(self.interval_h[looks.products] * factor, 1.0, 365.0 * DAY_H)


class Estimated(Queue):
    """The estimator of Cho and Garcia-Molina, and the frequencies that make the copy freshest for these rates."""

    name = "Cho estimator + KKT"

    def start(self, shop: Shop, per_day: int, seed: int) -> None:
        super().start(shop, per_day, seed)
        count = len(shop.born_h)
        self.visits, self.changes, self.watched_h = np.zeros(count), np.zeros(count), np.zeros(count)
        self.per_hour: Floats = np.full(count, per_day / shop.sizes.products / DAY_H)

    def keys(self, products: Ints, now: int) -> Floats:
        if now % DAY_H == 0:
            self._solve()
        lateness: Floats = (now - self.looked_h[products]) * self.per_hour[products]
        return lateness

    def learn(self, looks: Looks, now: int) -> None:
        self.visits[looks.products] += 1
        self.changes[looks.products] += looks.changed
        self.watched_h[looks.products] += now - self.looked_h[looks.products]

    def _solve(self) -> None:
        live = np.flatnonzero(self.live)
        visits, changes = self.visits[live], self.changes[live]
        gap = np.maximum(self.watched_h[live], 1.0) / np.maximum(visits, 1.0)
        rate = -np.log((visits - changes + 0.5) / (visits + 0.5)) / gap
        usual = max(float(rate[visits > 0].mean()), 1e-5) if visits.any() else 1e-3
        rate = np.where(visits > 0, np.maximum(rate, 1e-5), usual)
        self.per_hour[live] = best_frequencies(rate, self.per_day / DAY_H)


def best_frequencies(rate: Floats, total: float) -> Floats:
    """Return visits an hour, ``total`` together, that keep most copies fresh: pages that change too fast get none.

    At the optimum all have the same marginal gain (1 - e^-x (1 + x)) / rate, x = rate / frequency.
    """
    low, high = 0.0, float(1 / rate.min())
    x = np.empty_like(rate)
    for _ in range(50):
        price = (low + high) / 2
        x = _solve_gain(np.minimum(price * rate, 1.0))
        frequency = np.where(price * rate >= 1, 0.0, rate / x)
        low, high = (price, high) if frequency.sum() > total else (low, price)
    return np.maximum(np.where(high * rate >= 1, 0.0, rate / _solve_gain(np.minimum(high * rate, 1.0))), 1e-9)


def _solve_gain(gain: Floats) -> Floats:
    """Return x with 1 - e^-x (1 + x) = gain."""
    low, high = np.zeros_like(gain), np.full_like(gain, 60.0)
    for _ in range(50):
        middle = (low + high) / 2
        below = 1 - np.exp(-middle) * (1 + middle) < gain
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.maximum(high, 1e-9)


class Oracle(Queue):
    """Knows every page's true mean rate, and nothing of when: what scheduling by rates alone can reach."""

    name = "oracle of mean rates"

    def start(self, shop: Shop, per_day: int, seed: int) -> None:
        super().start(shop, per_day, seed)
        end = np.minimum(shop.gone_h, shop.hours)
        hours = np.maximum(end - np.maximum(shop.born_h, 0), DAY_H)
        counts = np.bincount(shop.event_product, minlength=len(hours))
        rate = np.maximum(counts / hours, 1e-5)
        nothing = np.zeros(len(rate))
        self.of = Expected(rate, rate, rate, nothing, np.ones(len(rate)))

    def keys(self, products: Ints, now: int) -> Floats:
        of = Expected(*(column[products] for column in self.of))
        return index(of, now - self.looked_h[products])
