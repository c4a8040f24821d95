"""The store file that the findings call for, as a value: every key with the evidence that stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from urllib.parse import urlsplit

from storebot.core.probing.currency import currency_to_declare
from storebot.core.probing.explore import Findings
from storebot.core.probing.product_url import excluded_in
from storebot.core.probing.seen import Kind, Seen
from storebot.core.probing.sitemap_look import child_pattern

DELAY_S = 1.0  # storebot's default, [politeness] delay_s
_SLOW_MS = 1000  # a shop that takes longer to answer is asked less often

Value = bool | int | float | str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a section: its value, and why."""

    key: str
    value: Value
    why: str = ""
    is_off: bool = False  # written as a comment: a proposal that a person has to decide on


@dataclass(frozen=True, slots=True)
class Draft:
    """One store file: the sections in order, the top of the file under "". ``open`` are sentences of what is left."""

    name: str
    sections: dict[str, list[Entry]]
    about: tuple[str, ...] = ()  # the comment at the top
    open: tuple[str, ...] = field(default=())

    def entry(self, section: str, key: str) -> Entry | None:
        """Return one entry, by its section and key."""
        return next((one for one in self.sections.get(section, []) if one.key == key and not one.is_off), None)


def delay_s(findings: Findings, crawl_delay_s: float | None) -> tuple[float, str]:
    """Return the seconds between requests that the shop calls for, and why; the default where nothing asks for more."""
    seen = list(findings.book.seen.values())
    if crawl_delay_s and crawl_delay_s > DELAY_S:
        return crawl_delay_s, "robots.txt asks for it (Crawl-delay)"
    if any(page.status in (429, 503) for page in seen):
        return 3 * DELAY_S, "the shop said that it was asked too much (429 or 503)"
    times = [page.elapsed_ms for page in seen if page.elapsed_ms]
    if times and median(times) > _SLOW_MS:
        return round(2 * median(times) / 1000, 1), "the shop takes its time to answer"
    return DELAY_S, "nothing asks for more"


def draft(findings: Findings, name: str, *, crawl_delay_s: float | None = None) -> Draft:
    """Return the store file; ``findings`` must have a ``product_url``."""
    assert findings.product_url is not None
    pattern = findings.product_url
    why = f"worked out from {len(findings.products)} proven product pages by {pattern.how}"
    if findings.is_assumed:
        why = f"assumed from links that stand beside prices, by {pattern.how}: no product page could be read"
    if pattern.excluded:
        why += f"; left out, because they are no products: {excluded_in(pattern.excluded)}"
    sections = {
        "": [
            Entry("base_url", findings.base_url),
            Entry("product_url", pattern.pattern, why),
        ],
        "discover": _discover(findings),
        "catalogue": _catalogue(findings),
        "product": _product(findings),
        "politeness": _politeness(findings, crawl_delay_s),
        "expect": _expect(findings.products),
    }
    about = (
        f"Written by `scrapy probe` from {findings.book.asked} pages of {urlsplit(findings.base_url).netloc}.",
        "Every line is yours to change; what stands behind a # is why it is there.",
    )
    return Draft(name, {key: entries for key, entries in sections.items() if entries}, about, _open(findings))


def _discover(findings: Findings) -> list[Entry]:
    sitemaps, pattern = findings.sitemaps, findings.product_url
    assert pattern is not None
    entries: list[Entry] = []
    listed = [url for url in sitemaps.urls if pattern.finds(url)]
    platform = findings.platform
    if platform and platform.api:
        entries.append(Entry("platform", platform.name, f"{platform.api} answers"))
    if not listed:
        tried = "; ".join(f"{urlsplit(file.url).path} {file.problem}" for file in sitemaps.files if file.problem)
        entries.append(Entry("sitemaps", False, f"none names products ({tried or 'none is named'})"))
        return entries
    roots = [file.url for file in sitemaps.roots]
    usual = f"{findings.base_url}/sitemap.xml"
    if any(file.guessed and file.url != usual for file in sitemaps.roots):
        entries.append(Entry("sitemaps", tuple(roots), "robots.txt names none, and this isn't the usual place"))
    child = child_pattern(sitemaps, pattern.pattern)
    if child:
        entries.append(Entry("sitemap_url", child, "only these children of the index name products"))
    return entries


