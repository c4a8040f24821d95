"""A polite guest of a shop: one request at a time, with a pause between them, robots.txt asked first.

For `scrapy probe`, which looks at a few dozen pages one after the other, each chosen by what the last one showed.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urljoin, urlsplit

from protego import Protego

from storebot.core.blocks import retry_after_s
from storebot.core.page import Page
from storebot.core.probing.seen import Answer, RobotsSaid
from storebot.core.robots import sitemaps_in_robots
from storebot.core.urls import absolute

TIMEOUT_S = 30  # without a byte
DEADLINE_S = 90  # for a whole answer
MAX_BYTES = 64 * 1024 * 1024  # unpacked, as DOWNLOAD_MAXSIZE is
MAX_REDIRECTS = 10
MAX_WAIT_S = 60  # for a Retry-After
_CHUNK = 64 * 1024
_MOVED = (301, 302, 303, 307, 308)
_BUSY = (429, 503)


@dataclass(frozen=True, slots=True)
class Robots:
    """What the robots.txt of one host says to this guest."""

    url: str
    status: int = 0
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()
    forbids: tuple[str, ...] = ()  # its Disallow lines, for the report
    problem: str = ""  # why nobody knows what it forbids: then nothing is asked for
    rules: Protego | None = None

    @property
    def said(self) -> RobotsSaid:
        """What a report says of it."""
        return RobotsSaid(self.status, self.crawl_delay_s, self.sitemaps, self.forbids)

    def allows(self, url: str, name: str) -> bool:
        """Say whether a robot of this name may have an address."""
        return not self.problem and (self.rules is None or bool(self.rules.can_fetch(url, name)))


class Guest:
    """Asks for pages; keeps cookies, one robots.txt for each host, and the pause between two requests.

    ``obeys`` False asks for what robots.txt forbids, where a store file says who allowed it. ``sleep`` and ``clock``
    (seconds) are arguments, so that a test need not wait.
    """

    def __init__(
        self,
        user_agent: str,
        robots_name: str,
        delay_s: float,
        *,
        obeys: bool = True,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.user_agent, self.robots_name, self.delay_s = user_agent, robots_name, delay_s
        self.obeys = obeys
        self.requests = self.size_bytes = 0
        self._sleep, self._clock = sleep, clock
        self._last = float("-inf")
        self._robots: dict[str, Robots] = {}
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(_AsItCame(), _NoRedirects(), cookies)

    def robots(self, url: str) -> Robots:
        """Return what robots.txt of the URL's host says; asked for once. Its Crawl-delay holds from then on.

        One that isn't there forbids nothing, one that can't be had everything (RFC 9309 §2.3.1).
        """
        parts = urlsplit(url)
        root = f"{parts.scheme}://{parts.netloc}"
        if root not in self._robots:
            found = _read_robots(f"{root}/robots.txt", self._fetch(f"{root}/robots.txt"), self.robots_name)
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

    def _fetch(self, url: str) -> Answer:
        self._sleep(max(0.0, self._last + self.delay_s - self._clock()))
        self.requests += 1
        started = self._clock()
        headers = {"User-Agent": self.user_agent, "Accept-Encoding": "gzip", "Accept": "text/html,*/*;q=0.8"}
        try:
            with self._opener.open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT_S) as response:
                body = self._body(response, started + DEADLINE_S)
        except (OSError, http.client.HTTPException, zlib.error, ValueError) as error:
            return Answer(problem=_told(error))
        finally:
            self._last = self._clock()
        self.size_bytes += len(body)
        return Answer(page=_page(url, response, body), elapsed_ms=int((self._last - started) * 1000))

    def _body(self, response: Any, deadline: float) -> bytes:
        unpack = zlib.decompressobj(47) if response.headers.get("Content-Encoding", "").lower() == "gzip" else None
        parts: list[bytes] = []
        size = 0
        while chunk := response.read(_CHUNK):
            part = unpack.decompress(chunk, MAX_BYTES + 1 - size) if unpack else chunk
            parts.append(part)
            size += len(part)
            if size > MAX_BYTES:
                raise ValueError(f"is larger than {MAX_BYTES // 1024 // 1024} MB")
            if self._clock() > deadline:
                raise TimeoutError(f"took longer than {DEADLINE_S} s")
        return b"".join(parts)


def _page(url: str, response: Any, body: bytes) -> Page:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Page(url=url, body=body, status=response.status, headers=headers, fetched_at_ms=int(time.time() * 1000))


def _told(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return f"gave no answer ({reason})" if str(reason) else f"gave no answer ({type(reason).__name__})"


def _read_robots(url: str, answer: Answer, name: str) -> Robots:
    page = answer.page
    if page is None:
        return Robots(url, problem=f"{url} {answer.problem}")
    if page.status >= 500 or page.status == 429:
        return Robots(url, page.status, problem=f"{url} answers {page.status}, so nobody knows what it forbids")
    if page.status != 200:
        return Robots(url, page.status)
    rules = Protego.parse(page.text)
    lines = (line.partition("#")[0].strip() for line in page.text.splitlines())
    return Robots(
        url,
        page.status,
        crawl_delay_s=rules.crawl_delay(name),
        sitemaps=tuple(dict.fromkeys(urljoin(url, found) for found in sitemaps_in_robots(page.body, url))),
        forbids=tuple(line for line in lines if line.lower().startswith("disallow:") and len(line) > 10),
        rules=rules,
    )


class _AsItCame(urllib.request.HTTPErrorProcessor):
    """Take every status as a response: what a shop says with a 403 or a 404 is what one wants to know."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follow nothing: robots.txt is asked before each step."""

    def redirect_request(self, *_: Any) -> None:
        return None
