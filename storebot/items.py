"""The values that travel between the parts: what to visit, what a visit gave, what a listing says.

Frozen (but for `Visit`), without Scrapy, a database or a clock. Times are integer milliseconds since the Unix epoch,
UTC (docs/decisions/0002-times-as-epoch-milliseconds.md); money is integer minor units of an ISO 4217 currency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class PageType(StrEnum):
    """What a URL of a store is expected to hold."""

    PRODUCT = "product"
    CATALOGUE = "catalogue"
    SITEMAP = "sitemap"
    FEED = "feed"  # it carries products whole: a page of a platform's listing, a product feed


class Tier(StrEnum):
    """A way to fetch a page, in the order of what it costs."""

    HTTP = "http"
    HTTP2 = "http2"
    BROWSER = "browser"
    ATTACHED = "attached"
    API = "api"


class Outcome(StrEnum):
    """How one visit ended: a closed set, exactly one each (DESIGN §5)."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    NOT_MODIFIED = "not_modified"
    HELD = "held"
    MOVED = "moved"
    MISSING = "missing"
    BLOCKED = "blocked"
    INVALID = "invalid"
    ERROR = "error"
    SKIPPED = "skipped"

    @property
    def seen(self) -> bool:
        """Whether the visit observed the listing: *unchanged* and *not observed* are never the same thing."""
        return self in _SEEN


NOT_OBSERVED = (Outcome.BLOCKED, Outcome.ERROR, Outcome.INVALID)  # nothing is known from it, not even that it's gone
_SEEN = frozenset({Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED, Outcome.NOT_MODIFIED})


class PageStatus(StrEnum):
    """What is known of a page between visits."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    FETCHED = "fetched"
    PARSED = "parsed"
    ERROR = "error"
    GONE = "gone"


class ListingStatus(StrEnum):
    """Whether a listing is believed to be on sale."""

    ACTIVE = "active"
    MISSING = "missing"
    DELISTED = "delisted"


class RunStatus(StrEnum):
    """How a run ended; ``RUNNING`` while it lasts."""

    RUNNING = "running"
    COMPLETE = "complete"
    PARTIAL = "partial"
    BLOCKED = "blocked"
    HELD = "held"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class WalkState(StrEnum):
    """Where a walk (the pages of a catalogue, the entries of one sitemap) stands."""

    WALKING = "walking"
    ENDED = "ended"  # the end was proven; `reason` says how
    INCOMPLETE = "incomplete"  # it stopped without a proof of the end
    CLOSED = "closed"  # ended, and the backfill that it belonged to is complete


class Availability(StrEnum):
    """schema.org ItemAvailability, without its URL prefix. https://schema.org/ItemAvailability"""

    IN_STOCK = "InStock"
    OUT_OF_STOCK = "OutOfStock"
    SOLD_OUT = "SoldOut"
    PRE_ORDER = "PreOrder"
    PRE_SALE = "PreSale"
    BACK_ORDER = "BackOrder"
    LIMITED_AVAILABILITY = "LimitedAvailability"
    IN_STORE_ONLY = "InStoreOnly"
    ONLINE_ONLY = "OnlineOnly"
    MADE_TO_ORDER = "MadeToOrder"
    RESERVED = "Reserved"
    DISCONTINUED = "Discontinued"


class Discovered(NamedTuple):
    """A product page that a sitemap or a catalogue page names."""

    url: str  # as found, absolute
    url_key: str
    lastmod: str | None = None  # the sitemap's own text


