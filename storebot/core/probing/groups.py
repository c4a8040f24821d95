"""Addresses of one form, and whether the pages behind them are products."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntFlag, auto

from storebot.core.probing.address import address
from storebot.core.probing.pagination import is_page_link
from storebot.core.probing.seen import Kind, Link, Seen
from storebot.core.probing.words import is_facet, is_no_page, names_products, promise

Form = tuple[tuple[str, ...], str, tuple[str, ...]]
Family = tuple[int, str, tuple[str, ...]]


class Place(IntFlag):
    """Where addresses stand."""

    NOWHERE = 0  # it was asked for without being linked
    MENU = auto()
    TEXT = auto()
    PICTURE = auto()
    PRICE = auto()
    SITEMAP = auto()

    @property
    def is_menu(self) -> bool:
        """Whether menus link there, and no price stands there."""
        return Place.MENU in self and Place.PRICE not in self

    @property
    def is_good(self) -> bool:
        """Whether products stand there: beside a price, in a sitemap, or anywhere that isn't a menu's, too."""
        return bool(self & (Place.PRICE | Place.SITEMAP)) or (self is not Place.NOWHERE and Place.MENU not in self)


MAX_ASKED = 2  # addresses of a group that gave nothing: it isn't asked on


@dataclass(slots=True)
class Group:
    """The addresses in one directory, with one ending and the same parameters."""

    form: Form
    urls: dict[str, Place] = field(default_factory=dict)
    pictured: int = 0  # links that stand with a picture
    priced: int = 0  # links that stand with a price
    listed: int = 0  # entries of sitemaps whose name says products
    products: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    asked: int = 0

    @property
    def family(self) -> Family:
        dirs, ending, query = self.form
        return len(dirs), ending, query

    @property
    def is_tried(self) -> bool:
        return bool(self.products or self.others)

    @property
    def sells(self) -> bool:
        """Whether products live here, perhaps beside pages that menus link to."""
        return bool(self.products) and len(self.products) >= sum(self.urls[url].is_good for url in self.others)

    @property
    def keeps_menus_apart(self) -> bool:
        """Whether what only menus link to was looked at, and sold nothing."""
        menus = set(self.of_menus)
        return not menus.isdisjoint(self.others) and menus.isdisjoint(self.products)

    @property
    def good(self) -> list[str]:
        """The addresses that stand where products do."""
        return [url for url, place in self.urls.items() if place.is_good]

    @property
    def of_menus(self) -> list[str]:
        """The addresses that stand where products don't."""
        return [url for url, place in self.urls.items() if not place.is_good]


class Groups:
    """All addresses that were seen, by form."""

    def __init__(self) -> None:
        self._groups: dict[Form, Group] = {}

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups.values())

    def add_link(self, link: Link) -> None:
        """Note a link to another page than one of a list's own."""
        if is_no_page(link.url) or is_facet(link.url) or is_page_link(link):
            return
        group = self._of(link.url)
        place = Place.MENU if link.in_frame else Place.PICTURE if link.is_card else Place.TEXT
        place |= Place.PRICE if link.has_price else Place.NOWHERE
        group.urls[link.url] = group.urls.get(link.url, Place.NOWHERE) | place
        group.pictured += link.is_card
        group.priced += link.has_price

    def add_listed(self, urls: Iterable[str], *, as_products: bool) -> None:
        """Note the entries of a sitemap."""
        for url in urls:
            group = self._of(url)
            group.urls[url] = group.urls.get(url, Place.NOWHERE) | Place.SITEMAP
            group.listed += as_products

    def note(self, seen: Seen) -> None:
        """Note what an address turned out to be; one that gave nothing says nothing."""
        if seen.kind in (Kind.PRODUCT, Kind.OTHER):
            group = self._of(seen.final_url)
            known = group.products if seen.kind is Kind.PRODUCT else group.others
            if seen.final_url not in known:
                known.append(seen.final_url)
            group.urls.setdefault(seen.final_url, Place.NOWHERE)

    def note_anew(self, pages: Iterable[Seen]) -> None:
        """Forget what addresses turned out to be, and note it once more."""
        for group in self:
            group.products.clear()
            group.others.clear()
        for seen in pages:
            self.note(seen)

    def _of(self, url: str) -> Group:
        parts = address(url)
        form = (parts.dirs, parts.ending, parts.query)
        return self._groups.setdefault(form, Group(form))

    def families(self, *, selling: bool) -> set[Family]:
        """Return the families in which some group sells, or of those tried none does."""
        sells = {group.family for group in self if group.sells}
        return sells if selling else {group.family for group in self if group.is_tried} - sells

    def to_try(self) -> list[tuple[float, Group]]:
        """Return the groups of which no page is known, what promises most first."""
        good, bad = self.families(selling=True), self.families(selling=False)
        untried = [group for group in self if not group.is_tried and group.asked < MAX_ASKED]
        scored = [(_score(group, good, bad), group) for group in untried]
        return sorted((one for one in scored if one[0] > 0), key=lambda one: -one[0])


def _score(group: Group, good: set[Family], bad: set[Family]) -> float:
    first = next(iter(group.urls))
    score = 4.0 if group.listed else 0.0
    score += 4 if group.priced else 1.5 if group.pictured else 0
    score += 2 if names_products(first) else 0
    score += 1 if group.family in good else -1 if group.family in bad else 0
    score += min(1.0, math.log10(len(group.urls)) / 2)
    about = promise(first, "")
    return score + (about if about < 0 else 0)
