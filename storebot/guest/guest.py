"""A polite guest of a shop: one request at a time, with a pause between them, robots.txt asked first.

For `scrapy probe`, which looks at a few dozen pages one after the other, each chosen by what the last one showed.
"""

from __future__ import annotations

import http.client
import socket
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlsplit

from storebot.core.pacing import retry_after_s
from storebot.core.page import Page
from storebot.core.probing.seen import Answer
from storebot.core.proxy import Proxy
from storebot.core.reach import Reach
from storebot.core.unpacking import codings_of, unpacked
from storebot.core.urls import absolute
from storebot.exceptions import AnswerTooLarge, FetchFailed, PrivateAddress
from storebot.guest.proxies import ProxiedRequest, ProxyHandler, require_client
from storebot.guest.robots import Robots, read_robots
from storebot.guest.sockets import PlainHandler, SecureHandler, proxied, resolve

TIMEOUT_S = 30  # without a byte
DEADLINE_S = 90  # for a whole answer
MAX_BYTES = 64 * 1024 * 1024  # unpacked, as DOWNLOAD_MAXSIZE is
MAX_REDIRECTS = 10
MAX_WAIT_S = 60  # for a Retry-After
MAX_PROXIES = 5  # that are tried for one request
_CHUNK = 64 * 1024
_MOVED = (301, 302, 303, 307, 308)
_BUSY = (429, 503)


