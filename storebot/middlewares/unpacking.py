"""Ask for packed bodies and unpack them, each no further than its kind of page may be long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy.http import Request, Response, TextResponse
from scrapy.responsetypes import responsetypes

from storebot.core.page import MAX_BYTES
from storebot.core.unpacking import CODINGS, codings_of, unpacked
from storebot.items import PageType

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_ACCEPTED = ", ".join(CODINGS).encode()
_PAGES = (PageType.PRODUCT, PageType.CATALOGUE)


class UnpackingMiddleware:
    """In the place of Scrapy's HttpCompression: that drops a bomb as it drops what robots.txt forbids, and takes half
    a body for a whole one.

    ``max_bytes`` bounds every body, on the wire and unpacked; product and catalogue pages end at what is read of one.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes or MAX_BYTES
        self._max_page_bytes = min(self._max_bytes, MAX_BYTES)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings.getint("DOWNLOAD_MAXSIZE"))

    def process_request(self, request: Request) -> None:
        request.headers.setdefault("Accept-Encoding", _ACCEPTED)
        meta = request.meta
        if meta.get("page_type") in _PAGES and "download_maxsize" not in meta:
            meta["download_maxsize"] = self._max_page_bytes

    def process_response(self, request: Request, response: Response) -> Response:
        """Return the response unpacked. Raises AnswerTooLarge and AnswerBroken."""
        if not response.body or request.method == "HEAD" or not (said := response.headers.getlist("Content-Encoding")):
            return response
        codings, left = codings_of(b",".join(said).decode("latin-1"))
        body = unpacked(response.body, codings, request.meta.get("download_maxsize", self._max_bytes))
        headers = response.headers.copy()
        del headers["Content-Encoding"]
        if left:
            headers["Content-Encoding"] = ", ".join(left)
        kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
        own: dict[str, Any] = {"encoding": None} if issubclass(kind, TextResponse) else {}  # it is guessed anew
        return response.replace(cls=kind, headers=headers, body=body, **own)
