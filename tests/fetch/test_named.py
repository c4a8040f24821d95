"""What a client says is named alike for all of them, and every answer of a hostile shop ends in time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from storebot.items import Tier
from tests.fetch.fetching import AIOHTTP, asked, crawler_of, fetched, store_of
from tests.hostile import Answer, HostileShop, dripping, endless, flood, page

# The third client, Scrapy's own, needs a reactor: a whole crawl meets the same shop in tests/crawls/test_hostile.py.
HTTPX = "storebot.fetch.http2.BoundedHttpxDownloadHandler"
LATE = "DownloadTimeoutError: no whole answer came within 1 s"
ANSWERS: dict[str, tuple[Answer | bytes, str]] = {
    "endless": (endless(), "AnswerTooLarge: its body has more than 50,000 bytes"),
    "chunks": (endless(chunked=True), "AnswerTooLarge: its body has more than 50,000 bytes"),
    "promised": (page(b"", length=10**12), "AnswerTooLarge: its body has more than 50,000 bytes"),
    "short": (page(b"abc", length=9), "ResponseDataLossError: its body breaks off before the end that was promised"),
    "drip": (dripping(b"HTTP/1.1 200 OK\r\n\r\nx"), LATE),
    "headers": (
        flood(b"HTTP/1.1 200 OK\r\n", b"X-Flood: aaaaaaaaaaaaaaaaaa\r\n"),
        "HeadersTooLarge: its headers don't",
    ),
    "header": (flood(b"HTTP/1.1 200 OK\r\nX-Flood: ", b"a"), "HeadersTooLarge: its headers don't end"),
    "interim": (flood(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), LATE),
    "garbage": (b"what?\r\n\r\n", "DownloadFailedError: "),
    "nothing": (b"", "DownloadFailedError: "),
}


@pytest.fixture(scope="module")
def shop() -> Iterator[HostileShop]:
    with HostileShop() as opened:
        for name, (answer, _) in ANSWERS.items():
            opened.says(f"/{name}", answer)
        yield opened


@pytest.mark.parametrize("client", [AIOHTTP, HTTPX], ids=["aiohttp", "httpx"])
@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.filterwarnings("ignore:.*is experimental")
def test_each_client_says_the_same_of_a_hostile_answer(shop: HostileShop, client: str, name: str) -> None:
    request = asked(f"{shop.url}/{name}", Tier.HTTP, download_timeout=1.0, download_maxsize=50_000)
    (error,) = fetched(crawler_of(store_of(), STOREBOT_HTTP_HANDLER=client), request)
    assert f"{type(error).__name__}: {error}".startswith(ANSWERS[name][1])
