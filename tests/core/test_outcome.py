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
