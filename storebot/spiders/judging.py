"""What a response to a product's address means, put together from the page, its store and where it came from."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from storebot.core.media import not_a_page
from storebot.core.outcome import Answer, evidence_of, outcome_of
from storebot.core.page import Page
from storebot.core.parsing.reading import IDENTIFYING, Reading, identity
from storebot.core.soft404 import landing, soft_404, stray_hash
from storebot.core.urls import same_site
from storebot.items import Outcome, Target
from storebot.stores.model import Store


class Judged(NamedTuple):
    """What one response means; ``outcome`` None: the page was read."""

    outcome: Outcome | None = None
    reason: str = ""
    evidence: str = ""  # where the product is missing
    stray_hash: str = ""  # where no product is on the page


def judged(
    store: Store, target: Target, page: Page, final_key: str, reading: Reading | None, strays: Collection[str]
) -> Judged:
    """Judge a page that isn't simply the product that was asked for. ``strays`` are as `soft_404` takes them."""
    redirected = final_key != target.url_key
    on_site = same_site(page.url, store.base_url, store.keys.aliases)
    is_product_url = bool(store.product_pattern.search(page.url))
    identified = reading is not None and identity(reading)
    readable = page.status == 200 and on_site
    led_away = readable and redirected and not is_product_url
    medium = "" if identified else not_a_page(page.body, page.headers.get("content-type", ""))
    answer = Answer(
        status=page.status,
        url=target.url,
        final_url=page.url,
        redirected=redirected,
        on_site=on_site,
        is_product_url=is_product_url,
        identified=identified,
        problems=tuple(f"{problem.field}: {problem.reason}" for problem in reading.problems) if reading else (),
        failure=reading.failure if reading else "",
        tried=store.rules.tried_in_words(*IDENTIFYING),
        medium=medium,
        soft_404=soft_404(page, store.base_url, strays) if readable and not identified and not medium else "",
        landing=_landing(store, target, page, final_key) if led_away else "",
    )
    outcome, reason = outcome_of(answer)
    evidence = evidence_of(answer).value if outcome is Outcome.MISSING else ""
    strays_here = readable and not identified and not medium and outcome in (Outcome.MISSING, Outcome.INVALID)
    return Judged(outcome, reason, evidence, stray_hash(page) if strays_here else "")


def _landing(store: Store, target: Target, page: Page, final_key: str) -> str:
    return landing(target.url, page, store.base_url, store.product_pattern, store.catalogue_keys, final_key)
