"""Sitemaps of junk: entries with what was lost, or UnreadableSitemap; nothing is fetched for them."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.parsing.lastmod import lastmod_ms
from storebot.core.parsing.platforms.feed import read_feed
from storebot.core.parsing.sitemap import read_sitemap
from storebot.core.urls import same_site
from storebot.exceptions import UnreadableFeed, UnreadableSitemap
from tests.fuzz.bounded import cpu_seconds
from tests.fuzz.junk import CPU_S, FUZZ, spoiled, texts
from tests.shared_data import ROOT

URL = "https://shop.example/sitemap.xml"
parts = st.one_of(
    st.sampled_from(
        (
            *(
                "<?xml version='1.0' encoding='utf-8'?>",
                '<?xml encoding="zlib"?>',
                "<!--",
                "-->",
                "<![CDATA[",
                "]]>",
                "<?x",
                "?>",
            ),
            *(
                '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
                "<urlset>",
                "</urlset>",
                "<sitemapindex>",
            ),
            *(
                "<url>",
                "</url>",
                "<sitemap>",
                "</sitemap>",
                "<loc>",
                "</loc>",
                "<s:url>",
                "<s:loc>",
                "<lastmod>",
                "</lastmod>",
            ),
            *(
                "<rss>",
                "<channel>",
                "<item>",
                "</item>",
                "<link>",
                "</link>",
                "<feed>",
                "<entry>",
                '<link href="/p"/>',
                "<html>",
            ),
            *(
                "https://shop.example/p/1",
                "/p/2",
                "//[",
                "https://other.example/",
                "&",
                "&amp;",
                "&x;",
                "&#xD800;",
                "&#55296;",
                "&#65;",
                "&#0;",
                "&#x110000;",
                "<",
                ">",
                "\n",
                "\0",
            ),
            *(
                "<!DOCTYPE urlset [<!ENTITY x 'y'>]>",
                "2024-01-01",
                "\ufeff",
                "\ue000",
                "\ud800",
                "<image:image>",
                "{",
                "[",
            ),
        )
    ),
    texts,
)
documents = st.lists(parts, max_size=25).map(lambda some: "".join(some).encode("utf-8", "surrogatepass"))


def _corpus() -> tuple[bytes, ...]:
    made = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' + b"".join(
        b"<url><loc>https://shop.example/p/%d</loc><lastmod>2024-01-01</lastmod></url>" % number for number in range(30)
    )
    folder = ROOT / "sitemaps" / "files"
    files = sorted((path for path in folder.glob("*") if path.stat().st_size < 40_000), key=lambda path: path.name)
    return (made + b"</urlset>", gzip.compress(made, mtime=0), *(path.read_bytes() for path in files))


def _names_it(error: Exception) -> None:
    assert URL in str(error)


def read(body: bytes) -> None:
    with cpu_seconds(CPU_S, body):
        try:
            reading = read_sitemap(body, URL, same_site=lambda url: same_site(url, "https://shop.example"))
            for entry in reading.iter_entries():
                assert entry.url.startswith(("https://", "http://"))
                lastmod_ms(entry.lastmod)
        except UnreadableSitemap as error:
            _names_it(error)
            return
    assert reading.lost <= reading.malformed


@FUZZ
@given(documents, st.sampled_from((0, 0, 1, 2, 3)))
def test_any_document_is_read_or_refused_in_words(body: bytes, layers: int) -> None:
    for _ in range(layers):
        body = gzip.compress(body, mtime=0)
    read(body)


@FUZZ
@given(spoiled(st.sampled_from(_corpus())))
def test_a_spoiled_sitemap_is_read_or_refused_in_words(body: bytes) -> None:
    read(body)


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def server(asked: list[str]):  # type: ignore[no-untyped-def]  # a generator, as fixtures are
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<!ENTITY fetched 'fetched'>")

        def log_message(self, *_: object) -> None:
            """Say nothing: a request is a failure, and the test says so."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("root", ["urlset", "rss"])
def test_no_entity_is_fetched_and_no_file_is_opened(root: str, server: str, asked: list[str], tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a-secret", "utf-8")
    declared = (
        f'<!DOCTYPE {root} SYSTEM "{server}/a.dtd" [<!ENTITY file SYSTEM "{secret.as_uri()}">'
        f'<!ENTITY web SYSTEM "{server}/b"><!ENTITY % par SYSTEM "{server}/c"> %par;]>'
    )
    entries = {
        "urlset": "<url><loc>https://shop.example/&file;/&web;/&fetched;</loc></url>",
        "rss": "<channel><item><title>&file;</title><link>https://shop.example/&web;</link></item></channel>",
    }
    xi = f'<x:include xmlns:x="http://www.w3.org/2001/XInclude" href="{secret.as_uri()}" parse="text"/>'
    body = f"{declared}<{root}>{xi}{entries[root]}</{root}>".encode()
    found = [entry.url for entry in read_sitemap(body, URL).iter_entries()]
    try:
        found += [str(one) for one in read_feed(body, URL, "https://shop.example", lambda url: url, 0).products]
    except UnreadableFeed as error:
        found.append(str(error))
    assert asked == []
    assert "a-secret" not in "".join(found)
