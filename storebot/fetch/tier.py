"""What every way to fetch a page is to the download handler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from scrapy.http import HtmlResponse

from storebot.items import Tier

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response

    from storebot.stores.model import Store

_OF_THE_WIRE = frozenset(
    ("content-type", "content-encoding", "content-length", "transfer-encoding", "etag", "last-modified")
)


class FetchTier(ABC):
    """One way to fetch; there is one object of it per crawler, made before the first request, closed after the last.

    It is made while the engine is: ``crawler.spider`` and its ``store`` are there, a running event loop is, but
    ``crawler.engine`` isn't. ``from_crawler`` raises ConfigurationError for what can be told before anything is
    fetched; whatever else can't be used shows at the first request, as TierUnusable.

    What is counted in ``request.meta["spent"]`` (items.Spent, always there when `fetch` is called): the download
    handler adds the try, its time and, unless `counts_wire` is True, one request with the bytes of the response's
    body, whether it succeeded or not. A tier adds what only it knows: ``browser_ms``, ``billed``, and with
    `counts_wire` all requests and bytes.

    A body that was text here (a rendered document, the text in an API's JSON) goes through `html_response`.
    """

    tier: ClassVar[Tier]
    counts_wire: ClassVar[bool] = False  # whether `fetch` itself adds requests and size_bytes to what was spent

    @classmethod  # noqa: B027  # most tiers need nothing
    def check(cls, store: Store) -> None:
        """Raise ConfigurationError for what keeps a store from using the tier: a missing package, an unset variable.

        ``scrapy crawl`` asks before anything starts; then the error is one line, and exit 2.
        """

    @classmethod
    @abstractmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the tier, ready for the event loop; nothing is fetched or started yet that may fail slowly."""

    @abstractmethod
    async def fetch(self, request: Request) -> Response:
        """Return the response to a request, of any status.

        Raises one of Scrapy's own download exceptions where one says it (``RetryMiddleware`` knows them), else a
        `storebot.exceptions.FetchFailed`, whose text is one sentence without a password or key in it.
        """

    async def close(self) -> None:  # noqa: B027  # what holds nothing open has nothing to do
        """Let go of connections, browsers, processes; called once, whatever happened before."""


def html_response(
    url: str, html: str, *, status: int = 200, headers: Mapping[str, str] | None = None, flags: Sequence[str] = ()
) -> HtmlResponse:
    """Return the response that a document makes which came as text, not as the bytes of the wire.

    It is UTF-8 and its Content-Type says so, whatever the shop's header said (case E01): so it is read again from the
    page archive, too. Of ``headers`` those are left out that describe the bytes of the wire, among them validators.
    """
    kept = {name: value for name, value in (headers or {}).items() if name.lower() not in _OF_THE_WIRE}
    return HtmlResponse(
        url,
        status=status,
        headers={**kept, "Content-Type": "text/html; charset=utf-8"},
        body=html.encode("utf-8", "replace"),  # a lone surrogate, which JSON and scripts can make, is no character
        encoding="utf-8",
        flags=list(flags),
    )
