"""The steps of a probe, in order: what is asked for next depends on what came. The client does the asking."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from storebot.core.parsing.rules import ProductRules, compile_rule
from storebot.core.probing import lists, sampling
from storebot.core.probing.catalogue import Catalogue, choose
from storebot.core.probing.evidence import doubtful, evidence
from storebot.core.probing.lists import Finds, ProductList
from storebot.core.probing.notebook import Notebook, key_of
from storebot.core.probing.platform_look import Platform, look_at_platform
from storebot.core.probing.product_url import ProductURL, work_out
from storebot.core.probing.sampling import Survey
from storebot.core.probing.seen import Answer, Ask, Kind, Seen
from storebot.core.probing.selectors import MIN_PAGES, derive
from storebot.core.probing.sitemap_look import Sitemaps, look_at_sitemaps
from storebot.core.probing.words import is_product_file, promise
from storebot.core.urls import same_site

MAX_LISTS = 24  # pages that are looked at for being lists
MAX_DOUBTS = 12  # pages of menus that look like products
MAX_BEHIND = 12  # lists of which the second page is looked at
MAX_WALKED = 12  # pages of one list, if walking it whole can prove that it has everything
MAX_WALKED_IN_ALL = 18
_ENOUGH_LISTS = 6  # where sitemaps name every product that those show

Exploring = Generator[Ask, Answer, "Findings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to look at: ``url`` is where redirects ended; ``sitemaps`` are those that robots.txt names."""

    url: str
    pages: int = 12  # product pages in the sample
    sitemaps: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All that a probe saw, and what it makes of it."""

    base_url: str
    start: Seen
    book: Notebook
    sitemaps: Sitemaps
    platform: Platform | None
    product_url: ProductURL | None
    catalogue: Catalogue
    selectors: dict[str, str]  # without which no product page was one
    is_assumed: bool  # no product page could be read: the addresses are those that stand beside prices

    @property
    def products(self) -> list[Seen]:
        """The product pages that were read."""
        return self.book.of_kind(Kind.PRODUCT)


def explore(plan: Plan) -> Exploring:
    """Look at a shop: a generator of what to ask for, sent the answers; its value are the findings."""
    start = yield from Notebook(plan.url).look(plan.url, "start")
    base_url = base_of(plan.url, start)
    survey = Survey(Notebook(base_url))
    survey.take(start)
    survey.book.asked = 1
    if start.kind is not Kind.BLOCKED:
        yield from survey.look(f"{base_url}/", "start")
    sitemaps = yield from look_at_sitemaps(base_url, plan.sitemaps)
    _note(survey, sitemaps)
    yield from sampling.find_products(survey)
    selectors = {} if survey.book.of_kind(Kind.PRODUCT) else (yield from _selectors(survey))
    yield from sampling.sample_products(survey, plan.pages)
    platform = yield from look_at_platform(base_url, _marks(survey.book))
    found = yield from _worked_out(survey)
    catalogue = Catalogue(lists=())
    if found is not None:
        left = yield from _look_at_lists(survey, sitemaps, re.compile(found.pattern).search, MAX_LISTS)
        yield from sampling.find_products(survey)  # lists may link to products by another form of address
        have = len(survey.book.of_kind(Kind.PRODUCT))
        yield from sampling.sample_products(survey, max(plan.pages, have + plan.pages // 3))
        found = (yield from _worked_out(survey)) or found
        yield from _look_at_lists(survey, sitemaps, re.compile(found.pattern).search, left)
        catalogue = yield from _catalogue(survey, sitemaps, re.compile(found.pattern).search)
        yield from sampling.sample_products(survey, plan.pages)
        found = (yield from _worked_out(survey)) or found
    return Findings(
        base_url=base_url,
        start=start,
        book=survey.book,
        sitemaps=sitemaps,
        platform=platform,
        product_url=found,
        catalogue=catalogue,
        selectors=selectors,
        is_assumed=found is not None and not survey.book.of_kind(Kind.PRODUCT),
    )


def _selectors(survey: Survey) -> Generator[Ask, Answer, dict[str, str]]:
    """Return selectors by which pages that stand beside prices are products; what was read is read again by them."""
    best = max(survey.groups, key=lambda group: group.priced, default=None)
    if best is None or best.priced < MIN_PAGES or not best.others:
        return {}
    for url in sampling.evenly(best.good, MIN_PAGES + 1):
        yield from survey.look(url, "product")
    own = set(best.others)
    pages = {seen.final_url: seen.page for seen in survey.book.of_kind(Kind.OTHER) if seen.page is not None}
    found = derive(
        [page for url, page in pages.items() if url not in own], [page for url, page in pages.items() if url in own]
    )
    if found:
        survey.book.read_again(ProductRules({name: (compile_rule(text),) for name, text in found.items()}))
        survey.groups.note_anew(survey.book.seen.values())
    return found


def base_of(url: str, start: Seen) -> str:
    """Return the shop's address: with the directory of ``url`` where all the links of that page stay below it."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    path = parts.path.rpartition("/")[0]
    if path:
        own = [link.url for link in start.links if same_site(link.url, root)]
        if own and all(urlsplit(one).path.startswith(f"{path}/") for one in own):
            return root + path
    return root


