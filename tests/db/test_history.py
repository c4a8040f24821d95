"""The history of a page's listings, and that it's never rewritten."""

from __future__ import annotations

import re
from pathlib import Path

from storebot.core.history import MISSING, OBSERVED, UNOBSERVED
from storebot.db.database import Database
from storebot.db.history import history
from storebot.db.schema import offers
from storebot.items import Outcome
from tests.db.shop import NOW, STORE, Worker, listing, parsed, unparsed

KEY = "https://shop.example/p/1"
_REWRITES = re.compile(r"(?:update|delete)\(offers\b[^\n]*\)(?=\))|offers\.(?:update|delete)\(")
PACKAGE = Path(__file__).resolve().parents[2] / "storebot"


def test_each_listing_has_its_looks_and_its_prices(database: Database) -> None:
    shop = Worker(database)
    shop.known("1", listings=[listing(variant_id="S"), listing(variant_id="L", price_minor=5)])
    for at, outcome in ((1, Outcome.BLOCKED), (2, Outcome.NOT_MODIFIED), (3, Outcome.MISSING)):
        shop.save(unparsed(shop.due()[0], outcome, NOW + at, status=200))
    small, large = listing(variant_id="S", price_minor=1), listing(variant_id="L", price_minor=5)
    shop.save(parsed(shop.due()[0], small, large, at=NOW + 4))
    with database.read() as conn:
        found = history(conn, STORE, KEY)
    kinds = [OBSERVED, UNOBSERVED, OBSERVED, MISSING, OBSERVED]
    assert {variant: [one.kind for one in spans] for variant, spans in found.items()} == {"S": kinds, "L": kinds}
    prices = {variant: [one.offer.price_minor for one in spans if one.offer] for variant, spans in found.items()}
    assert prices == {"S": [1999, 1999, 1], "L": [5, 5, 5]}


def test_a_page_that_moved_has_one_history_by_whichever_key(database: Database) -> None:
    shop = Worker(database)
    shop.known("1", "2")
    first, second = sorted(shop.due(), key=lambda target: target.url)
    shop.save(parsed(first, at=NOW + 1, final_url=second.url, final_key=second.url_key), parsed(second, at=NOW + 2))
    with database.read() as conn:
        by_old, by_new = history(conn, STORE, KEY), history(conn, STORE, second.url_key)
        assert history(conn, STORE, "https://shop.example/p/none") == {}
    assert by_old == by_new
    assert sum(span.looks for span in by_new[""]) == 4


def test_no_outcome_rewrites_or_removes_an_offer(database: Database) -> None:
    """The series is append-only, whatever happens to its page."""
    shop = Worker(database, error_backoff_ms=0)
    shop.known("1")
    before = shop.rows(offers)
    for at, outcome in enumerate(Outcome, start=1):
        (target,) = shop.due()
        if outcome.seen:
            shop.save(parsed(target, listing(price_minor=at * 100), at=NOW + at))
        elif outcome is not Outcome.HELD:
            shop.save(unparsed(target, outcome, NOW + at, status=404))
        else:
            shop.save(unparsed(target, Outcome.ERROR, NOW + at))
        after = shop.rows(offers)
        assert after[: len(before)] == before
        before = after
    assert len(before) == 5


def test_the_code_updates_offers_only_to_hand_a_series_on_and_never_deletes_any() -> None:
    """`moves.inherit` gives a series to the page that its page became; what was seen, and when, stays as it was."""
    found = [
        (path.stem, match[0])
        for path in sorted(PACKAGE.rglob("*.py"))
        for match in _REWRITES.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == [("moves", "update(offers).where(series).values(page_id=into_id, variant_id=new)")]
