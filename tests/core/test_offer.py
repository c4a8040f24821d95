"""The money of a listing: which currency holds, what is a price, what is refused."""

from __future__ import annotations

import pytest

from storebot.core.offer import Offer, read_offer


def offer(source: str = "jsonld", *, decimal: str | None = None, declared: str | None = None, **values: str) -> Offer:
    return read_offer(values, dict.fromkeys(values, source), decimal=decimal, declared=declared)


def fields(found: Offer) -> list[str]:
    return [problem.field for problem in found.problems]


def test_a_machine_price_takes_the_currency_of_the_page() -> None:
    found = offer(price="140.000", currency="usd", declared="EUR")
    assert (found.price_minor, found.currency, found.problems) == (14000, "USD", [])
    assert found.sources == {"price": "jsonld", "currency": "jsonld"}


def test_a_price_without_a_currency_takes_the_declared_one() -> None:
    found = offer("css:.price", price="51.77", declared="GBP")
    assert (found.price_minor, found.currency, found.sources["currency"]) == (5177, "GBP", "declared")


def test_a_price_without_any_currency_is_refused() -> None:
    found = offer(price="51.77")
    assert (found.price_minor, found.currency, fields(found)) == (None, None, ["price"])
    assert "price" in found.sources


def test_a_template_that_was_never_rendered_is_no_currency() -> None:  # V14
    assert fields(offer(price="5.00", currency="$${product.price.currency}")) == ["currency", "price"]
    found = offer(price="5.00", currency="${currency}", declared="EUR")
    assert (found.price_minor, found.currency, fields(found)) == (500, "EUR", ["currency"])


@pytest.mark.parametrize("text", ["0.00", "0.01", "9999999", "Call for price", "Free!"])
def test_a_placeholder_is_no_price_and_no_reason_to_refuse(text: str) -> None:  # V15
    found = offer("css:.price", price=text, declared="EUR")
    assert (found.price_minor, fields(found)) == (None, ["price"])
    assert "price" not in found.sources


@pytest.mark.parametrize(
    "text",
    [
        "202 Kč/měs.",
        "3 für 10 €",
        "€ 8.30 / kg",
        "You save 5 €",
        "Free shipping over 50 €",
        "€20 €16",
        "see below",
        "3.350",
    ],
)
def test_a_price_that_cannot_be_read_keeps_its_source_for_validation(text: str) -> None:
    found = offer("css:.price", price=text)
    assert (found.price_minor, found.sources.get("price")) == (None, "css:.price")
    assert "price" in fields(found)


def test_a_stock_line_in_the_place_of_the_price_is_no_reason_to_refuse() -> None:  # L04
    found = offer("css:.price", price="Currently unavailable", declared="EUR")
    assert (found.price_minor, fields(found)) == (None, ["price"])
    assert "price" not in found.sources


def test_the_declared_separator_decides_in_text_and_not_in_machine_values() -> None:  # V02
    assert offer("css:.price", price="3.350", declared="EUR", decimal=",").price_minor == 335000
    assert offer("css:.price", price="3.350", declared="EUR", decimal=".").price_minor == 335
    assert offer("jsonld", price="3.350", declared="EUR", decimal=",").price_minor == 335


def test_a_price_in_another_currency_than_the_page_says_is_flagged() -> None:
    found = offer("css:.price", price="€ 5.00", declared="GBP")
    assert (found.price_minor, found.currency, fields(found)) == (500, "EUR", ["currency"])
    assert found.disagreements[0].values == {"css:.price": "EUR", "declared": "GBP"}


def test_a_sign_that_cannot_be_the_declared_currency_is_refused() -> None:
    found = offer("css:.price", price="$5.00", declared="EUR")
    assert (found.price_minor, found.currency) == (None, None)
    assert "price" in found.sources


def test_a_range_gives_its_ends_and_no_price() -> None:  # X08
    found = offer(price_min="$1,250", price_max="$1495", currency="USD")
    assert (found.price_minor, found.price_min_minor, found.price_max_minor) == (None, 125000, 149500)
    found = offer("css:.price", price="£6.95 – £9.95")
    assert (found.price_minor, found.price_min_minor, found.price_max_minor, found.currency) == (None, 695, 995, "GBP")
    found = offer("css:.price", price="from $349", declared="USD")
    assert (found.price_minor, found.price_min_minor, found.problems) == (None, 34900, [])


def test_a_range_of_one_amount_is_a_price() -> None:
    found = offer(price_min="5.00", price_max="5", currency="EUR")
    assert (found.price_minor, found.sources["price"]) == (500, "jsonld")


def test_ends_in_the_wrong_order_are_dropped() -> None:
    found = offer(price="7", price_min="9", price_max="5", currency="EUR")
    assert (found.price_minor, found.price_min_minor, found.price_max_minor) == (700, None, None)
    assert fields(found) == ["price_min"]


@pytest.mark.parametrize(
    ("regular", "minor", "problems"),
    [("955", 95500, []), ("764", None, []), ("700", None, ["regular_price"]), ("0", None, [])],
)
def test_a_regular_price_is_above_the_price(regular: str, minor: int | None, problems: list[str]) -> None:  # V10
    found = offer(price="764", regular_price=regular, currency="CZK")
    assert (found.price_minor, found.regular_price_minor, fields(found)) == (76400, minor, problems)


def test_more_decimals_than_the_currency_has_are_rounded_and_said() -> None:
    found = offer(price="24.785", currency="EUR")
    assert (found.price_minor, fields(found)) == (2479, ["price"])
    assert "rounded" in found.problems[0].reason


def test_an_amount_beyond_64_bits_is_refused() -> None:
    found = offer(price="999999999999999", currency="CLF", regular_price="1")
    assert (found.price_minor, fields(found)[:1]) == (None, ["price"])


def test_a_currency_alone_is_kept() -> None:
    assert offer(currency="EUR").currency == "EUR"
