"""What was spent, for a person and for a script."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.budget import Limits, Use
from storebot.core.cost_report import CostReport, Line, PageCost, as_json, group, of_pages, render
from storebot.core.costs import Prices, PriceTable
from storebot.items import Expense, Tier

LINES = [
    Line("acme", 20_000, "http", "sitemap", "", 0, Expense(2, 8_000)),
    Line("acme", 20_000, "http", "product", "", 10, Expense(11, 500_000)),
    Line("acme", 20_000, "api", "product", "EUR", 3, Expense(4, 90_000, billed=4, cost_micro=8_400)),
    Line("acme", 20_001, "api", "product", "EUR", 1, Expense(1, 30_000, billed=1, cost_micro=2_100)),
    Line("mugs", 20_001, "browser", "product", "USD", 2, Expense(44, 900_000, browser_ms=90_000, cost_micro=2_250)),
]
ACME = PriceTable("EUR", {Tier.API: Prices(per_call=2_100_000)})


def report(by: str = "tier", store: str | None = "acme", lines: list[Line] | None = None) -> CostReport:
    spent = LINES[:4] if lines is None else lines
    return CostReport(
        store=store,
        period="2026-07",
        rows=group(spent, by),
        spent=spent,
        prices=ACME if store else None,
        failed_calls=2,
        budget=Use(Limits(requests=20, cost_micro=20_000), "2026-07", "EUR", Expense(18, cost_micro=10_500)),
        passed=0.25,
    )


def test_a_store_by_tier_is_a_table_with_what_it_means_below() -> None:
    assert render(report()) == (
        "acme, 2026-07 (UTC)\n"
        "\n"
        "tier  page type  visits  requests   bytes  calls billed        cost  share\n"
        "────  ─────────  ──────  ────────  ──────  ────────────  ──────────  ─────\n"
        "http  product        10        11  500 KB             0           -      -\n"
        "http  sitemap         0         2  8.0 KB             0           -      -\n"
        "api   product         4         5  120 KB             5  0.0105 EUR   100%\n"
        "\n"
        "total: 14 visits, 18 requests, 628 KB, 0.0105 EUR\n"
        "prices: api 0.0021 EUR a call\n"
        "not priced when it was fetched, so counted as free: http (13 requests); see [costs] of the store file\n"
        "of 5 billed calls 2 were for pages that weren't had by them\n"
        "budget: 18 of 20 requests of 2026-07 (90%), 0.0105 of 0.02 EUR of 2026-07 (52%); "
        "25% of the month has passed"
    )


def test_stores_stand_beside_each_other_and_currencies_are_not_added() -> None:
    text = render(report("store", None, LINES))
    assert "total: 16 visits, 62 requests, 1.5 MB, 0.0105 EUR and 0.00225 USD" in text
    assert "mugs" in text.splitlines()[6]
    assert "1.5" in text.splitlines()[6]
    assert "100%" in text.splitlines()[6]


def test_days_are_dates() -> None:
    assert [row.about for row in group(LINES[1:4], "day")] == [
        {"day (UTC)": "2024-10-04"},
        {"day (UTC)": "2024-10-04"},
        {"day (UTC)": "2024-10-05"},
    ]


def test_where_nothing_costs_anything_the_share_is_one_of_requests() -> None:
    free = render(report(lines=LINES[:2]))
    assert "cost" not in free.splitlines()[2]
    assert [line.split()[-1] for line in free.splitlines()[4:6]] == ["85%", "15%"]


def test_nothing_is_said_so() -> None:
    assert render(report(lines=[])) == "acme, 2026-07 (UTC): nothing was spent"


def test_addresses_are_told_with_their_tiers_and_failures() -> None:
    pages = [PageCost("https://acme.example/p/1", "product", "http, api", 3, 1, Expense(5, 10, cost_micro=4_200))]
    (row,) = of_pages(pages, "EUR")
    assert row.about == {"url": "https://acme.example/p/1", "tier": "http, api", "failed": "1"}
    assert (row.visits, row.currency, row.expense.cost_micro) == (3, "EUR", 4_200)


def test_json_has_the_same_and_money_as_text() -> None:
    found = as_json(report())
    assert {name: found[name] for name in ("store", "period", "visits", "requests", "bytes", "cost_micro", "cost")} == {
        "store": "acme",
        "period": "2026-07",
        "visits": 14,
        "requests": 18,
        "bytes": 628_000,
        "cost_micro": 10_500,
        "cost": {"EUR": "0.0105"},
    }
    assert found["prices"] == {"api": {"currency": "EUR", "per_call": "0.0021"}}
    assert found["unpriced_requests"] == {"http": 13}
    assert found["budget"]["cost_micro"] == {"spent": 10_500, "limit": 20_000}
    assert [(row["tier"], row["page_type"], row["cost"], row["currency"]) for row in found["rows"]] == [
        ("http", "product", None, None),
        ("http", "sitemap", None, None),
        ("api", "product", "0.0105", "EUR"),
    ]


lines_of = st.builds(
    Line,
    st.sampled_from(["acme", "mugs"]),
    st.integers(20_000, 20_003),
    st.sampled_from([tier.value for tier in Tier]),
    st.sampled_from(["product", "sitemap", "robots"]),
    st.sampled_from(["", "EUR", "USD"]),
    st.integers(0, 9),
    st.builds(Expense, *[st.integers(0, 99)] * 6),
)


@given(st.lists(lines_of, max_size=20), st.sampled_from(["store", "tier", "day"]))
def test_rows_add_up_to_what_was_spent_however_they_are_grouped(lines: list[Line], by: str) -> None:
    whole = report(by, lines=lines)
    rows = whole.rows
    assert sum(row.visits for row in rows) == whole.visits
    total = Expense()
    for row in rows:
        total = total.plus(row.expense)
    assert total == whole.total
    assert len({(*row.about.values(), row.currency) for row in rows}) == len(rows)
    assert len(render(whole).splitlines()) >= len(rows)
