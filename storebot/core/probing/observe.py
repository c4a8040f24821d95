"""From an answer to what it shows: a product, another page of the shop, a block page, or nothing."""

from __future__ import annotations

from storebot.core.blocks import Block, classify
from storebot.core.normalise import Context, normalise
from storebot.core.page import Page
from storebot.core.parsing.reading import Reading, identity, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.core.probing.next_links import NO_NEXT, find_next
from storebot.core.probing.page_links import page_links
from storebot.core.probing.seen import Answer, Ask, Kind, Link, Seen
from storebot.core.urls import same_site, url_key
from storebot.exceptions import InvalidURL
from storebot.items import Listing, PageType, Problem

NO_RULES = ProductRules()

_MANY_LINKS = 8  # to other pages of the same shop: no block page has so many
_BARE_TEXT = 200  # characters; a page with less to read is made by a script
_MARKS = {
    "shopify": (b"cdn.shopify.com", b"Shopify.theme", b"/cdn/shop/"),
    "woocommerce": (b"plugins/woocommerce", b"woocommerce-page", b"wc-blocks", b"wc_add_to_cart_params"),
    "magento": (b"Magento_", b"Mage.Cookies", b"/skin/frontend/", b"mage/cookies"),
    "prestashop": (b"prestashop", b"PrestaShop"),
    "opencart": (b"route=product/", b"catalog/view/theme"),
    "shopware": (b"shopware",),
    "bigcommerce": (b"cdn11.bigcommerce.com", b"stencil-utils"),
}


def observe(ask: Ask, answer: Answer, rules: ProductRules = NO_RULES) -> Seen:
    """Return what an answer shows. A block page is named, and nothing is read from it. Never raises for any page."""
    page = answer.page
    if page is None:
        kind = Kind.FORBIDDEN if answer.forbidden else Kind.FAILED
        return Seen(url=ask.url, final_url=ask.url, kind=kind, reason=answer.problem)
    html = page.status == 200 and _is_html(page)
    reading = read_product(page, rules) if html else Reading()
    links = page_links(page) if html else ()
    block = _block(page, links, is_product=identity(reading))
    kind, reason = _kind(ask, page, block, is_product=identity(reading))
    good = kind in (Kind.PRODUCT, Kind.OTHER)
    listings, problems = _listings(page, reading) if kind is Kind.PRODUCT else ((), ())
    return Seen(
        url=ask.url,
        final_url=page.url,
        kind=kind,
        status=page.status,
        reason=reason,
        links=links if good else (),
        follows=find_next(page) if html and good else NO_NEXT,
        listings=listings,
        extracted=reading.extracted if kind is Kind.PRODUCT else (),
        language=_language(page) if good and html else "",
        problems=problems,
        canonical_url=page.canonical_url or "",
        block=block,
        marks=_marks(page),
        scripted=html and good and _is_bare(page),
        page=_unparsed(page) if kind is Kind.OTHER else None,
        size_bytes=len(page.body),
        elapsed_ms=answer.elapsed_ms,
    )


def _block(page: Page, links: tuple[Link, ...], *, is_product: bool) -> Block | None:
    on_site = {link.url for link in links if same_site(link.url, page.url)}
    # What isn't HTML was asked for as a sitemap or by an API: no length is too short for those.
    page_type = PageType.PRODUCT if _is_html(page) else PageType.SITEMAP
    return classify(page, page_type=page_type, identity=is_product or len(on_site) >= _MANY_LINKS)


def _kind(ask: Ask, page: Page, block: Block | None, *, is_product: bool) -> tuple[Kind, str]:
    if block is not None:
        signs = ", ".join(f"{signal.kind} {signal.value}" for signal in block.signals)
        return Kind.BLOCKED, f"a block page ({block.vendor}, {block.kind}: {signs})"
    if page.status in (404, 410):
        return Kind.MISSING, f"answers {page.status}"
    if page.status != 200:
        return Kind.FAILED, f"answers {page.status}"
    if not same_site(page.url, ask.url):
        return Kind.ELSEWHERE, f"redirects to {page.url}"
    return (Kind.PRODUCT if is_product else Kind.OTHER), ""


def _listings(page: Page, reading: Reading) -> tuple[tuple[Listing, ...], tuple[Problem, ...]]:
    try:
        key = url_key(page.url)
    except InvalidURL:
        key = page.url
    context = Context(store="", url_key=key, url=page.url)
    found = [normalise(extracted, context) for extracted in reading.extracted]
    problems = [*reading.problems, *(problem for _, some in found for problem in some)]
    return tuple(listing for listing, _ in found), tuple(problems)


def _marks(page: Page) -> frozenset[str]:
    return frozenset(name for name, marks in _MARKS.items() if any(mark in page.body for mark in marks))


def _unparsed(page: Page) -> Page:
    """Return the page without its tree, which is ten times as large."""
    return Page(url=page.url, body=page.body, status=page.status, headers=page.headers)


def _language(page: Page) -> str:
    return (page.root.get("lang") or "").lower() if page.root is not None else ""


def _is_html(page: Page) -> bool:
    kind = page.content_type.lower()
    return "html" in kind or (not kind and page.body.lstrip()[:1] == b"<")


def _is_bare(page: Page) -> bool:
    """Say whether there is hardly anything to read and a script to make it."""
    if page.root is None or b"<script" not in page.body:
        return False
    body = page.root.find("body")
    if body is None:
        return True
    scripts = {one for one in body.iter("script", "style", "noscript", "template")}
    texts = (text for one in body.iter("*") if one not in scripts for text in (one.text, *(c.tail for c in one)))
    return sum(len(text.strip()) for text in texts if text) < _BARE_TEXT
