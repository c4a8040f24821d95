"""What a response means before anything is compared."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.outcome import Answer, outcome_of
from storebot.items import Outcome

READ: dict[str, Any] = {
    "status": 200,
    "url": "https://shop.example/p/mug-1",
    "final_url": "https://shop.example/p/mug-1",
    "redirected": False,
    "on_site": True,
    "is_product_url": True,
    "identified": True,
}
SENT_AWAY = {"redirected": True, "final_url": "https://shop.example/mugs", "is_product_url": False}
OFF_SITE = {"redirected": True, "final_url": "https://mall.example/p/mug-1", "on_site": False}


@pytest.mark.parametrize(
    ("facts", "outcome", "reason"),
    [
        ({}, None, ""),
        ({"redirected": True, "final_url": "https://shop.example/p/cup-2"}, None, ""),
        ({"problems": ("price: a remark",)}, None, ""),
        ({"status": 404}, Outcome.MISSING, "HTTP 404"),
        ({"status": 410}, Outcome.MISSING, "HTTP 410"),
        ({"status": 404, **SENT_AWAY}, Outcome.MISSING, "HTTP 404"),
        ({"status": 404, **OFF_SITE}, Outcome.MOVED, "redirects off the site"),  # case R05
        (
            {**SENT_AWAY, "landing": "a list of products"},
            Outcome.MISSING,
            "redirects to https://shop.example/mugs, a l",
        ),
        ({**SENT_AWAY, "soft_404": "it says so", "identified": False}, Outcome.MISSING, "HTTP 200, but it says so"),
        ({"soft_404": "it says so", "identified": False}, Outcome.MISSING, "HTTP 200, but it says so"),
        ({"soft_404": "it says so"}, None, ""),  # positive evidence wins
        ({"soft_404": "it says so", "status": 500, "identified": False}, Outcome.ERROR, "HTTP 500"),
        ({"status": 301}, Outcome.ERROR, "HTTP 301"),
        ({"status": 400}, Outcome.ERROR, "HTTP 400"),
        ({"status": 500}, Outcome.ERROR, "HTTP 500"),
        ({"status": 503, **OFF_SITE}, Outcome.ERROR, "HTTP 503"),
        (OFF_SITE, Outcome.MOVED, "redirects off the site, to https://mall.example/p/mug-1"),
        (SENT_AWAY, Outcome.MOVED, "redirects to https://shop.example/mugs, which product_url doesn't match"),
        ({**SENT_AWAY, "identified": False}, Outcome.MOVED, "redirects to https://shop.example/mugs, which product_"),
        ({"identified": False}, Outcome.INVALID, "no product could be read: no name with a price, availability or SKU"),
        (
            {"identified": False, "problems": ("jsonld: cut off", "x: y")},
            Outcome.INVALID,
            "read: jsonld: cut off; x: y",
        ),
    ],
)
def test_response_means(facts: dict[str, Any], outcome: Outcome | None, reason: str) -> None:
    found, why = outcome_of(Answer(**{**READ, **facts}))
    assert found is outcome
    assert reason in why
    assert bool(why) is (outcome is not None)


@pytest.mark.parametrize("status", [201, 206, 302, 403, 418, 429, 451, 502, 999])
def test_no_status_but_200_is_read_or_taken_for_gone(status: int) -> None:
    assert outcome_of(Answer(**{**READ, "status": status})) == (Outcome.ERROR, f"HTTP {status}")


def test_code_of_the_store_that_broke_makes_a_page_invalid_however_well_the_rest_of_it_reads() -> None:
    assert outcome_of(Answer(**READ, failure="product.py: line 7: KeyError")) == (
        Outcome.INVALID,
        "the page could not be read: product.py: line 7: KeyError",
    )
    moved = outcome_of(Answer(**{**READ, **SENT_AWAY}, failure="product.py: line 7: KeyError"))
    assert moved[0] is Outcome.MOVED


def test_page_without_a_product_says_which_selectors_were_tried() -> None:
    _, reason = outcome_of(Answer(**{**READ, "identified": False}, tried="name: css:h1"))
    assert reason.endswith(" in structured data or selectors (tried name: css:h1)")
