"""What a probe found, as a person reads it and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from storebot.core.probing.draft import DELAY_S, Draft, delay_s
from storebot.core.probing.explore import Findings
from storebot.core.probing.fields import FieldEvidence, field_evidence
from storebot.core.probing.seen import Kind, RobotsSaid
from storebot.core.summary import table

_HEADERS = ("field", "pages", "confidence", "sources", "disagreements", "example")


def tier_of(findings: Findings) -> tuple[str, str]:
    """Return the tier that the shop's pages need, and why."""
    pages = [*findings.products, *findings.book.of_kind(Kind.OTHER)]
    bare = sum(page.scripted for page in pages)
    if pages and 2 * bare > len(pages):
        return "browser", f"{bare} of {len(pages)} pages are empty without their scripts"
    return "http", f"{len(pages) - bare} of {len(pages)} pages can be read as they come"


def report(findings: Findings, draft: Draft | None, robots: RobotsSaid) -> str:
    """Return the report: facts with their evidence, the table of fields, and what is open."""
    products = findings.products
    rows = [_row(one, len(products)) for one in field_evidence(products)]
    parts = ["\n".join(f"{name + ':':<14}{text}" for name, text in _facts(findings, robots))]
    if rows:
        parts.append(table(_HEADERS, rows))
    remarks = [f"disagreement: {text}" for text in disagreements(findings)]
    remarks += [f"open: {sentence}" for sentence in (draft.open if draft else ())]
    return "\n\n".join([*parts, "\n".join(remarks)] if remarks else parts)


def _facts(findings: Findings, robots: RobotsSaid) -> Iterator[tuple[str, str]]:
    base, book = findings.base_url, findings.book
    products, others = findings.products, book.of_kind(Kind.OTHER)
    yield "shop", base
    yield "looked at", f"{book.asked} pages: {len(products)} products, {len(others)} others{_troubles(findings)}"
    yield "robots.txt", _robots(robots)
    yield "platform", _platform(findings)
    yield "sitemaps", _sitemaps(findings)
    pattern = findings.product_url
    if pattern:
        likely = (
            f"; matches {pattern.matched_likely} of {pattern.likely} addresses like theirs" if pattern.likely else ""
        )
        yield "product_url", f"{pattern.pattern}  (by {pattern.how}{likely})"
    else:
        yield "product_url", "not found: no page is a product beyond doubt"
    yield "catalogue", _catalogue(findings)
    seconds, why = delay_s(findings, robots.crawl_delay_s)
    yield "delay", f"{seconds} s ({why})" if seconds != DELAY_S else f"{seconds} s"
    tier, why = tier_of(findings)
    yield "tier", f"{tier} ({why})"
    yield "blocks", "; ".join(f"{page.url} is {page.reason}" for page in book.of_kind(Kind.BLOCKED)[:3]) or "none"


def _robots(robots: RobotsSaid) -> str:
    if robots.status != 200:
        return f"answers {robots.status}: it forbids nothing" if robots.status else "can't be had"
    delay = f"Crawl-delay {robots.crawl_delay_s:g} s" if robots.crawl_delay_s else "no Crawl-delay"
    lines = ", ".join(robots.forbids[:3]) + (" …" if len(robots.forbids) > 3 else "")
    forbids = f"{len(robots.forbids)} Disallow lines ({lines})" if robots.forbids else "forbids nothing"
    return f"{delay}; names {len(robots.sitemaps)} sitemaps; {forbids}"


def _troubles(findings: Findings) -> str:
    kinds = (Kind.MISSING, Kind.BLOCKED, Kind.FORBIDDEN, Kind.FAILED, Kind.ELSEWHERE)
    counts = [(kind, len(findings.book.of_kind(kind))) for kind in kinds]
    return "".join(f", {count} {kind}" for kind, count in counts if count)


def _platform(findings: Findings) -> str:
    platform = findings.platform
    if platform is None:
        return "none that is known"
    if platform.api:
        return f"{platform.name}; {platform.api} answers with products"
    return f"{platform.name}; no interface for products ({platform.problem})" if platform.problem else platform.name


def _sitemaps(findings: Findings) -> str:
    named = findings.sitemaps.named
    if not named:
        tried = ", ".join(f"{urlsplit(file.url).path} {file.problem}" for file in findings.sitemaps.files)
        return f"none ({tried})"
    entries = len(findings.sitemaps.urls)
    pattern = findings.product_url
    matched = sum(pattern.finds(url) for url in findings.sitemaps.urls) if pattern else 0
    unread = sum(not file.read for file in named)
    bad = [f"; {urlsplit(file.url).path}: {file.problem}" for file in named if file.problem]
    left = f", {unread} more not read" if unread else ""
    return f"{len(named) - unread} files{left}, {entries} addresses, {matched} of products{''.join(bad[:3])}"


