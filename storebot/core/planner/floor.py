"""The floor: how old the last look at a page may become at most, and what it takes of a budget to promise that."""

from __future__ import annotations

from math import ceil, inf
from typing import NamedTuple

DAY_H = 24.0


class Floor(NamedTuple):
    """A promise and the means for it. Requests are those of a day."""

    pages: int  # that are to be looked at
    max_age_h: float  # promised
    budget: int
    discovery: float  # of these requests: for sitemaps, robots.txt, the heads of the catalogue
    listings_share: float  # of what is left: the most that catalogue pages may take

    @property
    def for_pages(self) -> float:
        """What is left of a day's budget for product pages."""
        return max((self.budget - self.discovery) * (1 - self.listings_share), 0.0)

    @property
    def sweep(self) -> float:
        """Share of it that has to go to the pages which weren't looked at for the longest time; above 1: impossible."""
        need = self.pages * DAY_H / self.max_age_h
        return need / self.for_pages if self.for_pages > 0 else (inf if need else 0.0)

    @property
    def is_feasible(self) -> bool:
        """Whether the budget keeps the promise."""
        return self.sweep <= 1

    @property
    def shortest_h(self) -> float:
        """The shortest age that this budget can promise, with all of it; infinite where nothing is left for pages."""
        return self.pages * DAY_H / self.for_pages if self.for_pages > 0 else (inf if self.pages else 0.0)

    @property
    def least_budget(self) -> int:
        """The smallest budget that keeps the promise."""
        need = self.pages * DAY_H / self.max_age_h
        return ceil(need / (1 - self.listings_share) + self.discovery - 1e-9)

    def sweep_of_run(self, pages_of_run: float, hours: float) -> float:
        """Return the share for a run that has ``pages_of_run`` requests for pages, where one comes every ``hours``.

        The oldest pages first, and so many that all had their turn in as many runs as fit into the age.
        """
        runs = max(int(self.max_age_h / hours + 1e-9), 1) if hours > 0 else inf
        need = self.pages / runs
        return min(need / pages_of_run, 1.0) if pages_of_run > 0 else (1.0 if need else 0.0)


def refusal(floor: Floor) -> str:
    """Return the sentence for a promise that can't be kept: with the numbers, and what would do."""
    return (
        f"max_age = {days(floor.max_age_h)} can't be promised for {floor.pages:,} pages with {floor.budget:,} requests "
        f"a day: {floor.for_pages:,.0f} of them are left for product pages{_taken(floor)}, and "
        f"{floor.pages * DAY_H / floor.max_age_h:,.0f} would be needed. {_what_would_do(floor)}"
    )


def _taken(floor: Floor) -> str:
    parts = []
    if floor.discovery >= 0.5:
        parts.append(f"{floor.discovery:,.0f} find pages")
    if floor.listings_share:
        parts.append(f"up to {floor.listings_share:.0%} of the others look at the catalogue's pages")
    return f" ({' and '.join(parts)})" if parts else ""


def _what_would_do(floor: Floor) -> str:
    budget = f"budget = {floor.least_budget:,} would do"
    if floor.shortest_h == inf:
        return f"{budget}; with this budget no age can be promised"
    return f"{budget}, or max_age = {days(floor.shortest_h, up=True)} with this budget"


def days(hours: float, *, up: bool = False) -> str:
    """Return an age as a store file writes it, ``14d`` or ``36h``; ``up``: one that isn't shorter."""
    whole = ceil(hours - 1e-9) if up else round(hours)
    if up and whole > 4 * DAY_H:
        return f"{ceil(whole / DAY_H)}d"
    return f"{whole / DAY_H:.0f}d" if whole and not whole % 24 else f"{whole}h"
