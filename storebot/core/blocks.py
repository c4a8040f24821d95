"""Whether a response is a block page instead of what was asked for (DESIGN §5, "Block page")."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from storebot.core.block_signatures import SIGNATURES, Kind, Signature, Strength, Where
from storebot.core.media import not_a_page
from storebot.core.pacing import retry_after_s
from storebot.core.page import Page
from storebot.core.text import unescape
from storebot.items import BlockSignal, PageType

SCAN_BYTES = 512 * 1024  # a challenge of 275 KB had its marker at byte 128,000 (us/crw pull request 288)
TINY_BYTES = 256  # no page of a store is that short; the shortest good page of the corpus has 440 bytes
SHORT_BYTES = 4096  # where the store's typical length isn't known
SHORT_SHARE = 0.1  # of the typical length

# A status that refuses this client by itself. RFC 9110 §15.5, RFC 6585 §4, RFC 7725; 430 is how Shopify refuses
# robots, 418 and 999 are how large sites do.
_REFUSALS = {
    401: Kind.LOGIN,
    403: Kind.DENIED,
    407: Kind.DENIED,
    418: Kind.DENIED,
    429: Kind.RATE_LIMIT,
    430: Kind.DENIED,
    451: Kind.DENIED,
    999: Kind.DENIED,
}
_SUSPECT = frozenset({202, 405, 406, 503})  # challenges come with these too: half of the proof
_ENOUGH = 2
_ENOUGH_FOR_ERRORS = 3  # 404, 410 and 5xx say what they are: only a page that is surely something else is a block

_FOR_MACHINES = (PageType.SITEMAP, PageType.FEED)  # may be as short as they like

_TITLE = re.compile(r"<title[^<>]*>((?:[^<]|<(?!/title)){0,2000})")  # bounded: pages with 70,000 of them were tried
_VENDOR_WEIGHT = {Strength.HINT: 1, Strength.WEAK: 2, Strength.STRONG: 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A response that is a block page: who blocks, how, and by what signs it was known."""

    vendor: str  # "generic" where nobody can be named
    kind: Kind
    signals: tuple[BlockSignal, ...]
    transient: bool  # waiting helps: no ban, no change of identity
    retry_after_s: float | None = None  # what the response asks for, not capped


class _Hit(NamedTuple):
    row: Signature
    signal: BlockSignal


def classify(
    page: Page,
    *,
    page_type: PageType,
    identity: Callable[[], bool] | bool,
    markers: Iterable[str] = (),
    typical_bytes: Callable[[], int | None] | int | None = None,
) -> Block | None:
    """Return the block that ``page`` is, or None for everything else, errors included.

    ``identity`` is the positive evidence: the required fields parse, product links were found, it is a sitemap. It is
    asked first and wins over any sign. ``markers`` are the store's own, and stand on its block pages alone.
    ``typical_bytes`` is how large its pages of this type are, None where that isn't known.
    Without positive evidence a refusing status or one sign that only block pages have is enough; a weak sign needs a
    second one from another place: status, header, title, body, URL, length.
    """
    if identity if isinstance(identity, bool) else identity():
        return None
    hits = tuple(_hits(page, markers))
    length = _length_signal(page, page_type, typical_bytes() if callable(typical_bytes) else typical_bytes)
    if not (page.status in _REFUSALS or _is_tiny(page, page_type) or _proven(page.status, hits, length)):
        return None
    vendor, kind = _verdict(page, page_type, hits)
    status = BlockSignal("status", str(page.status), vendor)
    signals = tuple(hit.signal for hit in hits)
    return Block(
        vendor=vendor,
        kind=kind,
        signals=(
            *((status,) if page.status in _REFUSALS or page.status in _SUSPECT else ()),
            *signals,
            *((length,) if length else ()),
        ),
        transient=kind.transient,
        retry_after_s=retry_after_s(page.headers.get("retry-after", ""), page.fetched_at_ms),
    )


def surely_refuses(page: Page, markers: Iterable[str] = ()) -> Kind | None:
    """Return how a page refuses, by a sign that stands on block pages alone; None for all others.

    It's asked of a page that isn't whole yet: what is short, or lacks something, says nothing there.
    """
    return next((hit.row.kind for hit in _hits(page, markers) if hit.row.strength is Strength.STRONG), None)