def _catalogue(findings: Findings) -> str:
    catalogue = findings.catalogue
    if not catalogue.lists:
        looked = f"; {catalogue.looked_at} lists were looked at" if catalogue.looked_at else ""
        return f"not needed: the sitemaps have what the lists show{looked}" if findings.sitemaps.urls else "none found"
    names = [(one.template.url if one.template else one.url).removeprefix(findings.base_url) for one in catalogue.lists]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    follows = f", next by {catalogue.next_rule}" if catalogue.next_rule else ""
    return f"{', '.join(names[:3])}{more}{follows}"


def _row(one: FieldEvidence, pages: int) -> list[str]:
    sources = ", ".join(f"{source} {count}" for source, count in one.sources[:3])
    return [one.field, f"{one.pages}/{pages}", str(one.confidence), sources, str(one.disagreements or "-"), one.example]


def disagreements(findings: Findings) -> list[str]:
    """Return the first disagreements of the sample as sentences."""
    found = []
    for page in findings.products:
        for one in dict.fromkeys(
            (one.field, tuple(one.values.items())) for listing in page.listings for one in listing.disagreements
        ):
            said = ", ".join(f"{source} says {value!r}" for source, value in one[1])
            found.append(f"{page.final_url}: {one[0]}: {said}")
    return found[:5]


def as_json(findings: Findings, draft: Draft | None, robots: RobotsSaid) -> dict[str, Any]:
    """Return the same for machines."""
    pattern, platform, catalogue = findings.product_url, findings.platform, findings.catalogue
    seconds, _ = delay_s(findings, robots.crawl_delay_s)
    return {
        "base_url": findings.base_url,
        "pages": {str(kind): len(findings.book.of_kind(kind)) for kind in Kind},
        "robots": robots._asdict(),
        "platform": platform and {"name": platform.name, "api": platform.api, "problem": platform.problem},
        "sitemaps": [
            {"url": one.url, "entries": len(one.urls), "dated": one.dated, "read": one.read, "problem": one.problem}
            for one in findings.sitemaps.named
        ],
        "product_url": pattern
        and {
            "pattern": pattern.pattern,
            "how": pattern.how,
            "excluded": list(pattern.excluded),
            "likely": pattern.likely,
            "matched_likely": pattern.matched_likely,
            "matched_others": list(pattern.matched_others),
            "assumed": findings.is_assumed,
        },
        "catalogue": {
            "lists": [
                {
                    "url": one.url,
                    "template": one.template.url if one.template else None,
                    "pages": one.template.last if one.template else None,
                    "next": one.next_rule or None,
                    "products": len(one.products),
                    "whole": one.is_whole,
                    "problem": one.broken,
                }
                for one in catalogue.lists
            ],
            "proven": catalogue.is_proven,
            "uncovered": catalogue.uncovered,
        },
        "fields": [_field(one) for one in field_evidence(findings.products)],
        "disagreements": disagreements(findings),
        "blocks": [{"url": page.url, "reason": page.reason} for page in findings.book.of_kind(Kind.BLOCKED)],
        "delay_s": seconds,
        "tier": tier_of(findings)[0],
        "open": list(draft.open) if draft else [],
    }


def _field(one: FieldEvidence) -> dict[str, Any]:
    return {
        "field": one.field,
        "pages": one.pages,
        "sources": dict(one.sources),
        "confidence": str(one.confidence),
        "disagreements": one.disagreements,
        "example": one.example,
    }


def reason_for_nothing(findings: Findings) -> str:
    """Return the sentence that says why no store file can be written, and what may help."""
    start, book = findings.start, findings.book
    if start.kind is Kind.BLOCKED:
        return f"{start.url} is {start.reason}"
    if start.kind in (Kind.FAILED, Kind.FORBIDDEN, Kind.ELSEWHERE):
        return f"{start.url} {start.reason}"
    if tier_of(findings)[0] == "browser":
        return "the shop's pages are empty without their scripts, and storebot runs none yet"
    tried = [page.final_url for page in book.of_kind(Kind.OTHER)]
    example = f" (the last looked at was {tried[-1]})" if tried else ""
    if findings.product_url is None:
        return (
            f"none of {book.asked} pages is a product beyond doubt{example}: give the address of a page with products "
            "on it, or write the file by hand with selectors (docs/adding-a-store.md)"
        )
    return "products were found, but neither a sitemap nor a list that leads to them: give the address of a list"


def unusable(findings: Findings) -> bool:
    """Say whether a crawl of what was found could find nothing."""
    pattern = findings.product_url
    carried = findings.platform is not None and findings.platform.api
    return pattern is None or not (
        carried or findings.catalogue.lists or any(map(pattern.finds, findings.sitemaps.urls))
    )