class Card(NamedTuple):
    """What a page of the catalogue shows of one product."""

    url: str
    url_key: str
    price_minor: int | None = None  # what a buyer pays now, beyond doubt; with its currency
    currency: str | None = None
    availability: Availability | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One page to visit, with what the last visit left for this one."""

    store: str
    url: str
    url_key: str
    page_type: PageType = PageType.PRODUCT
    page_id: int = 0
    claim_token: str = ""
    etag: str | None = None  # present only where a committed parse of the current parser stands behind it
    last_modified: str | None = None
    content_hash: str | None = None
    details_hash: str | None = None
    source_hash: str | None = None  # of the structured data that alone made the record; present as the validators are
    canonical_key: str | None = None  # what its canonical link names: not itself, or the key that it has by that alone
    hash_version: int = 0
    parser_version: str = ""
    fetched_at: int = 0  # when the page was fetched that its record was read from; 0 where it has none
    checked_at: int = 0  # and when it last gave an answer that says something of it
    lane: str = ""  # why it's visited: core.planner.lanes


class Disagreement(NamedTuple):
    """Two sources of one page that give different values for one field."""

    field: str
    values: dict[str, str]  # source -> value as found


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What a page says of one listing, as found: text not yet normalised, each field with its source.

    ``values`` has text, ``list[str]`` for ``images`` and ``category_path``, ``dict[str, str]`` for ``options``. Its
    keys are those of `Listing`, except that money is ``price``, ``regular_price``, ``price_min``, ``price_max``.
    ``sources`` maps a field to the extractor that won: ``jsonld``, ``shopify``, ``woocommerce`` (what these platforms
    write into a page's scripts, or publish as a listing), ``merchant`` (a product feed), ``microdata``, ``rdfa``,
    ``opengraph``, ``html``, ``css:…``, ``xpath:…``, ``re:…``, ``visible:…`` (on show beside the buy button) or
    ``declared`` (a constant of the store file).
    """

    values: dict[str, str | list[str] | dict[str, str]]
    sources: dict[str, str]
    disagreements: tuple[Disagreement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One sellable thing on a page, normalised: the record of DESIGN §6 without what only the database knows."""

    store: str
    url_key: str
    url: str
    variant_id: str = ""  # "" is the product itself
    product_id: str | None = None
    item_group_id: str | None = None
    canonical_url: str | None = None
    name: str | None = None
    brand: str | None = None
    gtin: str | None = None  # 14 digits, check digit valid
    mpn: str | None = None
    sku: str | None = None
    price_minor: int | None = None
    regular_price_minor: int | None = None
    currency: str | None = None  # ISO 4217
    price_min_minor: int | None = None
    price_max_minor: int | None = None
    availability: Availability | None = None
    condition: str | None = None  # schema.org OfferItemCondition, without its URL prefix
    options: dict[str, str] = field(default_factory=dict)
    category_path: tuple[str, ...] = ()
    main_image: str | None = None
    images: tuple[str, ...] = ()
    description: str | None = None
    rating_value: str | None = None  # decimal text
    review_count: int | None = None
    seller: str | None = None
    field_source: dict[str, str] = field(default_factory=dict)
    disagreements: tuple[Disagreement, ...] = ()
    record_hash: str = ""  # set by Fingerprint: SHA-256 hex over the tracked fields
    details_hash: str = ""  # the same over description and images


class Problem(NamedTuple):
    """Why a listing, or one field of it, can't be believed."""

    field: str
    reason: str  # a sentence with the value in it


VARIANTS = "variants"
"""The ``field`` of a `Problem` which says that a page has variants and doesn't name them: nothing is known of them."""


CARD = "card"
"""The ``source`` of a visit that a card on a page of the catalogue made: the page's record, with another price."""


class BlockSignal(NamedTuple):
    """One piece of evidence that a response is a block page."""

    kind: str  # status | header | marker | length | redirect
    value: str  # the status, the header line, the marker's text, the length in bytes
    vendor: str = "generic"
    tier: str = ""  # by which the page came; "": by that of the visit


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPage:
    """One generation of one page, as it was accepted. ``headers`` have lower-case names; ``body`` is decoded."""

    url_key: str
    url: str
    final_url: str
    fetched_at_ms: int
    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    page_type: str = "product"
    tier: str = "http"
    content_hash: str = ""  # hex; of the record that was read from it, or of the keys on a page of a catalogue
    origin: int = 0  # which database it was fetched for: the start of the store's first run there
    held: bool = False  # whether its record waits at the write gate, and another one is published


@dataclass(frozen=True, slots=True)
class PackedPage:
    """The same, ready to be written: the body of ``page`` is empty, ``packed`` is what stands for it."""

    page: KeptPage
    sha256: bytes
    size: int
    packed: bytes
    dictionary: bytes  # its name; b"" for none


class Expense(NamedTuple):
    """What something took, added up."""

    requests: int = 0
    size_bytes: int = 0
    elapsed_ms: int = 0
    browser_ms: int = 0
    billed: int = 0
    cost_micro: int = 0  # millionths of a unit of the currency of the store's price table

    def plus(self, other: Expense) -> Expense:
        """Return both together."""
        return Expense(*map(int.__add__, self, other))

    def minus(self, other: Expense) -> Expense:
        """Return what this has more than the other, of each."""
        return Expense(*map(int.__sub__, self, other))


@dataclass(slots=True)
class Spent:
    """What one visit took so far, over all its tries: one object in ``request.meta["spent"]`` of each of them.

    Whoever sends something on the wire adds to it; retries, redirects and escalations share it, because they copy the
    meta of their request.
    """

    requests: int = 0  # sent on the wire for the page itself; in a browser, what the page loaded beside it, too
    size_bytes: int = 0  # received, as on the wire where that is known
    elapsed_ms: int = 0  # from the first byte sent to the last received, all tries added up
    browser_ms: int = 0  # of this, in a browser
    billed: int = 0  # calls of a scraping API that are paid for, failed ones included
    tries: dict[Tier, int] = field(default_factory=dict)  # requests by tier
    steps: list[str] = field(default_factory=list)  # escalations, a sentence each: "http: blocked (cloudflare)"
    by_tier: dict[Tier, Expense] = field(default_factory=dict)  # the same by tier, with its price: of core.costs

    @property
    def cost_micro(self) -> int:
        """What it cost, over all tiers."""
        return sum(expense.cost_micro for expense in self.by_tier.values())


@dataclass(slots=True, kw_only=True)
class Visit:
    """One attempt at one page in one run, on its way to the database.

    A spider fills it from a response; ``outcome`` is None while the page parsed and only the database can tell whether
    it is new, changed or unchanged. The one value that isn't frozen: each pipeline fills in its part, and nobody else
    holds it.
    """

    target: Target
    at_ms: int
    outcome: Outcome | None = None
    status: int = 0  # HTTP status; 0 when no response came
    reason: str = ""  # a sentence for everything that isn't seen
    retry_at_ms: int = 0  # of one that isn't seen: before that time the store doesn't want to be asked again
    tier: str = "http"
    source: str = ""  # the feed that carried the record, such as "shopify"; "" where the page itself was read
    requests: int = 1  # HTTP requests that the visit took, retries and redirects included; 0 where a feed carried it
    size_bytes: int = 0
    elapsed_ms: int = 0
    browser_ms: int = 0
    billed: int = 0  # calls of a scraping API that are paid for
    cost_micro: int = 0  # millionths of a unit of the currency of the store's price table
    by_tier: Mapping[Tier, Expense] = field(default_factory=dict)  # the six above, by the tier that took it
    steps: tuple[str, ...] = ()  # escalations to another tier, a sentence each
    final_url: str = ""
    final_key: str = ""  # differs from target.url_key after an accepted redirect
    canonical_key: str = ""  # of the page that this one calls its true one; "" for itself
    amp_key: str = ""  # of its AMP copy
    etag: str | None = None
    last_modified: str | None = None
    requested_url: str = ""  # of a page that was read, as the parsers had it
    body: bytes = b""  # of a page that was read; Keep lets go of it
    headers: Mapping[str, str] = field(default_factory=dict)  # of what it came with, those that may be kept
    kept: PackedPage | None = None  # what the page archive gets with the commit
    page_sha256: str = ""
    extracted: tuple[Extracted, ...] = ()
    listings: tuple[Listing, ...] = ()
    problems: tuple[Problem, ...] = ()
    content_hash: str = ""  # over the record hashes of all listings; set by Fingerprint
    details_hash: str = ""
    source_hash: str = ""
    blocks: tuple[BlockSignal, ...] = ()
    false_304: bool = False  # asked by what was known, the server denied that the page it had just sent is another
    evidence: str = ""  # of a missing page: core.delist.Evidence
    stray_hash: str = ""  # of a page without a product: core.soft404


class Round(NamedTuple):
    """One reading of all that a source of a store names, as it's counted in the database."""

    scope_id: int
    number: int
    since_ms: int  # when this run began to read, by the database's clock


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogPage:
    """One page of a walk with what it names: its rows and its checkpoint are saved in one transaction.

    ``checkpoint`` False saves the rows alone (the catalogue head of a refresh, pages beyond a blocked one).
    A sitemap file is a walk whose pages are chunks of its entries.
    """

    store: str
    walk: str  # "catalogue /catalogue/page-{page}.html", "sitemap https://…/sitemap.xml"
    number: int
    url: str
    at_ms: int
    found: tuple[Discovered, ...]
    cards: tuple[Card, ...] = ()  # what it shows of them, in its order
    fingerprint: str = ""  # of the raw product keys on the page
    params: str = ""  # fingerprint of the walk's parameters
    next_url: str | None = None  # where a walk by next links goes on
    checkpoint: bool = True
    visits: tuple[Visit, ...] = ()  # of product pages that this one carries whole, without page id and claim
    round: Round | None = None  # in which it names them; None: that isn't noted
    kept: PackedPage | None = None  # what the page archive gets with the commit


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkEnd:
    """The end of a walk, saved after all its pages: the end that was proven, or what kept it from being proven.

    ``checkpoint`` False leaves the checkpoint as it is (the walks of a refresh look at the head alone).
    """

    store: str
    walk: str
    at_ms: int
    state: WalkState
    reason: str = ""
    checkpoint: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlay:
    """What was spent on anything but the visit of a product page: on discovery, or on a page that brought no visit."""

    store: str
    at_ms: int
    tier: Tier
    page_type: str  # of PageType, or "robots"
    expense: Expense


Record = Visit | CatalogPage | WalkEnd
