"""What a store, or all of them, spent in a month or ever, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from storebot.core.budget import Limits, Use
from storebot.core.costs import Prices, PriceTable, money
from storebot.core.month import day_name
from storebot.core.sizes import size
from storebot.core.summary import table
from storebot.items import Expense, Tier

_NANO_DECIMALS = 9
_PRICED = {"per_request": "a request", "per_gb": "a GB", "per_browser_hour": "a browser hour", "per_call": "a call"}


class Line(NamedTuple):
    """What one store spent on one day on one type of page by one tier; ``currency`` "" where that wasn't priced."""

    store: str
    day: int  # days since the epoch, UTC
    tier: str
    page_type: str
    currency: str
    visits: int
    expense: Expense


class PageCost(NamedTuple):
    """What the visits of one address took."""

    url: str
    page_type: str
    tiers: str  # by which they ended, apart by commas
    visits: int
    failed: int  # of the visits, that observed nothing
    expense: Expense


class Row(NamedTuple):
    """One row: what it is about, by column, and what that took."""

    about: Mapping[str, str]
    visits: int
    currency: str
    expense: Expense


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """All that is shown. ``spent`` is the whole of what ``rows`` are a view of; ``budget`` is that of the month."""

    store: str | None
    period: str  # "2026-07", or "ever"
    rows: Sequence[Row]
    spent: Sequence[Line]
    prices: PriceTable | None  # None: no single store, or one without a file
    failed_calls: int
    budget: Use | None = None
    passed: float = 0.0  # share of the month

    @property
    def total(self) -> Expense:
        """Everything together; its money is only a sum where there is one currency."""
        return _sum(line.expense for line in self.spent)

    @property
    def visits(self) -> int:
        """Visits of product pages."""
        return sum(line.visits for line in self.spent)

    @property
    def paid(self) -> dict[str, int]:
        """Money by currency, in millionths."""
        found: dict[str, int] = {}
        for line in self.spent:
            if line.currency:
                found[line.currency] = found.get(line.currency, 0) + line.expense.cost_micro
        return found

    @property
    def unpriced(self) -> dict[str, int]:
        """Requests by tier for which no price was known."""
        found: dict[str, int] = {}
        for line in self.spent:
            if not line.currency:
                found[line.tier] = found.get(line.tier, 0) + line.expense.requests
        return found


def group(lines: Iterable[Line], by: str) -> list[Row]:
    """Return the lines added up by ``store``, ``tier`` (and page type) or ``day``, money of each currency apart."""
    about = _ABOUT[by]
    found: dict[tuple[tuple[str, str], ...], Row] = {}
    for line in lines:
        named = about(line)
        key = (*named.items(), ("", line.currency))
        before = found.get(key) or Row(named, 0, line.currency, Expense())
        found[key] = Row(named, before.visits + line.visits, line.currency, before.expense.plus(line.expense))
    if by != "tier":
        return list(found.values())
    return sorted(found.values(), key=lambda row: (_BY_COST.index(row.about["tier"]), -row.expense.requests))


def of_pages(pages: Iterable[PageCost], currency: str) -> list[Row]:
    """Return the pages as rows."""
    return [
        Row(
            {"url": page.url, "tier": page.tiers, "failed": str(page.failed)},
            page.visits,
            currency,
            page.expense,
        )
        for page in pages
    ]


_BY_COST = [tier.value for tier in Tier]
_ABOUT: dict[str, Callable[[Line], dict[str, str]]] = {
    "store": lambda line: {"store": line.store},
    "tier": lambda line: {"tier": line.tier, "page type": line.page_type},
    "day": lambda line: {"day (UTC)": day_name(line.day)},
}


def render(report: CostReport) -> str:
    """Return the report for a person."""
    title = f"{report.store or 'all stores'}, {report.period} (UTC)"
    if not report.rows:
        return f"{title}: nothing was spent"
    return "\n".join([title, "", _table(report), "", *_notes(report)])


def _table(report: CostReport) -> str:
    total, paid = report.total, report.paid
    names = list(report.rows[0].about)
    browser, billed = total.browser_ms > 0, total.billed > 0
    headers = [*names, "visits", "requests", "bytes"]
    headers += ["browser min"] * browser + ["calls billed"] * billed + ["cost"] * bool(paid) + ["share"]
    rows = [_cells(row, report, browser=browser, billed=billed) for row in report.rows]
    return table(headers, rows)


