"""The sitemaps of a shop: which there are, what they name, which of them name products."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from storebot.core.parsing.sitemap import read_sitemap
from storebot.core.probing.seen import Answer, Ask
from storebot.core.probing.words import is_product_file
from storebot.core.urls import same_site
from storebot.exceptions import UnreadableSitemap

MAX_FILES = 20  # sitemaps that are read, of all that are named
MAX_PRODUCT_FILES = 8  # of these, files of one form
_GUESSES = ("/sitemap.xml", "/sitemap_index.xml")
_NUMBER = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W\d_]{3,}")

Looking = Generator[Ask, Answer, "Sitemaps"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """One file: what it names, or why that isn't known."""

    url: str
    urls: tuple[str, ...] = ()
    dated: int = 0  # entries with a lastmod
    children: tuple[str, ...] = ()  # of an index
    problem: str = ""
    read: bool = True  # False: there were too many to read them all
    guessed: bool = False  # asked for without being named anywhere


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """All sitemaps that are known, those that weren't read included."""

    files: tuple[Sitemap, ...] = ()

    @property
    def urls(self) -> list[str]:
        return [url for file in self.files for url in file.urls]

    @property
    def named(self) -> list[Sitemap]:
        """The files that are there: a guess that wasn't isn't one."""
        return [file for file in self.files if not (file.guessed and file.problem)]

    def is_whole(self, finds: Callable[[str], object]) -> bool:
        """Whether all files were read that may name products, which ``finds`` tells: those of forms that do, or that
        nothing is known of."""
        bearing = {form(file.url) for file in self.named if any(map(finds, file.urls))}
        barren = {form(file.url) for file in self.named if file.read and not any(map(finds, file.urls))} - bearing
        return all(file.read and not file.problem for file in self.named if form(file.url) not in barren)

    @property
    def roots(self) -> list[Sitemap]:
        """The files that no index names."""
        children = {child for file in self.files for child in file.children}
        return [file for file in self.named if file.url not in children]


def look_at_sitemaps(base_url: str, named: Sequence[str]) -> Looking:
    """Read the sitemaps that robots.txt names, or the usual places: of an index first the children that say products.

    Of children whose addresses differ in a number alone, a few are read; how many weren't is known.
    """
    files: dict[str, Sitemap] = {}
    for url in named:
        yield from _tree(url, files, guessed=False)
    for path in _GUESSES if not named else ():
        yield from _tree(base_url + path, files, guessed=True)
        if not files[base_url + path].problem:
            break
    return Sitemaps(tuple(files.values()))


def _tree(root: str, files: dict[str, Sitemap], *, guessed: bool) -> Generator[Ask, Answer, None]:
    waiting = [root]
    while waiting:
        url = waiting.pop(0)
        if url in files:
            continue
        if _is_enough(url, files):
            files[url] = Sitemap(url=url, read=False)
            continue
        answer = yield Ask(url=url, why="sitemap")
        files[url] = _read(url, answer, guessed=guessed and url == root)
        waiting += sorted(files[url].children, key=lambda child: not is_product_file(child))


def _is_enough(url: str, files: dict[str, Sitemap]) -> bool:
    read = [file for file in files.values() if file.read]
    alike = sum(form(file.url) == form(url) for file in read)
    return len(read) >= MAX_FILES or alike >= (MAX_PRODUCT_FILES if is_product_file(url) else 2)


def form(url: str) -> str:
    """Return an address with its numbers blanked and without its query: files of one form are parts of one thing."""
    return _NUMBER.sub("#", unquote(urlsplit(url).path))


def _read(url: str, answer: Answer, *, guessed: bool) -> Sitemap:
    page = answer.page
    if page is None or page.status != 200:
        problem = answer.problem if page is None else f"answers {page.status}"
        return Sitemap(url=url, problem=problem, guessed=guessed)
    try:
        reading = read_sitemap(page.body, page.url, same_site=lambda found: same_site(found, page.url))
        entries = list(reading.iter_entries())
    except UnreadableSitemap as error:
        return Sitemap(url=url, problem=str(error), guessed=guessed)
    found = tuple(entry.url for entry in entries)
    if reading.is_index:
        return Sitemap(url=url, children=found, guessed=guessed)
    problem = "" if found else f"names nothing ({reading.refused} entries lie on other hosts)"
    dated = sum(entry.lastmod is not None for entry in entries)
    return Sitemap(url=url, urls=found, dated=dated, problem=problem, guessed=guessed)


def child_pattern(sitemaps: Sitemaps, product_url: str) -> str:
    """Return the word that tells the children with products from the others; "" where none does, or all have some.

    A child that wasn't read counts as those of its form do.
    """
    finds = re.compile(product_url).search
    if any(file.children and file.url not in {root.url for root in sitemaps.roots} for file in sitemaps.named):
        return ""  # an index below an index has to be let through, too
    of_products = {form(file.url) for file in sitemaps.named if any(map(finds, file.urls))}
    indexed = [child for file in sitemaps.named for child in file.children]
    bearing = [url for url in indexed if form(url) in of_products]
    others = [url for url in indexed if form(url) not in of_products]
    if not bearing or not others:
        return ""
    names = [_WORDS.findall(urlsplit(url).path.rpartition("/")[2]) for url in bearing]
    shared = [word for word in names[0] if all(word in some for some in names)]
    best = sorted(shared, key=lambda word: not is_product_file(word))
    return next((word for word in best if not any(word in url for url in others)), "")