def _proven(status: int, hits: tuple[_Hit, ...], length: BlockSignal | None) -> bool:
    """Whether the signs add up: the strongest of each place counts, a suspect status and a short body count as weak."""
    places = {place: max(hit.row.strength for hit in hits if hit.row.where is place) for place in _places(hits)}
    proof = sum(places.values())
    if status in (404, 410) or (status >= 500 and status != 503):
        return proof >= _ENOUGH_FOR_ERRORS
    return proof > 0 and proof + (status in _SUSPECT) + (length is not None) >= _ENOUGH


def _places(hits: tuple[_Hit, ...]) -> set[Where]:
    return {hit.row.where for hit in hits}


def _verdict(page: Page, page_type: PageType, hits: tuple[_Hit, ...]) -> tuple[str, Kind]:
    """Return the vendor with the most weight of signs, and the kind of its strongest one."""
    refusal = _REFUSALS.get(page.status)
    weights: Counter[str] = Counter()
    for hit in hits:
        if hit.row.vendor != "generic":
            weights[hit.row.vendor] += _VENDOR_WEIGHT[hit.row.strength]
    vendor = weights.most_common(1)[0][0] if weights else "generic"
    own = [hit.row for hit in hits if hit.row.vendor == vendor and hit.row.strength > Strength.HINT]
    if refusal is None and not own:
        vendor = "generic"  # what stands on good pages too accuses nobody of an empty answer
    kind = max(own, key=lambda row: row.strength).kind if own else None
    if refusal and (kind is None or (vendor == "generic" and (refusal is Kind.RATE_LIMIT or kind.transient))):
        kind = refusal  # the status is plainer than wording that nobody owns
    return vendor, kind or (Kind.EMPTY if _is_tiny(page, page_type) else Kind.DENIED)


def _hits(page: Page, markers: Iterable[str]) -> Iterator[_Hit]:
    """Yield each row of the table, and each marker of the store, that the response shows."""
    text = page.body[:SCAN_BYTES].decode("utf-8", "replace").lower()
    title = _title(text)
    url = page.url.lower()
    for row in SIGNATURES:
        if row.where is Where.BODY and row.pattern in text:
            yield _Hit(row, BlockSignal("marker", row.pattern, row.vendor))
        elif row.where is Where.TITLE and row.pattern in title:
            yield _Hit(row, BlockSignal("marker", f"title: {title}", row.vendor))
        elif row.where is Where.URL and row.pattern in url:
            yield _Hit(row, BlockSignal("redirect", page.url[:200], row.vendor))
        elif row.where is Where.HEADER and (line := _header_line(page, row.pattern)):
            yield _Hit(row, BlockSignal("header", line, row.vendor))
    for marker in markers:
        if marker.lower() in text:
            row = Signature("generic", Kind.DENIED, Where.BODY, marker, Strength.STRONG, "the store file")
            yield _Hit(row, BlockSignal("marker", marker))


def _title(text: str) -> str:
    found = _TITLE.search(text)
    return " ".join(unescape(found[1]).split())[:200] if found else ""


def _header_line(page: Page, pattern: str) -> str:
    name, _, wanted = pattern.partition(":")
    value = page.headers.get(name)
    return f"{name}: {value}"[:200] if value is not None and wanted.strip() in value.lower() else ""


def _is_tiny(page: Page, page_type: PageType) -> bool:
    """Whether a successful answer is too short to be a page of a store.

    JSON may be (an API's last page is ``[]``), and an image or a document is no page at all.
    """
    if page.status >= 300 or page_type in _FOR_MACHINES:
        return False
    body = page.body.strip()
    return len(body) < TINY_BYTES and not body.startswith((b"{", b"[")) and not not_a_page(page.body, "")


def _length_signal(page: Page, page_type: PageType, typical_bytes: int | None) -> BlockSignal | None:
    limit = SHORT_BYTES if typical_bytes is None else typical_bytes * SHORT_SHARE
    short = page_type not in _FOR_MACHINES and len(page.body) < limit
    return BlockSignal("length", str(len(page.body))) if short or _is_tiny(page, page_type) else None
