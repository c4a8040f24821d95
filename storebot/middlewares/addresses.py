"""Ask no private address for what a shop names: a redirect, a child of its sitemap, a feed, a link."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.reactor import is_reactor_installed

from storebot.core.reach import Reach
from storebot.exceptions import PrivateAddress
from storebot.reaching import reach_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred


class AddressMiddleware:
    """Each host is looked up and judged once; a verdict costs a page no more than a look into a dictionary.

    Scrapy's client connects to what was looked up here (its resolver keeps it), a browser through a guard of its own.
    The other clients look up once more, and judge what they find before they send anything; should anything come from a
    private address nevertheless, it isn't read. What goes through a proxy is judged by its name alone.
    """

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._verdicts: dict[tuple[str, str, bool], str] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        reach = reach_of(crawler)
        if reach is None:
            raise NotConfigured("only backfill and refresh know whether the shop itself is on a private address")
        return cls(reach)

    def process_request(self, request: Request) -> Awaitable[None] | None:
        """Let a request pass, or raise PrivateAddress."""
        parts = urlparse_cached(request)
        verdict = self._verdicts.get((parts.scheme, parts.netloc, "proxy" in request.meta))
        if verdict is None:
            return self._judge(request)
        if verdict:
            raise PrivateAddress(f"{request.url} isn't asked for, because {verdict}")
        return None

    def process_response(self, request: Request, response: Response) -> Response:
        """Return the response, unless it came from where its name didn't point to."""
        peer = response.ip_address
        if peer is not None and "proxy" not in request.meta and (why := self._reach.peer(peer)):
            raise PrivateAddress(f"{request.url} isn't read, because it came from {peer}, and {why}")
        return response

    async def _judge(self, request: Request) -> None:
        proxied = "proxy" in request.meta
        if not proxied:
            for host in self._reach.unresolved(request.url):
                self._reach.resolved(host, await resolve(host))
        parts = urlparse_cached(request)
        verdict = self._reach.spelling(request.url) if proxied else self._reach.verdict(request.url)
        self._verdicts[parts.scheme, parts.netloc, proxied] = verdict
        self.process_request(request)


async def resolve(host: str) -> Sequence[str]:
    """Return the addresses of a name; none where it has none, which connecting to it will say better."""
    try:
        if is_reactor_installed():
            from twisted.internet import reactor

            resolving: Deferred[str] = reactor.resolve(host)  # type: ignore[arg-type]  # its stub is wrong
            return [await maybe_deferred_to_future(resolving)]
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [str(address[0]) for *_, address in found]
