"""A shop that misbehaves in every way it can: each answer is bounded and named, and nothing of it is stored."""

from __future__ import annotations

import gzip
import sys
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import brotli
import pytest

from tests.crawls.scrapy_process import Crawl, Row, finish, listings, rows, start
from tests.hostile import Answer, HostileShop, dripping, endless, flood, page, redirect
from tests.inside import store_folder
from tests.scripted import product

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MB = 1024 * 1024
GOOD = 60  # enough of them that the bad ones aren't most of the store
TIMEOUT_S = 6  # what is slow by itself on a busy machine must not take that long
STORE = """\
[discover]
sitemaps = ["/sitemap.xml"]

[politeness]
robots = false
robots_reason = "the shop is ours"
concurrency = 16
delay_s = 0.0
"""
PACKED = gzip.compress(product("Packed", "5.00").body)
ZEROS = gzip.compress(bytes(128 * MB))
LAST_OF_TWENTY = 21  # requests of a chain of redirects: Scrapy's REDIRECT_MAX_TIMES is 20


def packed(body: bytes, coding: str) -> bytes:
    return page(body, f"Content-Encoding: {coding}")


class Hostility(NamedTuple):
    """One bad answer, what the visit says of it, and how often it's asked for."""

    answer: Answer | bytes
    reason: str
    outcome: str = "error"
    asked: int = 1


DATA_LOSS = "ResponseDataLossError: its body breaks off before the end that was promised"
TOO_LARGE = "AnswerTooLarge: its body has more than 8,388,608 bytes"
HEADERS = "HeadersTooLarge: its headers don't end"
LATE = f"DownloadTimeoutError: no whole answer came within {TIMEOUT_S} s"
RETRIED = 2  # what may be an accident is tried again, here once

HOSTILITIES: dict[str, Hostility] = {
    "endless_body": Hostility(endless(), TOO_LARGE),
    "endless_chunks": Hostility(endless(chunked=True), TOO_LARGE),
    "a_terabyte_promised": Hostility(page(b"<html>", length=10**12), TOO_LARGE),
    "body_cut_short": Hostility(page(b"<html>", length=60_000), DATA_LOSS, asked=RETRIED),
    "chunks_cut_short": Hostility(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n", DATA_LOSS, asked=RETRIED
    ),
    "a_byte_now_and_then": Hostility(
        dripping(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"), LATE, asked=RETRIED
    ),
    "a_header_byte_now_and_then": Hostility(dripping(b"HTTP/1.1 200 OK\r\nX: aaa"), LATE, asked=RETRIED),
    "headers_without_end": Hostility(flood(b"HTTP/1.1 200 OK\r\n", b"X-Flood: " + b"a" * 60 + b"\r\n"), HEADERS),
    "one_header_without_end": Hostility(flood(b"HTTP/1.1 200 OK\r\nX-Flood: ", b"a" * 60), HEADERS),
    "interim_answers_without_end": Hostility(flood(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), HEADERS),
    "no_http": Hostility(b"\0\1\2 what?\r\n\r\n", "DownloadFailedError: its answer is no HTTP: ", asked=RETRIED),
    "no_answer": Hostility(b"", "DownloadFailedError: ConnectionDone", asked=RETRIED),
    "two_lengths": Hostility(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        "DownloadFailedError: its answer is no HTTP: Invalid response: conflicting Content-Length",
        asked=RETRIED,
    ),
    "gzip_of_two_gigabytes": Hostility(packed(ZEROS * 16, "gzip"), f"{TOO_LARGE} when unpacked from gzip"),
    "gzip_in_gzip": Hostility(packed(gzip.compress(ZEROS), "gzip, gzip"), f"{TOO_LARGE} when unpacked from gzip"),
    "deflate_of_zeros": Hostility(
        packed(zlib.compress(bytes(64 * MB)), "deflate"), f"{TOO_LARGE} when unpacked from d"
    ),
    "brotli_of_zeros": Hostility(
        packed(brotli.compress(bytes(64 * MB), quality=4), "br"), f"{TOO_LARGE} when unpacked from br"
    ),
    "zstd_of_zeros": Hostility(packed(zstd.compress(bytes(64 * MB)), "zstd"), f"{TOO_LARGE} when unpacked from zstd"),
    "gzip_cut_short": Hostility(
        packed(PACKED[:-20], "gzip"), "AnswerBroken: its body breaks off before the end of its"
    ),
    "not_gzip_at_all": Hostility(packed(product("Plain").body, "gzip"), "AnswerBroken: its body isn't what it says"),
    "packed_four_times": Hostility(
        packed(PACKED, "gzip, gzip, gzip, gzip"), "AnswerBroken: its body is packed 4 times"
    ),
    "pdf": Hostility(
        page(b"%PDF-1.7\n" + b"\xe2\xe3\xcf\xd3" * 2_000, "Content-Type: application/pdf"),
        "no product could be read: the answer is a PDF document (application/pdf), not a page",
        outcome="invalid",
    ),
    "pdf_as_html": Hostility(page(b"%PDF-1.7\n" + b"\xe2" * 9_000), "the answer is a PDF document, not", "invalid"),
    "a_pixel": Hostility(
        page(b"GIF89a\1\0\1\0\x80\0\0" + b"\0" * 20, "Content-Type: image/gif"), "the answer is an image", "invalid"
    ),
    "bytes": Hostility(
        page(bytes(range(256)) * 40 + bytes(60_000), "Content-Type: application/octet-stream"),
        "the answer is application/octet-stream, not a page",
        outcome="invalid",
    ),
    "circle": Hostility(redirect("/p/circle-back"), "RedirectLoop: redirects without end", asked=2),
    "itself": Hostility(redirect("/p/itself"), "RedirectLoop: redirects without end", asked=2),
    "stairs": Hostility(redirect("/stairs?1"), "redirects without end, lastly to "),
    "to_a_file": Hostility(redirect("file:///etc/passwd"), "isn't asked for: it is a file: address"),
    "to_ftp": Hostility(redirect("ftp://127.0.0.1/x"), "isn't asked for: it is a ftp: address"),
    "to_the_clouds_secrets": Hostility(
        redirect("http://169.254.169.254/latest/meta-data/"),
        "PrivateAddress: http://169.254.169.254/latest/meta-data/ isn't asked for, because 169.254.169.254 is where",
    ),
}
WRONG_BUT_READ = {
    "packed_well": page(PACKED, "Content-Encoding: gzip"),
    "an_odd_encoding": page(product("Odd", "6.00").body, "Content-Encoding: utf-8"),
    "html_as_bytes": page(product("Bytes", "7.00").body, "Content-Type: application/octet-stream"),
    "many_headers": page(product("Many", "8.00").body, *(f"X-Header-{n}: {'a' * 200}" for n in range(300))),
}


class Met(NamedTuple):
    """What the crawl of the hostile shop left."""

    crawl: Crawl
    visits: dict[str, Row]
    names: set[str]
    shop: HostileShop
    peak_mb: float


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Met]:
    folder = tmp_path_factory.mktemp("hostile")
    stores = store_folder(folder, STORE)
    database = folder / "shop.db"
    with HostileShop() as shop:
        fill(shop)
        settings = {"DOWNLOAD_TIMEOUT": TIMEOUT_S, "RETRY_TIMES": 1, "STOREBOT_FAILED_PAGES": folder / "failed"}
        process = start("backfill", "shop", database=database, stores=stores, base_url=shop.url, settings=settings)
        peak = Peak(process.pid)
        crawl = finish(process)
        query = "SELECT visits.*, url FROM visits JOIN pages ON pages.id = page_id"
        visits = {row["url"].rpartition("/")[2]: row for row in rows(database, query)}
        names = {row["name"] for row in listings(database).values()}
        yield Met(crawl, visits, names, shop, peak.mb)