def _note(survey: Survey, sitemaps: Sitemaps) -> None:
    for file in sitemaps.files:
        names = is_product_file(file.url)
        survey.groups.add_listed(file.urls, as_products=names)
        if not names and len(file.urls) < 2000:
            for url in file.urls:
                if promise(url, "") > 0:
                    survey.queue.add_listed(url)


def _marks(book: Notebook) -> frozenset[str]:
    """Return the platforms whose traces most of the pages show."""
    pages = [*book.of_kind(Kind.OTHER), *book.of_kind(Kind.PRODUCT)]
    names = {name for page in pages for name in page.marks}
    return frozenset(name for name in names if 2 * sum(name in page.marks for page in pages) > len(pages))


def _worked_out(survey: Survey) -> Generator[Ask, Answer, ProductURL | None]:
    """Work the expression out, look at what it finds in menus alone, and work it out once more."""
    base_path = urlsplit(survey.book.base_url).path
    found = work_out(evidence(survey, base_path))
    left = MAX_DOUBTS
    while found is not None and left > 0 and not survey.book.blocked:
        doubts = doubtful(survey, re.compile(found.pattern).search)[:left]
        if not doubts:
            break
        for url in doubts:
            yield from survey.look(url, "doubt")
        left -= len(doubts)
        found = work_out(evidence(survey, base_path))
    return found


def _look_at_lists(survey: Survey, sitemaps: Sitemaps, finds: Finds, budget: int) -> Generator[Ask, Answer, int]:
    """Look at lists, fewer where what is known of the shop's products has all that the first of them show.

    Returns what is left of the budget.
    """
    known = _listed(sitemaps, finds)
    if not known and (all_of_them := (yield from _whole_list(survey, finds))):
        known = set(all_of_them.products)

    def is_enough() -> bool:
        shown = lists.product_lists(survey.book, finds)
        return bool(known) and len(shown) >= _ENOUGH_LISTS and known.issuperset(set().union(*shown.values()))

    return (yield from lists.look_at_lists(survey, finds, budget, is_enough))


def _listed(sitemaps: Sitemaps, finds: Finds) -> set[str]:
    return {key_of(url) for url in sitemaps.urls if finds(url)}


def _catalogue(survey: Survey, sitemaps: Sitemaps, finds: Finds) -> Generator[Ask, Answer, Catalogue]:
    """Choose the lists to walk: none where the sitemaps name all that the lists show."""
    book, listed = survey.book, _listed(sitemaps, finds)
    shown = lists.product_lists(book, finds)
    seen = {key for keys in shown.values() for key in keys}
    seen |= {key_of(page.canonical_url or page.final_url) for page in book.of_kind(Kind.PRODUCT)}
    if listed and not sitemaps.is_whole(finds):
        return Catalogue(lists=(), looked_at=len(shown))  # what the unread files name can't be compared
    all_of_them = None if listed else (yield from _whole_list(survey, finds))
    known = listed | (all_of_them.products if all_of_them else frozenset())
    found = [] if all_of_them is None else [all_of_them]
    for url in sorted(shown, key=lambda one: -len(shown[one])):
        if shown[url] - known and not any(one.has_page(url) for one in found):
            found.append((yield from _behind(survey, url, shown[url], finds, len(found))))
    found.sort(key=lambda one: one.size)
    left, walked = MAX_WALKED_IN_ALL, []
    for one in found:
        asked = book.asked
        walked.append((yield from lists.walk_on(survey, one, finds, min(MAX_WALKED, left))))
        left -= book.asked - asked
        seen |= walked[-1].products - _no_products(book)
    return choose(walked, listed, seen, looked_at=len(shown))


def _no_products(book: Notebook) -> set[str]:
    return {key_of(page.url) for page in book.of_kind(Kind.OTHER)}


def _whole_list(survey: Survey, finds: Finds) -> Generator[Ask, Answer, ProductList | None]:
    """Return the list that promises to be of everything, if it has so few pages that all of them can be looked at."""
    shown = lists.product_lists(survey.book, finds)
    best = max(shown, key=lambda url: (promise(url, ""), len(shown[url])), default=None)
    if best is None:
        return None
    one = yield from _behind(survey, best, shown[best], finds, 0)
    one = yield from lists.walk_on(survey, one, finds, MAX_WALKED)
    return one if one.is_whole and one.template else None


def _behind(
    survey: Survey, url: str, keys: frozenset[str], finds: Finds, number: int
) -> Generator[Ask, Answer, ProductList]:
    seen = survey.book.known(url)
    assert seen is not None
    if number >= MAX_BEHIND or survey.book.blocked:
        return ProductList(url=url, products=keys, broken="its further pages weren't looked at")
    return (yield from lists.look_behind(survey, seen, finds))