def _catalogue(findings: Findings) -> list[Entry]:
    lists = findings.catalogue.lists
    if not lists:
        return []
    urls: list[str] = []
    for one in lists:
        if one.template is None or one.first_too:
            urls.append(_path(one.url, findings.base_url))
        if one.template is not None:
            urls.append(_path(one.template.url, findings.base_url))
    shown = len(frozenset().union(*(one.products for one in lists)))
    proof = (
        "they were looked at whole, and show"
        if findings.catalogue.is_proven
        else "their pages that were looked at show"
    )
    entries = [Entry("url", tuple(dict.fromkeys(urls)), f"{proof} {shown} products")]
    if findings.catalogue.next_rule:
        entries.append(Entry("next", findings.catalogue.next_rule, "leads to the next page of a list"))
    return entries


def _path(url: str, base_url: str) -> str:
    path = url.removeprefix(base_url)
    return path if path.startswith("/") else url


def _product(findings: Findings) -> list[Entry]:
    why = "what the lists show of a product stands there on all sampled pages; nothing says it for machines"
    entries = [Entry(name, (text,), why) for name, text in findings.selectors.items()]
    declared = currency_to_declare(findings.products) if findings.products else None
    if declared is not None:
        entries.append(Entry("currency", declared.code or "EUR", declared.why, is_off=not declared.code))
    return entries


def _politeness(findings: Findings, crawl_delay_s: float | None) -> list[Entry]:
    seconds, why = delay_s(findings, crawl_delay_s)
    return [Entry("delay_s", seconds, why)] if seconds != DELAY_S else []


def _expect(products: Sequence[Seen]) -> list[Entry]:
    if not products:
        return []
    listings = [listing for page in products for listing in page.listings]
    has = {"name": "name", "price": "price_minor", "currency": "currency"}
    every = tuple(name for name, value in has.items() if all(getattr(one, value) is not None for one in listings))
    if "price" not in every:
        return []
    why = f"all {len(products)} sampled pages have them; without the # a page that lacks one is invalid"
    return [Entry("required", every, why, is_off=True)]


def _open(findings: Findings) -> tuple[str, ...]:
    """Return sentences that say what couldn't be found, or isn't sure."""
    pattern, catalogue = findings.product_url, findings.catalogue
    assert pattern is not None
    found = []
    if findings.is_assumed:
        found.append("No product page could be read: what a crawl of them gives is unknown.")
    if pattern.matched_others:
        found.append(
            f"product_url also finds {len(pattern.matched_others)} pages that are no products, such as "
            f"{pattern.matched_others[0]}: a crawl will call them invalid."
        )
    if pattern.likely and pattern.matched_likely < pattern.likely:
        missed = pattern.likely - pattern.matched_likely
        found.append(f"{missed} of {pattern.likely} addresses beside those of products don't match product_url.")
    if not catalogue.lists and not any(pattern.finds(url) for url in findings.sitemaps.urls):
        found.append("No sitemap and no list of products was found: a crawl has nowhere to start.")
    elif not catalogue.is_proven and catalogue.lists:
        found.append(
            "Whether the lists have every product isn't proven: compare the number of listings with the shop's."
        )
    if catalogue.uncovered:
        found.append(f"{catalogue.uncovered} products that were seen are in no sitemap and on none of the lists.")
    blocked = findings.book.of_kind(Kind.BLOCKED)
    if blocked:
        found.append(f"{len(blocked)} pages were blocked: {blocked[0].url} is {blocked[0].reason}.")
    declared = currency_to_declare(findings.products) if findings.products else None
    if declared and ("check" in declared.why or not declared.code):
        found.append(f"The currency: {declared.why}.")
    return tuple(found)
