"""What a fetch costs, by the prices of the store file: whole millionths, and to the last of them what the sum costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from storebot.items import Expense, Spent, Tier

MICRO = 1_000_000
_NANO = 1_000_000_000
MAX_DECIMALS = 9  # of a price
# What a price is multiplied by, so that all of them are whole: a GB is 10^9 bytes, an hour 3.6 million ms, and the
# least common multiple of the two is 9 * 10^9.
_EACH, _PER_BYTE, _PER_MS = 9_000_000_000, 9, 2_500
_SCALE = _EACH * (_NANO // MICRO)  # to the millionth


class Prices(NamedTuple):
    """What a tier costs, in billionths of a unit of the currency; nought where the store file names no price."""

    per_request: int = 0
    per_gb: int = 0
    per_browser_hour: int = 0
    per_call: int = 0


def nano(amount: Decimal) -> int:
    """Return an amount in billionths. Raises `ValueError` for one with more than nine decimals."""
    scaled = amount.scaleb(MAX_DECIMALS)
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{amount} has more than {MAX_DECIMALS} decimals")
    return int(scaled)


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The prices of a store's tiers. A tier that isn't in it isn't priced, and costs nothing."""

    currency: str = ""
    tiers: Mapping[Tier, Prices] = field(default_factory=dict)

    def currency_of(self, tier: Tier) -> str:
        """Return the currency that a tier is paid in, "" for one that isn't priced."""
        return self.currency if tier in self.tiers else ""

    def scaled(self, tier: Tier, expense: Expense) -> int:
        """Return the exact price of what a tier took, in parts of which `_SCALE` are a millionth."""
        prices = self.tiers.get(tier)
        if prices is None:
            return 0
        return (
            (expense.requests * prices.per_request + expense.billed * prices.per_call) * _EACH
            + expense.size_bytes * prices.per_gb * _PER_BYTE
            + expense.browser_ms * prices.per_browser_hour * _PER_MS
        )

    def estimate(self, tier: Tier, expense: Expense) -> int:
        """Return the price of what a tier is expected to take, in millionths, rounded up."""
        return -(-self.scaled(tier, expense) // _SCALE)


class Sum:
    """Expenses added up in place: an `Expense` made anew for each page would be most of what counting costs."""

    __slots__ = ("_amounts",)

    def __init__(self) -> None:
        self._amounts = [0] * len(Expense._fields)

    def add(self, expense: Expense) -> None:
        """Add one."""
        for place, amount in enumerate(expense):
            if amount:
                self._amounts[place] += amount

    def take(self, expense: Expense) -> None:
        """Take one away."""
        for place, amount in enumerate(expense):
            if amount:
                self._amounts[place] -= amount

    @property
    def value(self) -> Expense:
        """What is left of them together."""
        return Expense(*self._amounts)


class Ledger:
    """Puts a price to each try of a run. What is less than a millionth is carried over to the next, not lost."""

    def __init__(self, table: PriceTable) -> None:
        self.table = table
        self._total = Sum()
        self._carried = 0

    @property
    def total(self) -> Expense:
        """What all tries took."""
        return self._total.value

    def charge(self, tier: Tier, spent: Spent) -> Expense:
        """Return what a visit has spent since it was charged last, all of it by ``tier``, and note it in ``spent``."""
        took = Expense(spent.requests, spent.size_bytes, spent.elapsed_ms, spent.browser_ms, spent.billed)
        for earlier in spent.by_tier.values():
            took = took.minus(earlier)._replace(cost_micro=0)
        if tier in self.table.tiers:
            cost, self._carried = divmod(self._carried + self.table.scaled(tier, took), _SCALE)
            took = took._replace(cost_micro=cost)
        before = spent.by_tier.get(tier)
        spent.by_tier[tier] = took if before is None else before.plus(took)
        self._total.add(took)
        return took


def money(cost_micro: int) -> str:
    """Return an amount as text: cents at least, and as many decimals as it has."""
    whole, rest = divmod(cost_micro, MICRO)
    decimals = f"{rest:06}".rstrip("0").ljust(2, "0")
    return f"{whole}.{decimals}"