class Guest:
    """Asks for pages; keeps cookies, one robots.txt for each host, and the pause between two requests.

    ``obeys`` False asks for what robots.txt forbids, where a store file says who allowed it. With ``proxies`` nothing
    goes without one: one serves until no answer comes through it, then the next. Raises ConfigurationError where they
    need a package that isn't installed. Without any the environment's are used (``http_proxy``, ``no_proxy``).
    ``sleep`` and ``clock`` (seconds) are arguments, so that a test need not wait.
    """

    def __init__(
        self,
        user_agent: str,
        robots_name: str,
        delay_s: float,
        *,
        obeys: bool = True,
        proxies: Sequence[Proxy] = (),
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.user_agent, self.robots_name, self.delay_s = user_agent, robots_name, delay_s
        self.obeys = obeys
        require_client(proxies)
        self._proxies = deque(proxies)
        self.requests = self.size_bytes = 0
        self._reach: Reach | None = None
        self._socket: socket.socket | None = None  # the last one that was connected
        self._through_proxy = self._late = False
        self._sleep, self._clock = sleep, clock
        self._last = float("-inf")
        self._robots: dict[str, Robots] = {}
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        plain, secure = PlainHandler(self._connected), SecureHandler(self._connected)
        # The environment's don't take their place.
        own = [urllib.request.ProxyHandler({}), ProxyHandler(self._connected)] if self._proxies else []
        self._opener = urllib.request.build_opener(_AsItCame(), _NoRedirects(), cookies, plain, secure, *own)

    def robots(self, url: str) -> Robots:
        """Return what robots.txt of the URL's host says; asked for once. Its Crawl-delay holds from then on.

        One that isn't there forbids nothing, one that can't be had everything (RFC 9309 §2.3.1).
        """
        parts = urlsplit(url)
        root = f"{parts.scheme}://{parts.netloc}"
        if root not in self._robots:
            found = read_robots(f"{root}/robots.txt", self._fetch(f"{root}/robots.txt"), self.robots_name)
            self._robots[root] = found
            self.delay_s = max(self.delay_s, min(found.crawl_delay_s or 0.0, MAX_WAIT_S))
        return self._robots[root]

    def get(self, url: str) -> Answer:
        """Return the answer to a GET, redirects followed: a page of any status, or the reason why there is none."""
        moved: list[str] = []
        target = url
        while True:
            robots = self.robots(target)
            if self.obeys and not robots.allows(target, self.robots_name):
                return Answer(forbidden=True, problem=robots.problem or "robots.txt forbids it", redirects=moved)
            answer = self._patient(target)
            page = answer.page
            location = page.headers.get("location") if page and page.status in _MOVED else None
            follows = absolute(location, target) if location else None
            if page is None or follows is None:
                return replace(answer, redirects=moved)
            moved.append(follows)
            if len(moved) > MAX_REDIRECTS:
                return Answer(problem=f"redirects without end, lastly to {follows}", redirects=moved)
            target = follows

    def _patient(self, url: str) -> Answer:
        """Ask once; once more where the answer asks for time, or none came."""
        answer = self._fetch(url)
        page = answer.page
        if page is None:
            return self._fetch(url)
        if page.status not in _BUSY:
            return answer
        wait_s = retry_after_s(page.headers.get("retry-after", ""), page.fetched_at_ms)
        if wait_s is not None and wait_s > MAX_WAIT_S:
            return answer
        self._sleep(max(wait_s or 0.0, 5 * self.delay_s))
        return self._fetch(url)

    def _refusal(self, url: str) -> str:
        """Say why an address that a page names isn't asked for; the first one asked for says where the shop is."""
        self._reach = reach = self._reach or Reach(url)
        self._through_proxy = bool(self._proxies) or proxied(url)
        if self._through_proxy:
            return reach.spelling(url)
        for host in reach.unresolved(url):
            reach.resolved(host, resolve(host))
        return reach.verdict(url)

    def _connected(self, connection: socket.socket) -> None:
        """Raise PrivateAddress where the name didn't point to when it was judged."""
        self._socket = connection
        if self._late:
            raise TimeoutError
        peer = connection.getpeername()[0]
        if self._reach and not self._through_proxy and (why := self._reach.peer(peer)):
            raise PrivateAddress(f"its name leads to {peer} by now, and {why}")

    def _hang_up(self) -> None:
        """End an answer that takes too long: a shop may send a byte a second, and never be silent for long."""
        self._late = True
        if self._socket is not None:
            with suppress(OSError):  # it has just ended by itself
                self._socket.shutdown(socket.SHUT_RDWR)

    def _fetch(self, url: str) -> Answer:
        """Ask once; where no answer comes through a proxy, through others."""
        answer = self._ask(url)
        for _ in range(min(len(self._proxies), MAX_PROXIES) - 1):
            if answer.page is not None:
                break
            self._proxies.rotate(-1)
            answer = self._ask(url)
        return answer

    def _ask(self, url: str) -> Answer:
        if why := self._refusal(url):
            return Answer(problem=f"{url} isn't asked for, because {why}")
        self._sleep(max(0.0, self._last + self.delay_s - self._clock()))
        self.requests += 1
        started = self._clock()
        request = self._request(url)
        self._late = False
        watchdog = threading.Timer(DEADLINE_S, self._hang_up)
        watchdog.start()
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as response:
                body = self._body(response)
        except (OSError, http.client.HTTPException, ValueError, FetchFailed) as error:
            return Answer(problem=f"took longer than {DEADLINE_S} s" if self._late else _sentence(error))
        finally:
            watchdog.cancel()
            self._last = self._clock()
        self.size_bytes += len(body)
        if response.status == 407 and self._proxies:  # only a proxy says so: RFC 9110 §15.5.8
            return Answer(problem=f"the proxy {self._proxies[0]} answers 407: it refuses the login")
        return Answer(page=_page(url, response, body), elapsed_ms=int((self._last - started) * 1000))

    def _request(self, url: str) -> urllib.request.Request:
        headers = {"User-Agent": self.user_agent, "Accept-Encoding": "gzip, deflate", "Accept": "text/html,*/*;q=0.8"}
        request = ProxiedRequest(url, headers=headers)
        if self._proxies:
            request.go_through(self._proxies[0])
        return request

    def _body(self, response: Any) -> bytes:
        parts: list[bytes] = []
        size = 0
        while chunk := response.read1(_CHUNK):
            parts.append(chunk)
            size += len(chunk)
            if size > MAX_BYTES:
                raise AnswerTooLarge(f"its body has more than {MAX_BYTES:,} bytes")
        if self._late:  # what was hung up looks like one that ended
            raise TimeoutError
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        codings, _ = codings_of(response.headers.get("Content-Encoding", ""))
        return unpacked(b"".join(parts), codings, MAX_BYTES)


def _page(url: str, response: Any, body: bytes) -> Page:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Page(url=url, body=body, status=response.status, headers=headers, fetched_at_ms=int(time.time() * 1000))


def _sentence(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return f"gave no answer ({reason})" if str(reason) else f"gave no answer ({type(reason).__name__})"


class _AsItCame(urllib.request.HTTPErrorProcessor):
    """Take every status as a response: what a shop says with a 403 or a 404 is what one wants to know."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follow nothing: robots.txt is asked before each step."""

    def redirect_request(self, *_: Any) -> None:
        return None
