"""What a demo store is made of: every option, its default and its limits."""

from __future__ import annotations

from dataclasses import dataclass

from storebot.exceptions import ConfigurationError

MARKUPS = ("jsonld", "microdata", "plain", "mixed")
GUARDS = ("needs_cookies", "needs_http2", "needs_javascript", "blocks_first", "blocks_always", "api_only")
PAST_ENDS = ("404", "empty", "repeat_last", "redirect_first")

# code -> (symbol, exponent of ISO 4217)
CURRENCIES = {"GBP": ("£", 2), "EUR": ("€", 2), "USD": ("$", 2), "JPY": ("¥", 0)}

MAX_PRODUCTS = 5_000_000  # a GTIN has eight digits for product and variant, and new products need some


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopOptions:
    """The whole input of a demo store: equal options give byte-identical pages in any process.

    Raises ConfigurationError, with the option and what it may be, for a value out of its range.
    """

    products: int = 500
    seed: int = 1
    markup: str = "jsonld"  # "mixed" goes by product id: id % 3 is 0 jsonld, 1 microdata, 2 plain
    page_size: int = 20  # cards on a catalogue page
    currency: str = "GBP"
    variant_share: float = 0.1  # of products with 2-4 variants; products in plain markup never have any
    sitemap_size: int = 200  # product ids per gzipped child; ids of vanished products leave gaps
    past_end: str = "404"  # what the catalogue answers past its last page
    gzip: bool = False  # Content-Encoding when asked for; off, because it would be what a benchmark measures
    etag_gzip_suffix: bool = False  # as Apache's mod_deflate: gives "abc-gzip", and knows only "abc" again
    crawl_delay_s: int | None = None  # a Crawl-delay line in robots.txt
    https: bool = False  # HTTP/1.1 and HTTP/2 over TLS, with a certificate of its own
    guard: str = ""  # a lie that is told from the opening on: only who fetches in a certain way is let in
    guarded: str = "^/p/"  # the guard stands before paths in which this is found

    def __post_init__(self) -> None:
        _within("products", self.products, 0, MAX_PRODUCTS)
        _within("page_size", self.page_size, 1, 1_000)
        _within("sitemap_size", self.sitemap_size, 1, 50_000)  # https://www.sitemaps.org/protocol.html
        _one_of("markup", self.markup, MARKUPS)
        _one_of("currency", self.currency, tuple(CURRENCIES))
        _one_of("past_end", self.past_end, PAST_ENDS)
        if self.guard:
            _one_of("guard", self.guard, GUARDS)
        if self.guard == "needs_http2" and not self.https:
            raise ConfigurationError(
                "guard is 'needs_http2', but without https nobody can speak HTTP/2: switch https on"
            )
        if not 0 <= self.variant_share <= 1:
            raise ConfigurationError(f"variant_share is {self.variant_share}: give a share from 0 to 1")


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ConfigurationError(f"{name} is {value}: give a number from {low} to {high}")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ConfigurationError(f"{name} is {value!r}: choose one of {', '.join(known)}")
