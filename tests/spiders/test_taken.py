"""What a request's meta says that its visit has taken."""

from __future__ import annotations

from storebot.items import Spent, Target, Tier, Visit
from storebot.spiders.taken import taken


def test_a_request_that_was_never_sent_took_nothing() -> None:
    found = taken({})
    assert (found["tier"], found["requests"], found["size_bytes"], found["elapsed_ms"]) == ("http", 0, 0, 0)


def test_a_visit_has_what_all_tries_took_and_the_tier_of_the_last() -> None:
    spent = Spent(
        requests=3, size_bytes=9, elapsed_ms=40, browser_ms=30, billed=2, steps=["http: blocked (cloudflare)"]
    )
    visit = Visit(target=Target(store="s", url="u", url_key="k"), at_ms=0, **taken({"spent": spent, "tier": Tier.API}))
    assert (visit.tier, visit.requests, visit.size_bytes, visit.elapsed_ms) == ("api", 3, 9, 40)
    assert (visit.browser_ms, visit.billed, visit.steps) == (30, 2, ("http: blocked (cloudflare)",))
    assert type(visit.tier) is str
