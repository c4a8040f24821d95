"""From a page to what it says of its product: structured data first, a tree only where that isn't enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storebot.core.page import Page
from storebot.core.parsing import jsonld, microdata, opengraph, selectors, visible
from storebot.core.parsing.layers import lay
from storebot.core.parsing.links import next_link, read_links
from storebot.core.parsing.offers import has_amount
from storebot.core.parsing.rules import ProductRules
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.values import Values, shown
from storebot.core.urls import absolute
from storebot.items import Extracted, Problem

__all__ = ["Reading", "identity", "next_link", "read_links", "read_product"]

_STRUCTURED = frozenset({jsonld.SOURCE, microdata.SOURCE})
_EVIDENCE = ("price", "price_min", "availability", "sku")
_VARIATIONS_ELSEWHERE = b'data-product_variations="false"'


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page says: a record per listing, what couldn't be believed, and the source of the names.

    A problem is a remark, not a verdict: a page with one broken block and one good one has both a problem and a record.

    ``source_hash`` stands for the page's JSON-LD where that was all the reading depended on; a later page with the same
    one needn't be read: it is ``unchanged``, and its record is the one that is known.
    """

    extracted: tuple[Extracted, ...] = ()
    problems: tuple[Problem, ...] = ()
    source: str = ""
    source_hash: str = ""
    unchanged: bool = False


def read_product(page: Page, rules: ProductRules, known_source: str | None = None) -> Reading:
    """Read the product of a page: JSON-LD, microdata, OpenGraph, the store's rules (or these first, if preferred).

    Last comes what is on show (`visible`), which alone makes a product only of a name, a price and a buy button.

    Where the JSON-LD in the bytes gives name, price and currency, and no rule is there for a field that it lacks,
    nothing else is read: no tree is built and the page isn't decoded. Never raises for anything that a page holds.

    ``known_source`` is the ``source_hash`` of an earlier reading of this page by these rules.
    """
    if known_source and jsonld.fingerprint(page) == known_source:
        return Reading(source=jsonld.SOURCE, source_hash=known_source, unchanged=True)
    sources = _sources(page, rules)
    extracted = tuple(_absolute(page, listing) for listing in lay(sources, rules.declared))
    problems = [problem for source in sources for problem in source.problems]
    problems.extend(_doubts(page, extracted))
    name_source = extracted[0].sources.get("name", "") if extracted else ""
    alone = len(sources) == 1 and not problems and not page.has_tree and not page.has_base
    return Reading(extracted, tuple(problems), name_source, jsonld.fingerprint(page) if alone else "")


def identity(reading: Reading) -> bool:
    """Say whether the page is a product beyond doubt: a name, and a price, an availability or an SKU.

    The name of a schema.org Product is enough: no challenge page declares one, and a shop without prices has no more.
    """
    return reading.unchanged or any(
        "name" in listing.values
        and (listing.sources["name"] in _STRUCTURED or any(_is_evidence(listing, name) for name in _EVIDENCE))
        for listing in reading.extracted
    )


def _is_evidence(listing: Extracted, name: str) -> bool:
    """Say whether a field shows that a page sells something: on show, only a price that a buy button stands by."""
    if name not in listing.values:
        return False
    if not listing.sources.get(name, "").startswith(visible.SOURCE):
        return True
    return name == "price" and listing.sources["name"].startswith(visible.SOURCE)


def _sources(page: Page, rules: ProductRules) -> list[Found]:
    fast = jsonld.read(page, lambda: _titles(page))
    if rules.prefer == "structured" and _is_enough(fast, rules):
        return [fast]
    structured = [fast, microdata.read(page, lambda: _titles(page)), opengraph.read(page)]
    own = selectors.read(page, rules.fields)
    ordered = [own, *structured] if rules.prefer == "selectors" else [*structured, own]
    return ordered if _is_settled(ordered, rules) else [*ordered, visible.read(page, ordered)]


def _is_settled(sources: Sequence[Found], rules: ProductRules) -> bool:
    """Say whether a store that has a rule for the price got name and price: who wrote it looked, so nobody guesses.

    What is on show is the dearest source: it looks at every number of the page.
    """
    return "price" in rules.fields and all(
        any(has(record) for source in sources for record in source.records) for has in (has_amount, _has_name)
    )


def _has_name(record: Values) -> bool:
    return "name" in record


def _is_enough(found: Found, rules: ProductRules) -> bool:
    return bool(found.records) and all(
        "name" in record
        and has_amount(record)
        and ("currency" in record or "currency" in rules.declared)
        and all(name in record for name in rules.fields if name != "canonical_url")
        for record in found.records
    )


def _titles(page: Page) -> Sequence[str]:
    """Return what a page calls itself, best first: its headings, its title."""
    if page.root is None:
        return []
    elements = [*page.root.iter("h1"), *page.root.iter("title")]
    return [shown(element) for element in elements[:10]]


def _absolute(page: Page, listing: Extracted) -> Extracted:
    """Make the addresses of a record absolute: only the page knows its base."""
    values: Values = dict(listing.values)
    if "canonical_url" not in values and page.canonical_url:
        values["canonical_url"] = page.canonical_url
        listing.sources["canonical_url"] = "html"
    for name in ("url", "canonical_url"):
        value = values.get(name)
        if isinstance(value, str) and not value.startswith(("http://", "https://")):
            values[name] = absolute(value, page.base_url) or value
    images = values.get("images")
    if isinstance(images, list):
        values["images"] = [
            image if image.startswith("http") else absolute(image, page.base_url) or image for image in images
        ]
    return Extracted(values=values, sources=listing.sources, disagreements=listing.disagreements)


def _doubts(page: Page, extracted: Sequence[Extracted]) -> list[Problem]:
    found: list[Problem] = []
    for listing in extracted:
        for name, value in listing.values.items():
            if isinstance(value, str) and "\ufffd" in value:
                found.append(Problem(name, f"{name} has characters that couldn't be decoded: {value[:80]!r}"))
    if len(extracted) == 1 and "price_min" in extracted[0].values and _VARIATIONS_ELSEWHERE in page.body:
        found.append(Problem("options", "the shop loads the variants of this product by script: they are unknown"))
    return found
