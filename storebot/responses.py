"""The seam between Scrapy and the core: a Scrapy Response becomes a Page, and a block page an exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Headers, Request, Response

from storebot.core.page import Page
from storebot.exceptions import StorebotError
from storebot.items import BlockSignal, Tier


class BlockedPage(StorebotError, IgnoreRequest):
    """Raised by the block middleware for the second block page of one visit; a spider's errback records it."""

    retry_at_ms = 0  # before which the store doesn't want to be asked again, where it says so

    def __init__(self, url: str, status: int, signals: tuple[BlockSignal, ...]) -> None:
        self.url, self.status, self.signals = url, status, signals
        seen = ", ".join(f"{signal.kind} {signal.value}" for signal in signals)
        super().__init__(f"{url}: a block page (status {status}; {seen})")


class AskedToStayAway(BlockedPage):
    """Raised by the pacing middleware for an answer whose Retry-After is longer than a run waits."""

    def __init__(self, url: str, status: int, retry_after: str, retry_at_ms: int) -> None:
        super().__init__(url, status, (BlockSignal("status", str(status)), BlockSignal("header", retry_after)))
        self.retry_at_ms = retry_at_ms
        self.args = (f"{url}: HTTP {status} with {retry_after}",)


class NotSent(StorebotError, IgnoreRequest):
    """Raised by the pacing middleware for a request that the run no longer sends, because it ends: it's no visit."""


class HeaderView(Mapping[str, str]):
    """A response's headers by lower-case name, decoded when somebody asks: most are never looked at."""

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def __getitem__(self, name: str) -> str:
        values = dict.get(self._headers, _key_of(name))
        if not values:
            raise KeyError(name)
        return b", ".join(values).decode("latin-1")

    def get(self, name: str, default: Any = None) -> Any:
        """Return a header, or ``default``: most of those that are asked for aren't there."""
        values = dict.get(self._headers, _key_of(name))
        return b", ".join(values).decode("latin-1") if values else default

    def __iter__(self) -> Iterator[str]:
        return (name.decode("latin-1").lower() for name in self._headers)

    def __len__(self) -> int:
        return len(self._headers)


@lru_cache(maxsize=256)
def _key_of(name: str) -> bytes:
    """Return the key under which Scrapy keeps a header; its own look-up makes it anew each time."""
    return Headers().normkey(name)


def page_of(response: Response, request: Request, now_ms: int = 0) -> Page:
    """Return the Page of a response: the same object for all who ask during one visit.

    It lives in ``request.meta``, so that the block check and the spider share one decode and one parse. A retry or a
    redirect copies the meta of its request, so the page of another response is recognised by its body and replaced.
    """
    page = request.meta.get("page")
    if isinstance(page, Page) and page.body is response.body:
        return page
    page = Page(
        url=response.url,
        requested_url=request.meta.get("requested_url", request.url),
        status=response.status,
        headers=HeaderView(response.headers),
        body=response.body,
        fetched_at_ms=now_ms,
        tier=Tier(request.meta.get("tier", Tier.HTTP)).value,
    )
    request.meta["page"] = page
    return page
