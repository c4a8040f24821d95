"""What a response says of the tier that fetched it: whether it has what was asked for, or another tier would have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from storebot.core.page import Page
from storebot.core.rendering import needs_scripts, waits_for_price

OTHER_PROTOCOL = frozenset({426, 505})
"""What a server answers that wants another version of HTTP. RFC 9110 §15.5.22, §15.6.6."""

_WORDS = frozenset({304, 404, 410})  # the page is as it was, or isn't there: what a tier is for


class Verdict(Enum):
    """What is concluded."""

    GOT = auto()  # it has what was asked for
    ANSWERED = auto()  # it has the store's word that this isn't there, or is as it was
    LACKS = auto()  # it hasn't, and a tier that runs scripts is worth trying
    FAILED = auto()  # it hasn't, and no other tier is
    REFUSED = auto()  # not by this protocol
    UNCLEAR = auto()  # nothing: an error of the server, a page that nobody can read


class Served(NamedTuple):
    """A verdict, with half a sentence for those that speak against the tier."""

    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is known of a request for a product, beside its page."""

    renders: bool = False  # scripts ran on the page
    for_fields: bool = False  # it was sent because a cheaper tier's page lacked its product, or fields of it
    proven: Callable[[], bool]  # whether scripts lately gave other pages what they lacked
    is_product_url: bool = True  # where it was answered
    soft_404: Callable[[], str]  # by what sign the page is one for what isn't there


def by_status(status: int) -> Served:
    """Return what a status says by itself; of 200 it's UNCLEAR, and the page says the rest."""
    if status in OTHER_PROTOCOL:
        return Served(Verdict.REFUSED, f"HTTP {status}")
    return Served(Verdict.ANSWERED if status in _WORDS else Verdict.UNCLEAR)


def of_no_product(page: Page, asked: Asked) -> Served:
    """Return what a page with status 200 says on which no product was found.

    Where scripts ran it's their tier that failed, whatever the page shows: a tier that gets no products for its price
    mustn't be kept.
    """
    if not asked.is_product_url:
        return Served(Verdict.ANSWERED)  # it leads away from the product
    if why := needs_scripts(page):
        return Served(Verdict.LACKS, f"no product, and {why}")
    if asked.soft_404():
        return Served(Verdict.ANSWERED)
    if asked.renders:
        return Served(Verdict.FAILED, "no product, though scripts ran")
    if asked.proven():
        return Served(Verdict.LACKS, "no product, where scripts filled other pages")
    return Served(Verdict.UNCLEAR)


def of_product(page: Page, missing: Sequence[str], asked: Asked) -> Served:
    """Return what the page of a product says; ``missing`` are the fields for want of which it will be refused."""
    if not missing:
        return Served(Verdict.GOT)
    fields = f"without {', '.join(missing)}"
    if "price" in missing and waits_for_price(page):
        return Served(Verdict.LACKS, f"{fields}: the place of its price is empty")
    if asked.for_fields:
        return Served(Verdict.FAILED, f"{fields}, as before")
    if not asked.renders and asked.proven():
        return Served(Verdict.LACKS, f"{fields}, which scripts filled on other pages")
    return Served(Verdict.UNCLEAR)


def of_catalogue(page: Page, links: int) -> Served:
    """Return what a page of a catalogue says. At its end there is nothing to link to: that needs no scripts."""
    if links:
        return Served(Verdict.GOT)
    why = needs_scripts(page)
    return Served(Verdict.LACKS, f"no links to products, and {why}") if why else Served(Verdict.UNCLEAR)


def of_document(body: bytes) -> Served:
    """Return what was answered in place of a sitemap or a feed: a page for people is none."""
    is_page = body.lstrip()[:1] in (b"", b"<") and b"<html" in body[:1024].lower()
    return Served(Verdict.UNCLEAR if is_page or not body.strip() else Verdict.GOT)
