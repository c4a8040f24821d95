"""From a page to what it says of its product: structured data first, a tree only where that isn't enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice

from storebot.core.fingerprint import TRACKED
from storebot.core.page import Page
from storebot.core.parsing import jsonld, microdata, opengraph, rdfa, selectors, shopify, visible, woocommerce
from storebot.core.parsing.layers import DECLARED, lay
from storebot.core.parsing.links import next_link, read_links
from storebot.core.parsing.offers import has_amount
from storebot.core.parsing.rules import PARSER, ProductRules
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.source_hash import source_hash
from storebot.core.parsing.values import Values, shown
from storebot.core.urls import absolute
from storebot.items import Extracted, Problem

__all__ = ["Reading", "identity", "next_link", "read_links", "read_product"]

_STRUCTURED = frozenset({jsonld.SOURCE, microdata.SOURCE, rdfa.SOURCE, shopify.SOURCE})
_HEAD = frozenset({jsonld.SOURCE, opengraph.SOURCE, DECLARED})
_RECORD = frozenset({name.removesuffix("_minor") for name in TRACKED} | {"description", "images", "main_image"})
_EVIDENCE = ("price", "price_min", "availability", "sku")
_MAX_TITLE = 1_000  # characters of what is compared with names
IDENTIFYING = ("name", *_EVIDENCE)
"""The fields of which `identity` wants the name and one more."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page says: a record per listing, what couldn't be believed, and the source of the names.

    A problem is a remark, not a verdict: a page with one broken block and one good one has both a problem and a record.

    ``source_hash`` stands for the page's JSON-LD and product metas where the record came from nothing else and no two
    sources disagreed; a later page with the same one needn't be read: it is ``unchanged``, and its record is the one
    that is known.

    ``failure`` is a sentence where the store's own code broke: what the other sources say mustn't be published then,
    but still tells a product page from a block page.
    """

    extracted: tuple[Extracted, ...] = ()
    problems: tuple[Problem, ...] = ()
    source: str = ""
    source_hash: str = ""
    unchanged: bool = False
    failure: str = ""


def read_product(page: Page, rules: ProductRules, known_source: str | None = None) -> Reading:
    """Read the product of a page. Never raises for anything that a page holds.

    Fast, where ``known_source``, the ``source_hash`` of an earlier reading of this page by these rules, is the page's
    own: it is unchanged. Nothing else can be concluded from it; no tree is built and the page isn't decoded.

    Else in full, all sources compared: a store's own code (``rules.parser``), JSON-LD, what a shop's platform writes
    into its scripts, microdata, RDFa, OpenGraph, the store's rules (before the structured data, if preferred), and last
    what is on show, which alone makes a product only of a name, a price and a buy button. Sources that aren't in the
    bytes cost no tree. Where the price in print plainly is the one of the JSON-LD, what is on show needs none either,
    and neither do the store's rules if the JSON-LD has all their fields.
    """
    if page.refusal:
        return Reading(problems=(Problem("page", page.refusal),))
    digest = source_hash(page)
    if known_source and digest == known_source:
        return Reading(source=jsonld.SOURCE, source_hash=known_source, unchanged=True)
    titles = _Titles(page)
    sources = _sources(page, rules, titles)
    resolved = cache(lambda address: absolute(address, page.base_url) or address)  # variants share their images
    extracted = tuple(_absolute(page, listing, resolved) for listing in lay(sources, rules.declared))
    problems = [problem for source in sources for problem in source.problems]
    problems.extend(_doubts(extracted))
    problems.extend([Problem("page", page.refusal)] if page.refusal else [])
    failure = next((source.failure for source in sources if source.failure), "")
    problems.extend([Problem(PARSER, failure)] if failure else [])
    name_source = extracted[0].sources.get("name", "") if extracted else ""
    alone = not (problems or titles.asked or page.has_base) and _is_from_head(extracted, rules)
    return Reading(extracted, tuple(problems), name_source, digest if alone else "", failure=failure)


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


def _sources(page: Page, rules: ProductRules, titles: _Titles) -> list[Found]:
    code = [rules.parser(page)] if rules.parser else []
    structured = [
        jsonld.read(page, titles),
        shopify.read(page),
        woocommerce.read(page),
        microdata.read(page, titles),
        rdfa.read(page, titles),
        opengraph.read(page),
    ]
    on_show = _is_on_show(page, structured, rules)
    if on_show and rules.prefer == "structured" and _answers(structured[0], rules):
        return [*code, *structured]
    own = selectors.read(page, rules.fields)
    ordered = [*code, *([own, *structured] if rules.prefer == "selectors" else [*structured, own])]
    if on_show or _is_settled(ordered, rules):
        return ordered
    return [*ordered, visible.read(page, ordered)]


def _is_from_head(extracted: Sequence[Extracted], rules: ProductRules) -> bool:
    """Say whether records depend on nothing but the JSON-LD and the metas, as long as those don't change.

    Price and availability must be among what these say, and each field that the store has a rule for: what is missing
    there today, another source may say tomorrow.
    """
    wanted = {"availability", *(name for name in rules.fields if name in _RECORD)}
    return (
        bool(extracted)
        and rules.parser is None
        and all(
            not listing.disagreements
            and has_amount(listing.values)
            and wanted <= listing.values.keys()
            and all(listing.sources[name] in _HEAD for name in listing.values if name in _RECORD)
            for listing in extracted
        )
    )


def _is_on_show(page: Page, structured: Sequence[Found], rules: ProductRules) -> bool:
    """Say whether the JSON-LD is complete and the page plainly shows its price, so that nobody need look closer."""
    fast = structured[0].records
    complete = bool(fast) and all(
        "name" in record and has_amount(record) and ("currency" in record or "currency" in rules.declared)
        for record in fast
    )
    stocked = any("availability" in record for source in structured for record in source.records)
    return complete and stocked and visible.corroborates(page, fast)


def _answers(fast: Found, rules: ProductRules) -> bool:
    """Say whether the JSON-LD gives every field that the store has a rule for: the rules are for pages without it.

    Asked of a page that shows its price beside the name and the button: a rule would find that very place, by a tree.
    """
    return all(name in record for record in fast.records for name in rules.fields if name != "canonical_url")


def _is_settled(sources: Sequence[Found], rules: ProductRules) -> bool:
    """Say whether a store that has a rule or code for the price got name and price: who wrote it looked.

    Nobody guesses then: what is on show is the dearest source, which looks at every number of the page.
    """
    looked = "price" in rules.fields or (rules.parser is not None and any(map(has_amount, sources[0].records)))
    return looked and all(
        any(has(record) for source in sources for record in source.records) for has in (has_amount, _has_name)
    )


def _has_name(record: Values) -> bool:
    return "name" in record


class _Titles:
    """What a page calls itself, best first: its headings, its title. Notes whether anybody asked."""

    def __init__(self, page: Page) -> None:
        self.page, self.asked = page, False

    def __call__(self) -> Sequence[str]:
        self.asked = True
        if self.page.root is None:
            return []
        elements = chain(self.page.root.iter("h1"), self.page.root.iter("title"))
        return [shown(element, _MAX_TITLE) for element in islice(elements, 10)]


def _absolute(page: Page, listing: Extracted, resolved: Callable[[str], str]) -> Extracted:
    """Make the addresses of a record absolute: only the page knows its base."""
    values: Values = dict(listing.values)
    if "canonical_url" not in values and page.canonical_url:
        values["canonical_url"] = page.canonical_url
        listing.sources["canonical_url"] = "html"
    for name in ("url", "canonical_url"):
        value = values.get(name)
        if isinstance(value, str) and not value.startswith(("http://", "https://")):
            values[name] = resolved(value)
    images = values.get("images")
    if isinstance(images, list):
        values["images"] = [image if image.startswith("http") else resolved(image) for image in images]
    return Extracted(values=values, sources=listing.sources, disagreements=listing.disagreements)


def _doubts(extracted: Sequence[Extracted]) -> list[Problem]:
    return [
        Problem(name, f"{name} has characters that couldn't be decoded: {value[:80]!r}")
        for listing in extracted
        for name, value in listing.values.items()
        if isinstance(value, str) and "\ufffd" in value
    ]
