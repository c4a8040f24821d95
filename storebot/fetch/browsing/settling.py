"""When a page has become what it will be: the document that it ends at, with what its scripts put there.

What is asked of a page runs in a world of its own beside the page's scripts: these can't fake the answers, and an
answer always is of one document (case W05).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from playwright.async_api import Error as PlaywrightError
from w3lib.html import get_meta_refresh

from storebot.core.page import Page
from storebot.core.placeholders import is_placeholder
from storebot.core.reloading import LARGEST_BYTES, SOON_S, refreshes_itself
from storebot.exceptions import RenderFailed
from storebot.fetch.browsing.loading import Loading
from storebot.fetch.browsing.tab import Tab

_WORLD = "storebot"
_POLL_S = 0.1
_NEVER_RESTS = 10  # times settle_s

_SETTLED = """(async () => {
  if (document.readyState !== 'complete') await new Promise(done => addEventListener('load', done, {once: true}));
  await new Promise(done => {
    let timer = setTimeout(done, %(settle_ms)d);
    setTimeout(done, %(most_ms)d);
    const watch = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, %(settle_ms)d); });
    watch.observe(document, {subtree: true, childList: true, characterData: true});
  });
})()"""
_TEXTS = """(selectors => selectors.map(selector => {
  const found = document.querySelector(selector);
  if (!found) return null;
  return {META: found.content, INPUT: found.value, DATA: found.value}[found.tagName] || found.textContent;
}))(%s)"""
_DOCUMENT = """(() => {
  const kind = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '';
  return {url: document.URL, html: kind + (document.documentElement ? document.documentElement.outerHTML : '')};
})()"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What a page has to show before it is read, in seconds: of `[fetch.browser]`.

    ``refuses`` says of an address and a document that it surely is a block page: what is waited for won't come on it.
    """

    selectors: tuple[str, ...] = ()
    wait_s: float = 15.0
    settle_s: float = 0.5
    refuses: Callable[[str, str], bool] = lambda url, html: False


class Missing(NamedTuple):
    """What a page doesn't show: the selector, and what stands in its place; None for nothing."""

    selector: str
    placeholder: str | None

    def __str__(self) -> str:
        if self.placeholder is None:
            return f"{self.selector} isn't there"
        return f'{self.selector} still says "{" ".join(self.placeholder.split())[:40]}"'


class Rendered(NamedTuple):
    """The document that a page ended at, and what it doesn't show yet."""

    url: str
    html: str
    missing: Missing | None = None


async def settled(tab: Tab, loading: Loading, waiting: Waiting) -> Rendered | None:
    """Return the final document, or None where it isn't a page: then ``loading.raw`` has it.

    Takes as long as documents follow each other: the caller bounds it.
    """
    deadline = asyncio.get_running_loop().time() + waiting.wait_s
    while loading.raw is None:
        await loading.arrived()
        seen = loading.commits
        try:
            world = await _world(tab)
            missing = await _awaited(tab, world, loading, waiting, deadline)
            if loading.moves_on(seen):
                continue
            found = await _asked(tab, world, _DOCUMENT)
        except PlaywrightError:
            if tab.page.is_closed():
                raise
            await asyncio.sleep(_POLL_S)  # the document went away while it was asked: the next one is near
            continue
        rendered = Rendered(found["url"], found["html"], missing)
        if not loading.moves_on(seen) and not await _refreshed(loading, rendered, seen):
            return rendered
    return None


async def _awaited(tab: Tab, world: int, loading: Loading, waiting: Waiting, deadline: float) -> Missing | None:
    """Wait for what the page has to show; return what it doesn't when the time is up."""
    if not waiting.selectors or _is_an_answer(loading):
        times = {"settle_ms": waiting.settle_s * 1000, "most_ms": waiting.settle_s * 1000 * _NEVER_RESTS}
        await _asked(tab, world, _SETTLED % times)
        return None
    seen, clock = loading.commits, asyncio.get_running_loop().time
    began, look_s = clock(), max(waiting.settle_s, _POLL_S)
    while True:
        texts = await _asked(tab, world, _TEXTS % json.dumps(waiting.selectors))
        missing = _missing(waiting.selectors, texts)
        if missing is None or loading.moves_on(seen) or clock() >= deadline:
            return missing
        if clock() >= began + look_s:
            look_s *= 2
            found = await _asked(tab, world, _DOCUMENT)
            if waiting.refuses(found["url"], found["html"]):
                return missing
        await asyncio.sleep(_POLL_S)


def _is_an_answer(loading: Loading) -> bool:
    """Whether the status says all: nothing that is waited for comes after it."""
    return loading.head is not None and loading.head.status >= 400


def _missing(selectors: tuple[str, ...], texts: list[str | None]) -> Missing | None:
    for selector, text in zip(selectors, texts, strict=True):
        if text is None or is_placeholder(text):
            return Missing(selector, text)
    return None


async def _refreshed(loading: Loading, rendered: Rendered, seen: int) -> bool:
    """Wait for the page that this one refreshes itself to, if it does so soon; say whether that came.

    Once that may be itself: a page that only gives a cookie, and not one that is always up to date.
    """
    delay_s, address = get_meta_refresh(rendered.html, rendered.url)
    if address is None or delay_s is None or address == rendered.url:
        if seen > 1 or len(rendered.html) > LARGEST_BYTES:
            return False
        page = Page(url=rendered.url, body=rendered.html.encode("utf-8", "replace"), charset="utf-8")
        delay_s = SOON_S if refreshes_itself(page) else None
    if delay_s is None or delay_s > SOON_S:
        return False
    return await went_on(loading, seen, delay_s + 1.0)


async def went_on(loading: Loading, seen: int, within_s: float) -> bool:
    """Wait for another document after so many; say whether one came, or is under way."""
    clock = asyncio.get_running_loop().time
    until = clock() + within_s
    while not loading.moves_on(seen) and clock() < until:
        await asyncio.sleep(_POLL_S)
    return loading.moves_on(seen)


async def _world(tab: Tab) -> int:
    asked = {"frameId": tab.frame, "worldName": _WORLD}
    return int((await tab.devtools.send("Page.createIsolatedWorld", asked))["executionContextId"])


async def _asked(tab: Tab, world: int, script: str) -> Any:
    given = {"expression": script, "contextId": world, "returnByValue": True, "awaitPromise": True}
    said = await tab.devtools.send("Runtime.evaluate", given)
    if "exceptionDetails" in said:
        told = said["exceptionDetails"].get("exception", {}).get("description", "a script failed")
        raise RenderFailed(told.splitlines()[0])  # such as a selector that is none
    return said["result"].get("value")
