"""What a survey knows of addresses, as evidence for the expression that finds products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from storebot.core.probing.address import address
from storebot.core.probing.notebook import key_of
from storebot.core.probing.product_url import Evidence
from storebot.core.probing.sampling import Survey
from storebot.core.probing.seen import Kind, Seen

_MOST = 3000  # addresses that are weighed, of each kind: a sitemap may name a million
_MIN_PRICED = 3  # links beside prices, before they are taken for products that nobody could read


def evidence(survey: Survey, base_path: str) -> Evidence:
    """Return what is proven and what is likely. Where no product could be read, what stands beside prices counts."""
    products = _addresses(survey.book.of_kind(Kind.PRODUCT))
    others = _addresses(survey.book.of_kind(Kind.OTHER)) - products
    selling = [group for group in survey.groups if group.sells]
    if not products:
        selling = [group for group in survey.groups if group.priced >= _MIN_PRICED and not group.is_tried]
        products = frozenset(url for group in selling for url in group.good)
    likely = {url for group in selling for url in group.good} - others
    unlikely = {url for group in survey.groups if group.is_tried and not group.sells for url in group.urls}
    unlikely |= {url for group in selling if group.keeps_menus_apart for url in group.of_menus}
    unlikely |= _above_others({url for group in survey.groups for url in group.urls})
    return Evidence(
        products=_some(products),
        others=others,
        likely=_some(likely - unlikely),
        unlikely=_some(unlikely - products - others - _of_kind(survey, Kind.PRODUCT)),
        base_path=base_path,
    )


def doubtful(survey: Survey, finds: Callable[[str], object]) -> list[str]:
    """Return addresses that look like products to ``finds``, stand in menus and beside no price, and are unseen."""
    menus = [(place.is_good, url) for group in survey.groups for url, place in group.urls.items() if place.is_menu]
    return [url for _, url in sorted(menus, key=lambda one: one[0]) if finds(url) and survey.book.known(url) is None]


def _addresses(pages: Iterable[Seen]) -> frozenset[str]:
    """Return where pages lie; an address that redirects says nothing of its own form, unless to a product.

    A query that the page's canonical address does without makes no page of its own.
    """
    found = set()
    for page in pages:
        addresses = {page.final_url}
        if key_of(page.url) == key_of(page.final_url) or page.kind is Kind.PRODUCT:
            addresses.add(page.url)
        found |= {_without_query(page, url) for url in addresses}
    return frozenset(found)


def _without_query(page: Seen, url: str) -> str:
    bare = url.partition("?")[0]
    return bare if key_of(page.canonical_url) == key_of(bare) else url


def _of_kind(survey: Survey, kind: Kind) -> set[str]:
    return {url for page in survey.book.of_kind(kind) for url in (page.url, page.final_url)}


def _above_others(urls: set[str]) -> set[str]:
    """Return the addresses below which several others lie: ``/knives.html`` where there are ``/knives/a.html`` …"""
    below = Counter("/".join(parts.dirs) for url in urls if (parts := address(url)).dirs and not parts.query)
    found = set()
    for url in urls:
        parts = address(url)
        if not parts.query and below["/".join((*parts.dirs, parts.name))] > 1:
            found.add(url)
    return found


def _some(urls: Iterable[str]) -> frozenset[str]:
    """Return all of the addresses, or as many as are weighed, from all over them."""
    ordered = sorted(urls, key=lambda url: urlsplit(url).path)
    step = max(1, len(ordered) // _MOST)
    return frozenset(ordered[::step])
