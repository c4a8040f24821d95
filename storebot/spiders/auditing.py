"""Whether a server that answered 304 tells the truth: asked again of pages that were picked at random (case C05)."""

from __future__ import annotations

from typing import Any

from scrapy.http import Request

from storebot.core.planner.lanes import Lane
from storebot.items import Target, Tier, Visit
from storebot.spiders.taken import taken

_CONDITIONAL_TIERS = (Tier.HTTP.value, Tier.HTTP2.value)


def validators(target: Target) -> dict[str, str]:
    """Return the headers of a conditional request: what is known of a page that a committed parse stands behind."""
    known = {"If-None-Match": target.etag, "If-Modified-Since": target.last_modified}
    return {name: value for name, value in known.items() if value}


def may_be_conditional(target: Target) -> bool:
    """Whether a page may be asked for conditionally: an audit looks at the page itself."""
    return target.lane != Lane.AUDIT


def is_doubtful(visit: Visit) -> bool:
    """Whether a page that was fetched in full shows that its last 304 may have been a lie.

    It was believed, and now the server gives other validators. Asked by those that were known it must say 200; says it
    304, it says so to anybody. Where it gives the same validators, its record decides: `storebot.db.learning`.
    """
    target = visit.target
    if target.lane != Lane.AUDIT or visit.outcome is not None or visit.tier not in _CONDITIONAL_TIERS:
        return False
    believed = target.fetched_at < target.checked_at
    moved = visit.etag != target.etag if target.etag else visit.last_modified != target.last_modified
    return believed and bool(validators(target)) and moved and visit.final_key == target.url_key


def settle(visit: Visit, meta: dict[str, Any], *, false_304: bool) -> Visit:
    """Return the visit with what asking again has shown, and taken."""
    visit.false_304 = false_304
    for name, value in taken(meta).items():
        setattr(visit, name, value)
    return visit


def question(visit: Visit, request: Request) -> Request:
    """Return the request that asks again, by what was known; callback and errback are the caller's."""
    return request.replace(
        url=visit.target.url,
        headers=validators(visit.target),
        meta={**{name: request.meta[name] for name in _OF_THE_VISIT if name in request.meta}, "audited": visit},
    )


_OF_THE_VISIT = ("target", "page_type", "spent", "tier", "identity", "cookiejar", "proxy")
