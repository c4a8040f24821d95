"""What one visit of a tab comes to: the documents that follow each other, what they load, and why it was cut short."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from playwright.async_api import Error as PlaywrightError

from storebot.exceptions import AnswerTooLarge, FetchFailed
from storebot.fetch.browsing.errors import BrowserCrashed, failed
from storebot.fetch.browsing.traffic import Event, Traffic

T = TypeVar("T")

MOST_DOCUMENTS = 12  # one after the other: more is a page that reloads itself without end
_HTML = ("text/html", "application/xhtml+xml")
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Head:
    """What came before a document: the answer's address, status and headers, by lower-case name."""

    url: str
    status: int
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, event: Event) -> Head:
        """Return it from DevTools' Fetch.requestPaused."""
        headers: dict[str, str] = {}
        for header in event.get("responseHeaders", ()):
            name = header["name"].lower()
            headers[name] = f"{headers[name]}, {header['value']}" if name in headers else header["value"]
        return cls(event["request"]["url"], event["responseStatusCode"], headers)

    @property
    def is_document(self) -> bool:
        """Whether anything is shown, or is there to be read, at this answer itself."""
        return self.status not in (204, 205) and not (self.status in _REDIRECTS and "location" in self.headers)

    @property
    def is_html(self) -> bool:
        """Whether a browser shows it as a page; without a Content-Type it looks for itself."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        attached = self.headers.get("content-disposition", "").strip().lower().startswith("attachment")
        return (not kind or kind in _HTML) and not attached

    @property
    def announced_bytes(self) -> int:
        """How long the body says that it will be; 0 where it doesn't."""
        length = self.headers.get("content-length", "")
        return int(length) if length.isascii() and length.isdigit() else 0


class Loading:
    """One visit of a tab. ``max_bytes`` bounds the document, ``max_page_bytes`` all that it loads, unpacked."""

    NOTES: ClassVar = Traffic.COUNTS

    def __init__(self, frame: str, *, max_bytes: int, max_page_bytes: int) -> None:
        self.frame, self.max_bytes = frame, max_bytes
        self.commits = 0  # documents that the main frame has come to
        self.asked_for = ""  # the address of the last one that was asked for
        self.raw: tuple[Head, bytes] | None = None  # a document that is no page, as it came
        too_large = AnswerTooLarge(f"it loads more than {max_page_bytes:,} bytes")
        self.traffic = Traffic(max_page_bytes, lambda: self.cut(too_large))
        self._heads: dict[str, Head] = {}  # by the id of their navigation
        self._document = self._under_way = ""  # ids of navigations: shown, asked for
        self._asked: set[str] = set()  # all of the latter
        self._lost_to = "net::ERR_FAILED"
        self._trouble: Exception | None = None
        self._cut, self._moved = asyncio.Event(), asyncio.Event()

    async def uncut(self, doing: Coroutine[Any, Any, T]) -> T:
        """Return what ``doing`` returns, unless the visit is cut before: then raise why."""
        task = asyncio.ensure_future(doing)
        cut = asyncio.ensure_future(self._cut.wait())
        try:
            await asyncio.wait((task, cut), return_when=asyncio.FIRST_COMPLETED)
            if self._trouble is not None:
                raise self._trouble
            return task.result()
        finally:
            cut.cancel()
            task.cancel()
            await asyncio.gather(task, cut, return_exceptions=True)

    def cut(self, error: Exception) -> None:
        """End whatever `uncut` awaits with this error; the first one counts."""
        if self._trouble is None:
            self._trouble = error
            self._cut.set()

    @property
    def is_sound(self) -> bool:
        """Whether nothing cut it short."""
        return self._trouble is None

    @property
    def head(self) -> Head | None:
        """What came before the document that is shown; None where it didn't come from a server."""
        return self._heads.get(self._document)

    def moves_on(self, seen: int) -> bool:
        """Whether another document was shown since ``commits`` was ``seen``, or one is under way."""
        return self.raw is not None or self.commits != seen or bool(self._under_way)

    async def arrived(self) -> None:
        """Wait until no document is under way any more."""
        while self._under_way and self.raw is None:
            self._moved.clear()
            await self._moved.wait()

    def note(self, name: str, event: Event) -> None:
        """Note an event of DevTools' Network domain, one of `NOTES`."""
        self.traffic.note(name, event)
        if name == "Network.requestWillBeSent":
            self._note_document(event)
        elif name == "Network.loadingFailed":
            self._note_loss(event)

    def _note_document(self, event: Event) -> None:
        if event.get("type") == "Document" and event.get("frameId") == self.frame:
            self._under_way, self.asked_for = event["loaderId"], event["request"]["url"]
            self._asked.add(self._under_way)

    def _note_loss(self, event: Event) -> None:
        request, error = event["requestId"], event.get("errorText", "")
        if request == self._under_way:
            self._under_way, self._lost_to = "", error or self._lost_to
            self._moved.set()
        elif request == self._document and error.startswith("net::") and error != "net::ERR_ABORTED":
            self.cut(failed(error.removeprefix("net::")))  # the rest of the page didn't come

    def navigated(self, event: Event) -> None:
        """Note Page.frameNavigated."""
        if event["frame"].get("parentId") or not (self.commits or event["frame"]["loaderId"] in self._asked):
            return  # a frame's, or of the visit before
        if "unreachableUrl" in event["frame"]:  # the browser's own page for what it couldn't get
            self.cut(PlaywrightError(self._lost_to))
        self.commits += 1
        self._document = event["frame"]["loaderId"]
        if self._under_way == self._document:
            self._under_way = ""
        self._heads = {name: head for name, head in self._heads.items() if name in (self._document, self._under_way)}
        self._moved.set()
        if self.commits > MOST_DOCUMENTS:
            self.cut(FetchFailed("it goes on to another page without end"))

    def came(self, navigation: str, head: Head) -> None:
        """Note the head of a document that will be shown."""
        self._heads[navigation] = head

    def took(self, head: Head, body: bytes) -> None:
        """Note a document that won't be."""
        self.raw = head, body
        self._moved.set()

    def outgrew(self) -> None:
        """Cut it for a document that is too large."""
        self.cut(AnswerTooLarge(f"its body has more than {self.max_bytes:,} bytes"))

    def crashed(self, what: str) -> None:
        """Cut it because the browser, or a part of it, died."""
        self.cut(BrowserCrashed(what))