def _cells(row: Row, report: CostReport, *, browser: bool, billed: bool) -> list[str]:
    took = row.expense
    cells = [*row.about.values(), str(row.visits), str(took.requests), size(took.size_bytes)]
    cells += [f"{took.browser_ms / 60_000:.1f}"] * browser + [str(took.billed)] * billed
    cells += [f"{money(took.cost_micro)} {row.currency}" if row.currency else "-"] * bool(report.paid)
    return [*cells, _share(row, report)]


def _share(row: Row, report: CostReport) -> str:
    """Return a row's share of the money in its currency; where nothing costs anything, of the requests."""
    whole = report.paid.get(row.currency) if report.paid else report.total.requests
    part = row.expense.cost_micro if report.paid else row.expense.requests
    return f"{part / whole:.0%}" if whole else "-"


def _notes(report: CostReport) -> list[str]:
    total = report.total
    paid = " and ".join(f"{money(micro)} {currency}" for currency, micro in report.paid.items())
    notes = [
        f"total: {report.visits:,} visits, {total.requests:,} requests, {size(total.size_bytes)}"
        + (f", {paid}" if paid else "")
    ]
    if report.prices is not None:
        notes.append(f"prices: {_prices(report.prices)}")
    if report.unpriced:
        tiers = ", ".join(f"{tier} ({requests:,} requests)" for tier, requests in report.unpriced.items())
        notes.append(f"not priced when it was fetched, so counted as free: {tiers}; see [costs] of the store file")
    if total.billed:
        failed = f"{report.failed_calls:,} were for pages that weren't had by them"
        notes.append(f"of {total.billed:,} billed calls {failed}")
    if report.budget is not None and report.budget.limits.any:
        shares = report.budget.limits.shares(report.budget.spent)
        spent = ", ".join(f"{report.budget.sentence(name)} ({share:.0%})" for name, share in shares.items())
        notes.append(f"budget: {spent}; {report.passed:.0%} of the month has passed")
    return notes


def _prices(prices: PriceTable) -> str:
    """Return the price table as a part of a sentence."""
    if not prices.tiers:
        return "none in the store file, so all is counted as free"
    named = (f"{tier.value} {text}" for tier, one in prices.tiers.items() for text in _texts(one, prices.currency))
    return ", ".join(named)


def _texts(prices: Prices, currency: str) -> list[str]:
    named = zip(prices._fields, prices, strict=True)
    return [f"{_amount(price)} {currency} {_PRICED[name]}" for name, price in named if price] or ["free"]


def _amount(nano: int) -> str:
    whole, rest = divmod(nano, 10**_NANO_DECIMALS)
    return f"{whole}.{f'{rest:09}'.rstrip('0').ljust(2, '0')}"


def as_json(report: CostReport) -> dict[str, Any]:
    """Return the report as one object; money is text."""
    prices = report.prices
    return {
        "store": report.store,
        "period": report.period,
        "visits": report.visits,
        **_plain(report.total),
        "cost": {currency: money(micro) for currency, micro in report.paid.items()},
        "failed_calls": report.failed_calls,
        "unpriced_requests": report.unpriced,
        "prices": None
        if prices is None
        else {
            tier.value: {
                "currency": prices.currency,
                **{name: _amount(price) for name, price in one._asdict().items() if price},
            }
            for tier, one in prices.tiers.items()
        },
        "budget": _budget(report),
        "rows": [
            {
                **{name.partition(" (")[0].replace(" ", "_"): value for name, value in row.about.items()},
                "visits": row.visits,
                **_plain(row.expense),
                "cost": money(row.expense.cost_micro) if row.currency else None,
                "currency": row.currency or None,
            }
            for row in report.rows
        ],
    }


def _plain(expense: Expense) -> dict[str, int]:
    return {"bytes" if name == "size_bytes" else name: value for name, value in expense._asdict().items()}


def _budget(report: CostReport) -> dict[str, dict[str, int]]:
    limits, spent = (report.budget.limits, report.budget.spent) if report.budget else (Limits(), Expense())
    return {name: {"spent": getattr(spent, name), "limit": limit} for name, limit in limits.each()}


def _sum(expenses: Iterable[Expense]) -> Expense:
    total = Expense()
    for expense in expenses:
        total = total.plus(expense)
    return total
