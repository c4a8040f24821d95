"""A crawl's memory doesn't grow with the store: pages are claimed a batch at a time, sitemaps read in a stream."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Request

from storebot.core.parsing.sitemap import read_sitemap
from storebot.items import Outcome
from tests.inside import Place, store_folder
from tests.scripted import ScriptedShop, listing, product

PAGES, BATCH = 60, 5
TEXT = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\nconcurrency = 2\n'
URLS = 20_000
MB = 1024 * 1024


class Waiting:
    """Counts the product pages that were asked for and have no answer yet; ``most`` is the highest count."""

    def __init__(self) -> None:
        self._now = self.most = 0

    def connect(self, crawler: Crawler) -> None:
        crawler.signals.connect(self._scheduled, signals.request_scheduled)
        crawler.signals.connect(self._reached, signals.request_left_downloader)

    def _scheduled(self, request: Request) -> None:
        self._now += "target" in request.meta
        self.most = max(self.most, self._now)

    def _reached(self, request: Request) -> None:
        self._now -= "target" in request.meta


def test_pages_become_requests_a_batch_at_a_time(tmp_path: Path) -> None:
    """Case J02: all known pages as requests at the start fill memory, or a disk queue."""
    waiting = Waiting()
    with ScriptedShop() as shop:
        shop.says("/all", listing(*(f"/p/{number}" for number in range(PAGES))))
        for number in range(PAGES):
            shop.says(f"/p/{number}", product(f"Mug {number}"))
        place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))
        done = place.crawl("backfill", look=waiting.connect, STOREBOT_CLAIM_BATCH=BATCH)
    assert done.summary.outcomes == {Outcome.NEW: PAGES}
    assert BATCH <= waiting.most <= 3 * BATCH  # a batch that is fetched, one that waits, one that is being claimed


def test_a_sitemap_is_read_in_a_stream() -> None:
    """Case J01: the tree of one that is as long as it may be took hundreds of megabytes while its URLs were used."""
    entry = "<url><loc>https://shop.example/p/{}</loc><lastmod>2026-01-{:02}</lastmod><priority>0.5</priority></url>"
    text = "".join(entry.format(number, number % 28 + 1) for number in range(URLS))
    packed = gzip.compress(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{text}</urlset>'.encode())
    del text
    tracemalloc.start()
    count = 0
    for entry_ in read_sitemap(packed, "https://shop.example/sitemap.xml.gz").iter_entries():
        assert entry_.url == f"https://shop.example/p/{count}"
        assert str(entry_.lastmod).startswith(f"2026-01-{count % 28 + 1:02}")
        count += 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == URLS
    assert peak < 16 * MB
