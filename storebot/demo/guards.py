"""Guards: lies of a shop that lets in only who fetches in a certain way, one for each tier that a crawler may have."""

from __future__ import annotations

from dataclasses import replace

from storebot.demo import masks
from storebot.demo.answers import Answer
from storebot.demo.lie_kinds import LieKind, Told
from storebot.demo.visitors import COOKIE

ENTRY_COOKIE = "entry"
EGRESS_HEADER = "X-Demo-Egress"  # by which a scraping API shows the guard `api_only` that it is one
SECRET = "demo-egress"  # what it holds, unless the guard asks for another


def _needs_cookies(truth: Answer, told: Told) -> Answer:
    """Give a cookie to whoever brings none: with a redirect to the same page, or with a page that reloads itself.

    That page does so by a meta element or by a script, which may have to set the cookie, too.
    """
    if told.asked.cookies.get(ENTRY_COOKIE) == "1":
        return truth
    headers = {"Set-Cookie": f"{ENTRY_COOKIE}=1; Path=/"}
    match told.options["by"]:
        case "redirect":
            query = f"?{told.asked.query}" if told.asked.query else ""
            return Answer(status=302, headers=headers | {"Location": told.asked.path + query})
        case "page":
            return Answer(body=masks.INTERSTITIAL, headers=headers)
        case "script":
            return Answer(body=masks.RELOAD_BY_SCRIPT, headers=headers)
        case _:
            return Answer(body=masks.cookie_by_script(f"{ENTRY_COOKIE}=1"))


def _needs_http2(truth: Answer, told: Told) -> Answer:
    return truth if told.asked.http == "2" else Answer(status=403, body=masks.FORBIDDEN)


def _needs_javascript(truth: Answer, told: Told) -> Answer:
    """Give an application's empty page instead of a product's: its script fetches the product."""
    if truth.status not in (200, 304):
        return truth
    body = told.site.app(told.asked.path, round(told.options["delay_s"] * 1_000))
    return truth if body is None else Answer(body=body, headers={"Cache-Control": "no-cache"})


def _blocks_first(truth: Answer, told: Told) -> Answer:
    number = told.visitors.number(told.asked)
    refused = number <= told.options["identities"]
    if refused:
        told.visitors.refuse(number, told.asked.path)
    given = (
        Answer(status=403, body=masks.challenge("small"), headers=dict(masks.CHALLENGE_HEADERS)) if refused else truth
    )
    return replace(given, headers=given.headers | {"Set-Cookie": f"{COOKIE}={number}; Path=/"})


def _blocks_always(truth: Answer, told: Told) -> Answer:
    return Answer(status=403, body=masks.challenge("small"), headers=dict(masks.CHALLENGE_HEADERS))


def _api_only(truth: Answer, told: Told) -> Answer:
    return truth if told.asked.egress == told.options["secret"] else _blocks_always(truth, told)


GUARDS: dict[str, LieKind] = {
    "needs_cookies": LieKind(
        "A cookie comes first, by a redirect to the same page or by a page that reloads itself.",
        {"by": "redirect"},
        answer=_needs_cookies,
        choices={"by": ("redirect", "page", "script", "cookie_by_script")},
    ),
    "needs_http2": LieKind("403 to whoever doesn't speak HTTP/2.", answer=_needs_http2),
    "needs_javascript": LieKind(
        "Product pages are empty: a script fetches the product, and shows a price of 0.00 until `delay_s` later.",
        {"delay_s": 0.3},
        answer=_needs_javascript,
    ),
    "blocks_first": LieKind(
        "Challenges for ever to the first so many visitors, known by cookie and address; later ones are let in.",
        {"identities": 1},
        answer=_blocks_first,
    ),
    "blocks_always": LieKind("A challenge to everybody.", answer=_blocks_always),
    "api_only": LieKind(
        "A challenge to everybody but the scraping API, whose requests carry `secret` in X-Demo-Egress.",
        {"secret": SECRET},
        answer=_api_only,
    ),
}
