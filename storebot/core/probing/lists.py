"""The pages that list products: which they are, and how each goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from storebot.core.probing.address import address
from storebot.core.probing.notebook import Notebook, distinct, key_of
from storebot.core.probing.pagination import Template, is_page_link, template_of
from storebot.core.probing.sampling import Survey
from storebot.core.probing.seen import Answer, Ask, Kind, Seen
from storebot.core.urls import same_site

_EVERYWHERE = 0.8  # share of the lists on which a link is the shop's frame, whatever stands around it
_MAX_GONE = 3  # lists in one directory that aren't there: no more are asked for
_MIN_LISTS = 4  # before that is said of a link
_SAME_PAGE = 0.5  # share of page 1's products that another address of it must show

Finds = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductList:
    """One list: ``products`` are the URL keys on the pages that were looked at."""

    url: str
    products: frozenset[str]
    template: Template | None = None  # looked at: pages 1 and 2 by it show products
    first_too: bool = False  # page 1 by its number isn't ``url``: both have to be walked
    next_rule: str = ""  # looked at, and right: what it leads to shows other products
    is_whole: bool = False  # no page is left that wasn't looked at
    broken: str = ""  # what kept the pages behind the first from being counted

    def has_page(self, url: str) -> bool:
        """Say whether an address is one of its counted pages."""
        last = self.template.last if self.template else 0
        pages = (self.template.page(number) for number in range(1, last + 1)) if self.template else ()
        return key_of(url) in {key_of(self.url), *map(key_of, pages)}

    @property
    def size(self) -> int:
        """About how many products it has."""
        return (
            len(self.products) if self.is_whole else len(self.products) * (self.template.last if self.template else 2)
        )


def product_lists(book: Notebook, finds: Finds) -> dict[str, frozenset[str]]:
    """Return what each page that lists products shows beside its frame: URL keys, by the page's final address."""
    later = _later_pages(book)
    pages = {seen.final_url: seen for seen in book.of_kind(Kind.OTHER) if key_of(seen.final_url) not in later}
    found = {url: shown_products(seen, book.base_url, finds) for url, seen in pages.items()}
    listing = {url: keys for url, keys in found.items() if keys}
    everywhere: set[str] = set()
    if len(listing) >= _MIN_LISTS:
        counts = Counter(key for keys in listing.values() for key in keys)
        everywhere = {key for key, count in counts.items() if count >= _EVERYWHERE * len(listing)}
    no_products = everywhere | {key_of(seen.url) for seen in book.of_kind(Kind.OTHER)}
    own = {url: frozenset(keys - no_products) for url, keys in listing.items()}
    return {url: keys for url, keys in own.items() if keys}


def _later_pages(book: Notebook) -> set[str]:
    """Return the keys of what other pages call their page 2, 3 … or their next one: no lists of their own."""
    pages = book.of_kind(Kind.OTHER)
    follow = {key_of(seen.follows.url) for seen in pages if seen.follows.url}
    return follow | {
        key_of(link.url) for seen in pages for link in seen.links if is_page_link(link) and int(link.text) > 1
    }


def shown_products(seen: Seen, base_url: str, finds: Finds) -> frozenset[str]:
    """Return the URL keys of the products that a page links to outside of its menus."""
    links = (link.url for link in seen.links if not link.in_frame and finds(link.url))
    return frozenset(key_of(url) for url in distinct(links) if same_site(url, base_url))


def look_at_lists(
    survey: Survey, finds: Finds, budget: int, is_enough: Callable[[], bool]
) -> Generator[Ask, Answer, int]:
    """Look at what may be a list, the most promising first, until the budget is spent or there is enough.

    Returns what is left of the budget.
    """
    gone: Counter[object] = Counter()

    def unless(url: str) -> bool:
        return bool(finds(url)) or gone[address(url).dirs] >= _MAX_GONE or _is_view(survey.book, url, finds)

    while budget > 0 and not survey.book.blocked and not is_enough():
        url = survey.queue.take(survey.book, unless)
        if url is None:
            break
        seen = yield from survey.look(url, "list")
        gone[address(url).dirs] += seen.kind in (Kind.MISSING, Kind.FAILED)
        budget -= 1
    return budget


