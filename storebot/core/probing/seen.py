"""What a look at one address of a shop gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from storebot.core.blocks import Block
from storebot.core.page import Page
from storebot.core.probing.next_links import NO_NEXT, NextLink
from storebot.items import Extracted, Listing, Problem


class Kind(StrEnum):
    """What an address turned out to be."""

    PRODUCT = "product"  # beyond doubt: `parsing.reading.identity`
    OTHER = "other"  # a page of the shop that sells no single product
    MISSING = "missing"  # 404, 410
    ELSEWHERE = "elsewhere"  # redirects to another host
    BLOCKED = "blocked"
    FORBIDDEN = "forbidden"  # by robots.txt: it wasn't asked for
    FAILED = "failed"  # no usable answer


class Link(NamedTuple):
    """One link of a page, with what tells a product's card from a menu."""

    url: str  # absolute, without a fragment
    text: str
    rel: frozenset[str]
    classes: frozenset[str]
    in_frame: bool  # in the header, a menu or the footer
    is_card: bool  # a picture or a price stands in it or beside it, and no other page is linked there
    has_price: bool  # a price does


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One address that was asked for, and what came."""

    url: str
    final_url: str
    kind: Kind
    status: int = 0
    reason: str = ""  # why it is none of product and other, as a sentence's end
    links: tuple[Link, ...] = ()
    follows: NextLink = NO_NEXT  # what leads to the next page of a list
    listings: tuple[Listing, ...] = ()
    extracted: tuple[Extracted, ...] = ()  # of a product: what ``listings`` were made of
    problems: tuple[Problem, ...] = ()
    language: str = ""  # that the page says it is in
    canonical_url: str = ""
    block: Block | None = None
    marks: frozenset[str] = frozenset()  # platforms whose traces the page shows
    scripted: bool = False  # hardly any text: a browser would have to make the page
    page: Page | None = None  # of what is no product: unparsed, for a second reading with selectors
    size_bytes: int = 0
    elapsed_ms: int = 0


class RobotsSaid(NamedTuple):
    """What robots.txt says, for the report."""

    status: int = 0  # 0: it couldn't be had
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()
    forbids: tuple[str, ...] = ()  # its Disallow lines, for whatever robot


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What the probe wants next: one GET."""

    url: str
    why: str  # for the progress line: "sitemap", "list", "product"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the client brings back for an `Ask`: a page, or why there is none."""

    page: Page | None = None
    forbidden: bool = False  # robots.txt forbids the address; it wasn't asked for
    problem: str = ""
    elapsed_ms: int = 0
    redirects: Sequence[str] = field(default=())
