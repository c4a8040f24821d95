"""``python -m bench extraction``: what reading one page costs, beside extruct and bare parsel on the same bytes."""

from __future__ import annotations

import gzip
import importlib.util
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median, quantiles

from parsel import Selector

from bench import report, table
from bench.crawl import say
from bench.shop import ROOT
from storebot.core.page import Page
from storebot.core.parsing.reading import read_product
from storebot.core.parsing.rules import ProductRules
from storebot.demo.goods import Product
from storebot.demo.options import ShopOptions
from storebot.demo.pages import Pages
from storebot.demo.shop import Shop

DEMO_PAGES = 40  # of each markup: enough that one page's luck doesn't show, few enough for a round in a second
# What storebot reads. The promise is judged with all four; without RDFa extruct needs a twentieth: shown beside it.
SYNTAXES = ("json-ld", "microdata", "opengraph", "rdfa")
LIMIT = 1 / 3
_CORPUS = ROOT.parent / "shared" / "data" / "products" / "pages"
_RULES = ProductRules()
_FIELDS = ("h1", "title", ".price", ".sku", ".brand", ".stock", ".description", ".breadcrumb a", "img", "a")

Saved = tuple[str, bytes]  # URL and body
Reader = Callable[[Saved], object]


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU milliseconds a page of one reader over one set of pages, by round."""

    reader: str
    pages: str
    ms: tuple[float, ...]


def extraction(*, rounds: int, write: bool) -> int:
    """Read every set of pages with every reader, interleaved; print the table; return 1 where a promise was missed."""
    found, sets, readers = report.machine(), page_sets(), available_readers()
    costs: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds):
        say(f"extraction: round {number + 1} of {rounds}")
        for pages, saved in sets.items():
            for name, reader in _turned(readers, number):
                costs.setdefault((name, pages), []).append(_ms(reader, saved))
    measured = [Cost(name, pages, tuple(ms)) for (name, pages), ms in costs.items()]
    promises, kept = _promises(measured)
    counts = ", ".join(f"{len(saved)} {name}" for name, saved in sets.items())
    text = "\n\n".join(
        [
            "## Reading a page",
            f"CPU ms per page, medians of {rounds} interleaved rounds, of {counts}. *Full* compares all sources, as for"
            f" a new page; *unchanged* is the fast reading of a page whose record is known.\n{report.facts(found)}.",
            _results(measured, list(sets), [name for name, _ in readers]),
            "### Promises",
            promises,
        ]
    )
    print(f"\n{text}\n")
    if write:
        raw = [{"reader": each.reader, "pages": each.pages, "ms": each.ms} for each in measured]
        report.write("extraction", text, {"machine": found, "costs": raw})
        say("wrote docs/benchmarks.md and docs/benchmarks-extraction.json")
    return 0 if kept else 1


def page_sets() -> dict[str, list[Saved]]:
    """Return the pages to read: the demo store's markups, and real ones where their corpus is beside the checkout."""
    sets = {f"demo {markup}": _demo(markup) for markup in ("jsonld", "microdata", "plain")}
    if _CORPUS.is_dir():
        real = [("https://shop.example/p", gzip.decompress(path.read_bytes())) for path in sorted(_CORPUS.glob("*.gz"))]
        sets["real pages"] = [page for page in real if b"schema.org" in page[1]]
    return sets


def available_readers() -> list[tuple[str, Reader]]:
    """Return who reads: storebot's two readings, parsel with ten selectors, and extruct where it is installed."""
    readers: list[tuple[str, Reader]] = [
        ("storebot, unchanged", _Unchanged()),
        ("storebot, full", _full),
        ("parsel, 10 selectors", _parsel),
    ]
    if importlib.util.find_spec("extruct"):
        readers.append(("extruct, the same four syntaxes", partial(_extruct, syntaxes=SYNTAXES)))
        readers.append(("extruct, without RDFa", partial(_extruct, syntaxes=SYNTAXES[:-1])))
    return readers


def _demo(markup: str) -> list[Saved]:
    base_url = "https://demo.example"
    shop = Shop(ShopOptions(products=DEMO_PAGES, markup=markup))
    pages, goods = Pages(shop, base_url), list[Product](shop.products())
    return [(f"{base_url}{product.path}", pages.product(product)) for product in goods]


def _full(saved: Saved) -> object:
    return read_product(Page(url=saved[0], body=saved[1]), _RULES)


class _Unchanged:
    """Reads a page whose source hash an earlier reading gave; a page without one is read in full each time."""

    def __init__(self) -> None:
        self._hashes: dict[int, str] = {}

    def __call__(self, saved: Saved) -> object:
        known = self._hashes.get(id(saved[1]))
        reading = read_product(Page(url=saved[0], body=saved[1]), _RULES, known)
        if known is None:
            self._hashes[id(saved[1])] = reading.source_hash
        return reading


def _parsel(saved: Saved) -> object:
    selector = Selector(saved[1].decode("utf-8", "replace"))
    return [selector.css(f"{css}::text").get() for css in _FIELDS]


def _extruct(saved: Saved, syntaxes: Sequence[str]) -> object:
    import extruct  # here: it may be absent

    text = saved[1].decode("utf-8", "replace")
    return extruct.extract(text, base_url=saved[0], syntaxes=list(syntaxes), errors="ignore")


def _turned(readers: Sequence[tuple[str, Reader]], number: int) -> list[tuple[str, Reader]]:
    """Return the readers in another order each round, so that none always goes first."""
    at = number % len(readers)
    return [*readers[at:], *readers[:at]]


def _ms(reader: Reader, saved: Sequence[Saved]) -> float:
    began = time.process_time()
    for page in saved:
        reader(page)
    return (time.process_time() - began) * 1000 / len(saved)


def _results(measured: Sequence[Cost], sets: Sequence[str], readers: Sequence[str]) -> str:
    by_name: Mapping[tuple[str, str], Cost] = {(each.reader, each.pages): each for each in measured}
    rows = [[name, *(f"{median(by_name[name, pages].ms):.2f}" for pages in sets)] for name in readers]
    return table.markdown(["reader", *sets], rows)


def _promises(measured: Sequence[Cost]) -> tuple[str, bool]:
    """Return the promise for each set that holds structured data, and whether all are kept."""
    by_name = {(each.reader, each.pages): each for each in measured}
    rows, kept = [], True
    for pages in sorted({each.pages for each in measured} - {"demo plain"}):
        ours, theirs = by_name["storebot, full", pages], by_name.get(("extruct, the same four syntaxes", pages))
        if theirs is None:
            rows.append([f"full / extruct, {pages}", f"≤ {LIMIT:.2f}", "–", "not measured: extruct isn't installed"])
            continue
        pairs = [mine / other for mine, other in zip(ours.ms, theirs.ms, strict=True)]
        low, middle, high = quantiles(pairs, n=4, method="inclusive") if len(pairs) > 1 else pairs * 3
        verdict = "ok" if middle <= LIMIT else "MISSED"
        kept &= middle <= LIMIT
        rows.append([f"full / extruct, {pages}", f"≤ {LIMIT:.2f}", f"{middle:.2f} ({low:.2f}–{high:.2f})", verdict])
    return table.markdown(["promise", "limit", "measured", ""], rows), kept