def fill(shop: HostileShop) -> None:
    good = [f"good-{number}" for number in range(GOOD)]
    paths = [*good, *HOSTILITIES, *WRONG_BUT_READ]
    urls = "".join(f"<url><loc>{shop.url}/p/{path}</loc></url>" for path in paths)
    xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    shop.says("/sitemap.xml", page(xml.encode(), "Content-Type: application/xml"))
    for path in good:
        shop.says(f"/p/{path}", page(product(path, "9.00").body))
    for name, hostility in HOSTILITIES.items():
        shop.says(f"/p/{name}", hostility.answer)
    for name, answer in WRONG_BUT_READ.items():
        shop.says(f"/p/{name}", answer)
    shop.says("/p/circle-back", redirect("/p/circle"))
    for step in range(1, 40):
        shop.says(f"/stairs?{step}", redirect(f"/stairs?{step + 1}"))


class Peak(threading.Thread):
    """Follows the most memory that a process has held, in MB, until it has ended."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._status, self.mb = Path(f"/proc/{pid}/status"), 0.0
        self.start()

    def run(self) -> None:
        pause = threading.Event()
        while (held := self._held()) is not None:
            self.mb = held
            pause.wait(0.05)

    def _held(self) -> float | None:
        """Return the peak so far; None for a process that has ended, which has no memory."""
        try:
            lines = self._status.read_text().splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), None)


@pytest.mark.parametrize("name", HOSTILITIES)
def test_a_hostile_answer_is_named_and_asked_for_no_oftener_than_others(met: Met, name: str) -> None:
    """Cases J03 (bombs), R04 (loops)."""
    expected, visit = HOSTILITIES[name], met.visits[name]
    assert expected.reason in visit["reason"]
    assert (visit["outcome"], met.shop.asked[f"/p/{name}"]) == (expected.outcome, expected.asked)


def test_a_chain_of_redirects_ends(met: Met) -> None:
    assert sum(count for path, count in met.shop.asked.items() if path.startswith("/stairs")) == LAST_OF_TWENTY - 1
    assert met.shop.asked["/p/circle-back"] == 2


@pytest.mark.parametrize("name", ["endless_body", "endless_chunks"])
def test_an_endless_body_is_given_up_soon_after_its_bound(met: Met, name: str) -> None:
    assert met.shop.sent[f"/p/{name}"] < 24 * MB  # 8 that are taken, and what lies in the buffers of two sockets


@pytest.mark.parametrize("name", ["headers_without_end", "one_header_without_end", "interim_answers_without_end"])
def test_a_flood_of_headers_is_given_up_soon_after_its_bound(met: Met, name: str) -> None:
    assert met.shop.sent[f"/p/{name}"] < 12 * MB


def test_nothing_of_it_is_stored_and_the_good_pages_are(met: Met) -> None:
    assert met.names == {*(f"good-{number}" for number in range(GOOD)), "Packed", "Odd", "Bytes", "Many"}


def test_the_run_is_partial_and_says_so(met: Met) -> None:
    assert met.crawl.exit_code == 3, met.crawl.stderr
    assert met.crawl.count("error") + met.crawl.count("invalid") == len(HOSTILITIES)
    assert "Traceback" not in met.crawl.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_memory_stays_low(met: Met) -> None:
    """Case J03: two gigabytes of zeros, five more bombs and two endless bodies at once."""
    assert 50 < met.peak_mb < 400
