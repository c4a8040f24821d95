"""The lean engine does what Scrapy's does: the same parts are called, in the same order, with the same outcome."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from pydispatch.dispatcher import Any as ANY  # type: ignore[import-untyped]  # it has no types
from scrapy import Spider, signals
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.core.scraper import Scraper as ScrapyScraper
from scrapy.exceptions import _InvalidOutput
from scrapy.http import Request, Response
from scrapy.signalmanager import SignalManager as ScrapySignalManager
from scrapy.utils.test import get_crawler

from storebot.lean_engine import MiddlewareManager, Scraper, SignalManager

PAGE = Request("http://shop.example/p/1")
BODY = Response(PAGE.url, body=b"<p>", request=PAGE)
OTHER = Response(PAGE.url, status=404, request=PAGE)


def made_crawler() -> Any:
    crawler = get_crawler(Spider)
    crawler.spider = Spider(name="any")
    return crawler


class Answers:
    """A middleware that gives what it's told to, and notes what it was asked."""

    def __init__(self, name: str, seen: list[str], request: Any = None, response: Any = None) -> None:
        self.name, self.seen, self._request, self._response = name, seen, request, response

    def process_request(self, request: Request) -> Any:
        self.seen.append(f"{self.name} request")
        return self._request() if callable(self._request) else self._request

    def process_response(self, request: Request, response: Response) -> Any:
        self.seen.append(f"{self.name} response {response.status}")
        return self._response() if callable(self._response) else self._response or response


async def later(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


SHAPES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "answers at once": {"request": OTHER},
    "answers later": {"request": lambda: later(OTHER)},
    "lets pass later": {"request": lambda: later(None)},
    "asks for another": {"request": PAGE.replace(url="http://shop.example/other")},
    "answers nonsense": {"request": "no response"},
    "answers nonsense later": {"request": lambda: later("no response")},
    "replaces": {"response": OTHER},
    "replaces later": {"response": lambda: later(OTHER)},
    "asks again": {"response": PAGE.replace(url="http://shop.example/again")},
    "asks again later": {"response": lambda: later(PAGE.replace(url="http://shop.example/again"))},
    "loses it": {"response": lambda: None},
    "loses it later": {"response": lambda: later(None)},
}


def through(manager: type[DownloaderMiddlewareManager], shape: dict[str, Any]) -> tuple[list[str], str]:
    """Return who was called, and what came out of it."""
    seen: list[str] = []
    parts = [Answers("first", seen), Answers("second", seen, **shape), Answers("third", seen)]
    made = manager(*parts, crawler=made_crawler())

    async def download(request: Request) -> Response:
        seen.append("the wire")
        return BODY

    try:
        came = asyncio.run(made.download_async(download, PAGE))
    except (_InvalidOutput, TypeError) as error:
        return seen, type(error).__name__
    return seen, f"{type(came).__name__} {came.url} {getattr(came, 'status', '')}"


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_middlewares_are_called_as_scrapy_calls_them(shape: dict[str, Any]) -> None:
    assert through(MiddlewareManager, shape) == through(DownloaderMiddlewareManager, shape)


class WantsSpider:
    def process_request(self, request: Request, spider: Spider) -> Response:
        return Response(request.url, body=spider.name.encode())

    def process_response(self, request: Request, response: Response, spider: Spider) -> Response:
        return response.replace(body=response.body + b" " + spider.name.encode())


@pytest.mark.filterwarnings("ignore::scrapy.exceptions.ScrapyDeprecationWarning")
def test_a_middleware_of_old_is_given_the_spider() -> None:
    made = MiddlewareManager(WantsSpider(), crawler=made_crawler())
    came = asyncio.run(made.download_async(later, PAGE))  # never called
    assert isinstance(came, Response)
    assert came.body == b"any any"


@pytest.mark.parametrize("manager", [SignalManager, ScrapySignalManager])
@pytest.mark.parametrize("to", ["its sender", "any sender", "any signal"])
def test_a_signal_reaches_whoever_is_connected(manager: type[ScrapySignalManager], to: str) -> None:
    heard: list[object] = []

    def hear(item: object) -> str:
        heard.append(item)
        return "heard"

    sender = object()
    made = manager(sender)
    signal = ANY if to == "any signal" else signals.item_scraped
    made.connect(hear, signal, **({"sender": ANY} if to == "any sender" else {}))
    try:
        assert [answer for _, answer in made.send_catch_log(signals.item_scraped, item=1)] == ["heard"]
    finally:
        made.disconnect(hear, signal, **({"sender": ANY} if to == "any sender" else {}))
    assert made.send_catch_log(signals.item_scraped, item=2) == []
    assert heard == [1]


def two() -> Iterator[str]:
    yield "one"
    yield "two"


def one_and_an_error() -> Iterator[str]:
    yield "one"
    raise ValueError("broken")


async def two_later() -> AsyncIterator[str]:
    yield "one"
    await asyncio.sleep(0)
    yield "two"


def an_error() -> None:
    raise ValueError("broken")


CALLBACKS: list[Callable[[], Any]] = [two, one_and_an_error, two_later, an_error, lambda: None, lambda: ["one"]]


def scraped(kind: type[ScrapyScraper], callback: Callable[[], Any]) -> list[str]:
    """Return what a callback's page brought: its items, and errors."""
    crawler, found = get_crawler(Spider, {"CONCURRENT_ITEMS": 1, "SPIDER_MIDDLEWARES_BASE": {}}), list[str]()
    crawler.spider = Spider(name="any")

    async def take(item: str, *, response: Response) -> None:
        await asyncio.sleep(0)
        found.append(item)

    def note(failure: Any, request: Request, response: Response) -> None:
        found.append(repr(failure.value))

    async def run() -> list[str]:
        scraper = kind(crawler)
        scraper.start_itemproc_async = take  # type: ignore[assignment,method-assign]
        scraper.handle_spider_error = note  # type: ignore[assignment,method-assign]
        request = PAGE.replace(callback=lambda response: callback())
        await scraper._scrape(Response(request.url, request=request), request)
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("callback", CALLBACKS)
def test_what_a_callback_brings_is_taken_as_scrapy_takes_it(callback: Callable[[], Any]) -> None:
    assert scraped(Scraper, callback) == scraped(ScrapyScraper, callback)
