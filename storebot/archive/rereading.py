"""A kept page read again: the visit that fetching these very bytes would have made (case K04)."""

from __future__ import annotations

from storebot.core.outcome import Answer, outcome_of
from storebot.core.page import Page
from storebot.core.parsing.reading import IDENTIFYING, Reading, identity, read_product
from storebot.core.record import hashed, normalised, refusal
from storebot.core.validate import validate
from storebot.items import KeptPage, Outcome, Target, Visit
from storebot.stores.model import Store


def page_of(kept: KeptPage) -> Page:
    """Return the page as the parsers saw it when it was fetched."""
    return Page(
        url=kept.final_url,
        requested_url=kept.url,
        body=kept.body,
        status=kept.status,
        headers=kept.headers,
        fetched_at_ms=kept.fetched_at_ms,
        tier=kept.tier,
    )


def read_again(store: Store, page: Page, target: Target) -> Visit:
    """Return the visit of a page at the time that it was fetched, without a request.

    It is ``invalid``, with the reason, where the store's rules of today give no record that can be believed. The page
    goes by the key that it has.
    """
    reading = read_product(page, store.rules)
    outcome, reason = _judged(store, page, target, reading)
    visit = Visit(
        target=target,
        at_ms=page.fetched_at_ms,
        outcome=outcome,
        status=page.status,
        reason=reason,
        tier=page.tier,
        requests=0,
        final_url=page.url,
        final_key=target.url_key,
        etag=page.headers.get("etag"),
        last_modified=page.headers.get("last-modified"),
        page_sha256=page.sha256,
        problems=reading.problems,
        source_hash=reading.source_hash,
    )
    if outcome is None:
        _judge_records(store, visit, reading)
    return visit


def _judged(store: Store, page: Page, target: Target, reading: Reading) -> tuple[Outcome | None, str]:
    """Judge a page whose address was judged when it was fetched."""
    return outcome_of(
        Answer(
            status=page.status,
            url=target.url,
            final_url=page.url,
            redirected=False,
            on_site=True,
            is_product_url=True,
            identified=identity(reading),
            problems=tuple(f"{problem.field}: {problem.reason}" for problem in reading.problems),
            failure=reading.failure,
            tried=store.rules.tried_in_words(*IDENTIFYING),
        )
    )


def _judge_records(store: Store, visit: Visit, reading: Reading) -> None:
    """Do what the pipelines do to a visit."""
    context = store.context(url=visit.final_url, url_key=visit.final_key)
    listings, problems = normalised(reading.extracted, context)
    visit.problems += problems
    if any(listing.disagreements for listing in listings):
        visit.source_hash = ""
    fatal = [one for each in listings for one in validate(each, store.required, visit.problems, store.rules)]
    if fatal:
        visit.outcome, visit.reason = Outcome.INVALID, refusal(fatal)
    else:
        visit.listings, visit.content_hash, visit.details_hash = hashed(listings)
