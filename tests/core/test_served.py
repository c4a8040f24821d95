"""What a response says of the tier that fetched it."""

from __future__ import annotations

import pytest

from storebot.core.page import Page
from storebot.core.served import (
    Asked,
    Served,
    Verdict,
    by_status,
    of_catalogue,
    of_document,
    of_no_product,
    of_product,
)

TEXT = "<p>Fired twice, glazed by hand, and packed in straw.</p>" * 20
SCRIPT = '<script src="/app.js"></script>'
WHOLE = Page(url="https://shop.example/p/1", body=f"<html><body><h1>Guide</h1>{TEXT}{SCRIPT}</body></html>".encode())
SHELL = Page(url="https://shop.example/p/1", body=f'<html><body><div id="app"></div>{SCRIPT}</body></html>'.encode())
NO_PRICE = Page(
    url="https://shop.example/p/1",
    body=f'<html><body><h1>Mug</h1><b class="price">$0.00</b>{TEXT}{SCRIPT}</body></html>'.encode(),
)


def asked(
    *, renders: bool = False, for_fields: bool = False, proven: bool = False, away: bool = False, gone: str = ""
) -> Asked:
    return Asked(
        renders=renders,
        for_fields=for_fields,
        proven=lambda: proven,
        is_product_url=not away,
        soft_404=lambda: gone,
    )


@pytest.mark.parametrize("status", [304, 404, 410])
def test_stores_word_that_a_page_is_gone_or_as_it_was_is_a_success(status: int) -> None:
    assert by_status(status).verdict is Verdict.ANSWERED


@pytest.mark.parametrize("status", [200, 301, 400, 403, 429, 500, 502, 503])
def test_other_statuses_say_nothing_by_themselves(status: int) -> None:
    assert by_status(status) == Served(Verdict.UNCLEAR)


@pytest.mark.parametrize("status", [426, 505])
def test_server_that_wants_another_http_refuses_the_tier(status: int) -> None:
    assert by_status(status) == Served(Verdict.REFUSED, f"HTTP {status}")


def test_shell_lacks_its_product() -> None:
    served = of_no_product(SHELL, asked())
    assert served == Served(Verdict.LACKS, 'no product, and its scripts fill <div id="app">, which is empty')


def test_shell_is_no_word_of_the_store_whatever_its_head_says() -> None:
    assert of_no_product(SHELL, asked(gone="it calls the home page its true address")).verdict is Verdict.LACKS


def test_page_without_a_product_and_without_a_sign_says_nothing_and_costs_nothing() -> None:
    assert of_no_product(WHOLE, asked()).verdict is Verdict.UNCLEAR


def test_page_without_a_sign_is_worth_a_try_where_scripts_filled_others() -> None:
    assert of_no_product(WHOLE, asked(proven=True)).verdict is Verdict.LACKS
    assert of_no_product(WHOLE, asked(proven=True, gone="it's marked as error404")).verdict is Verdict.ANSWERED
    assert of_no_product(WHOLE, asked(proven=True, away=True)).verdict is Verdict.ANSWERED


def test_tier_that_runs_scripts_and_has_no_product_has_failed() -> None:
    assert of_no_product(WHOLE, asked(renders=True, proven=True)).verdict is Verdict.FAILED
    assert of_no_product(SHELL, asked(renders=True)).verdict is Verdict.LACKS, "it's loading still: another may wait"
    assert of_no_product(WHOLE, asked(renders=True, gone="its title says so")).verdict is Verdict.ANSWERED


def test_product_that_lacks_nothing_was_got() -> None:
    assert of_product(NO_PRICE, (), asked()) == Served(Verdict.GOT)


def test_product_whose_place_for_a_price_is_empty_lacks_it() -> None:
    served = of_product(NO_PRICE, ("price",), asked())
    assert served == Served(Verdict.LACKS, "without price: the place of its price is empty")
    assert of_product(NO_PRICE, ("gtin",), asked()).verdict is Verdict.UNCLEAR, "scripts seldom bring that"


def test_product_that_lacks_a_field_is_worth_a_try_where_scripts_filled_others_but_not_a_second_one() -> None:
    assert of_product(WHOLE, ("gtin",), asked(proven=True)).verdict is Verdict.LACKS
    assert of_product(WHOLE, ("gtin",), asked(proven=True, renders=True)).verdict is Verdict.UNCLEAR
    in_vain = of_product(WHOLE, ("gtin",), asked(proven=True, renders=True, for_fields=True))
    assert in_vain == Served(Verdict.FAILED, "without gtin, as before")


def test_catalogue_page_without_links_lacks_them_only_if_scripts_would_bring_them() -> None:
    assert of_catalogue(WHOLE, 12).verdict is Verdict.GOT
    assert of_catalogue(WHOLE, 0).verdict is Verdict.UNCLEAR, "the end of the catalogue"
    assert of_catalogue(SHELL, 0).verdict is Verdict.LACKS


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (b'<?xml version="1.0"?><urlset/>', Verdict.GOT),
        (b'{"products":[]}', Verdict.GOT),
        (b"\x1f\x8b\x08", Verdict.GOT),
        (b"<!doctype html><html></html>", Verdict.UNCLEAR),
        (b" ", Verdict.UNCLEAR),
        (b"", Verdict.UNCLEAR),
    ],
)
def test_page_for_people_is_no_sitemap(body: bytes, verdict: Verdict) -> None:
    assert of_document(body).verdict is verdict