def _is_view(book: Notebook, url: str, finds: Finds) -> bool:
    """Say whether an address is a list that is known with a query behind it: a filter or an order of it."""
    bare, mark, _ = url.partition("?")
    seen = book.known(bare) if mark else None
    return seen is not None and bool(shown_products(seen, book.base_url, finds))


def look_behind(survey: Survey, seen: Seen, finds: Finds) -> Generator[Ask, Answer, ProductList]:
    """Look at page 2 of a list, by its numbers or else by its next link, and whether page 1 has a number, too."""
    first = shown_products(seen, survey.book.base_url, finds)
    template = template_of(seen)
    broken = ""
    if template:
        counted, broken = yield from _counted(survey, seen, template, first, finds)
        if counted:
            return counted
    if seen.follows.url:
        second = yield from survey.look(seen.follows.url, "list")
        behind = shown_products(second, survey.book.base_url, finds)
        if second.kind is Kind.OTHER and behind - first:
            products, rule = first | behind, seen.follows.rule
            return ProductList(url=seen.final_url, products=products, next_rule=rule, broken=broken)
    whole = template is None and not seen.follows.url
    return ProductList(url=seen.final_url, products=first, is_whole=whole, broken=broken)


def _counted(
    survey: Survey, seen: Seen, template: Template, first: frozenset[str], finds: Finds
) -> Generator[Ask, Answer, tuple[ProductList | None, str]]:
    """Return the list with its template where both page 2 and page 1 are what they should be, else what is wrong."""
    base_url = survey.book.base_url
    second = yield from survey.look(template.page(2), "list")
    behind = shown_products(second, base_url, finds)
    if second.kind is not Kind.OTHER or not behind - first:
        return None, f"{template.page(2)} {second.reason or 'shows no other products'}"
    one = yield from survey.look(template.page(1), "list")
    again = shown_products(one, base_url, finds)
    if one.kind is not Kind.OTHER or not again:
        return None, f"{template.page(1)} {one.reason or 'shows no products'}"
    if again == behind:
        return None, f"{template.page(1)} shows what {template.page(2)} does"
    lasts = [found.last for page in (second, one) if (found := template_of(page)) and found.url == template.url]
    template = template._replace(last=max(template.last, *lasts) if lasts else template.last)
    is_first = len(again & first) >= _SAME_PAGE * len(first)
    products = first | behind | again
    return ProductList(url=seen.final_url, products=products, template=template, first_too=not is_first), ""


def walk_on(survey: Survey, one: ProductList, finds: Finds, pages: int) -> Generator[Ask, Answer, ProductList]:
    """Look at all pages of a list, if it has no more than ``pages``, to know all that it shows."""
    if one.is_whole or survey.book.blocked:
        return one
    if one.template is not None:
        return (yield from _walk_numbers(survey, one, one.template, finds, pages))
    return (yield from _walk_links(survey, one, finds, pages)) if one.next_rule else one


def _walk_numbers(
    survey: Survey, one: ProductList, template: Template, finds: Finds, pages: int
) -> Generator[Ask, Answer, ProductList]:
    products, number, last = set(one.products), 3, template.last
    while number <= last <= pages:
        seen = yield from survey.look(template.page(number), "list")
        if seen.kind is not Kind.OTHER:
            return replace(one, products=frozenset(products), broken=f"{seen.url} {seen.reason}")
        products |= shown_products(seen, survey.book.base_url, finds)
        further = template_of(seen)
        if further and further.url == template.url:
            last = max(last, further.last)
        number += 1
    found, template = frozenset(products), template._replace(last=last)
    return replace(one, products=found, template=template, is_whole=last <= pages)


def _walk_links(survey: Survey, one: ProductList, finds: Finds, pages: int) -> Generator[Ask, Answer, ProductList]:
    products, url, walked = set(one.products), one.url, {key_of(one.url)}
    for _ in range(pages):
        seen = yield from survey.look(url, "list")
        if seen.kind is not Kind.OTHER:
            return replace(one, products=frozenset(products), broken=f"{seen.url} {seen.reason}")
        products |= shown_products(seen, survey.book.base_url, finds)
        url = seen.follows.url
        if not url or key_of(url) in walked:
            return replace(one, products=frozenset(products), is_whole=True)
        walked.add(key_of(url))
    return replace(one, products=frozenset(products))
