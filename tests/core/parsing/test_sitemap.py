"""Sitemaps of every kind, whole, broken and hostile, against goldens and reported faults."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import json
import re
from typing import Any
from urllib.parse import urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storebot.core.parsing.sitemap import SitemapEntry, SitemapKind, SitemapReading, read_sitemap
from storebot.core.parsing.sitemap_source import CHUNK_BYTES
from storebot.exceptions import UnreadableSitemap
from tests.shared_data import ROOT, shared

URL = "https://shop.example/maps/sitemap.xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
GOLDENS = sorted(
    path.name.removesuffix(".golden.json")
    for path in (ROOT / "sitemaps/files").glob("*.golden.json")
    if "robots" not in path.name and "html-served" not in path.name
)
# Where the golden says otherwise. The text file's first line is a sentence, not a URL: the golden's reader took every
# line. RFC 4287 gives an Atom entry one alternate link (its golden accepts 1), the others aren't its page.
OWN_LOCS = {
    "usp-plaintext.txt": ["https://example.org/page1", "https://example.org/page2"],
    "cc-atom.xml": ["http://example.org/2003/12/13/atom03"],
}


def read(body: bytes | str, **options: Any) -> tuple[SitemapReading, list[SitemapEntry]]:
    reading = read_sitemap(body.encode() if isinstance(body, str) else body, URL, **options)
    return reading, list(reading.iter_entries())


def urls(body: bytes | str, **options: Any) -> list[str]:
    return [entry.url for entry in read(body, **options)[1]]


def urlset(*locs: str) -> str:
    return f"<urlset {NAMESPACE}>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "</urlset>"


@pytest.mark.parametrize("name", GOLDENS or ["cc-atom.xml"])
def test_every_saved_sitemap_gives_what_its_golden_says(name: str) -> None:
    golden = json.loads(shared(f"sitemaps/files/{name}.golden.json").read_text())
    reading, entries = read(shared(f"sitemaps/files/{name}").read_bytes())
    found = [entry.url for entry in entries]
    locs = OWN_LOCS.get(name, golden.get("locs"))
    assert reading.kind == golden["type"]
    assert len(found) == (len(locs) if locs is not None else golden["count"])
    if locs is not None:
        assert found == locs
    else:
        assert found[:5] == [urljoin(URL, loc) for loc in golden["first"]]
        assert found[-2:] == [urljoin(URL, loc) for loc in golden["last"]]
    if "lastmod_first" in golden and name not in OWN_LOCS:
        assert [entry.lastmod for entry in entries][:5] == golden["lastmod_first"]
        assert sum(entry.lastmod is not None for entry in entries) == golden["with_lastmod"]
    assert reading.incomplete == (name in ("cc-sitemap.index.xml", "cc-feed.rss"))  # entries without any address


def test_a_saved_html_page_under_a_sitemaps_name_is_refused_with_its_title() -> None:
    with pytest.raises(UnreadableSitemap, match=r"sitemap\.xml is an HTML page titled 'Buddy Toe"):
        read(shared("sitemaps/files/html-served-as-sitemap.xml").read_bytes())


def test_saved_unescaped_ampersands_are_counted_by_entry() -> None:
    reading, _ = read(shared("sitemaps/files/made-unescaped-amp.xml").read_bytes())
    assert (reading.malformed, reading.lost, reading.repaired, reading.incomplete) == (3, 0, True, False)


# S01
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_gzip_is_told_by_its_magic_bytes_up_to_two_layers(layers: int) -> None:
    body = urlset("https://shop.example/p/1").encode()
    for _ in range(layers):
        body = gzip.compress(body)
    assert urls(body) == ["https://shop.example/p/1"]


def test_three_layers_of_gzip_are_refused() -> None:
    with pytest.raises(UnreadableSitemap, match="more than 2 times"):
        read(gzip.compress(gzip.compress(gzip.compress(urlset().encode()))))


def test_gzip_that_cannot_be_unpacked_is_refused() -> None:
    with pytest.raises(UnreadableSitemap, match="can't be unpacked"):
        read(b"\x1f\x8b" + b"nothing of the kind")


def test_gzip_cut_in_the_middle_gives_what_it_holds_and_is_incomplete() -> None:
    body = gzip.compress(urlset(*(f"https://shop.example/p/{number}" for number in range(20_000))).encode())
    reading, entries = read(body[: len(body) // 2])
    assert 100 < len(entries) < 20_000
    assert reading.incomplete


def test_gzip_members_that_follow_each_other_are_one_document() -> None:
    body = urlset("https://shop.example/p/1").encode()
    assert urls(gzip.compress(body[:30]) + gzip.compress(body[30:]) + b"\0\0\0") == ["https://shop.example/p/1"]


@pytest.mark.parametrize("layers", [1, 2])
def test_a_gzip_bomb_is_refused_as_too_large(layers: int) -> None:
    body = b"<urlset>" + b" " * 30_000_000
    for _ in range(layers):
        body = gzip.compress(body, 1)
    with pytest.raises(UnreadableSitemap, match="too large: more than 3000000 bytes"):
        read(body, max_bytes=3_000_000)


# S03, S16
@pytest.mark.parametrize(
    ("loc", "expected"),
    [
        ("\n      https://shop.example/p/1\n  ", "https://shop.example/p/1"),
        ("https://shop.example/p/\n1", "https://shop.example/p/1"),
        ("/p/7", "https://shop.example/p/7"),
        ("p/7", "https://shop.example/maps/p/7"),
        ("//shop.example/p/8", "https://shop.example/p/8"),
        ("<![CDATA[https://shop.example/p/9?a=1&b=2]]>", "https://shop.example/p/9?a=1&b=2"),
        ("<![CDATA[ /p/9?a=1&amp;b=2 ]]>", "https://shop.example/p/9?a=1&b=2"),
        ("https://shop.example/<!-- moved -->p/1", "https://shop.example/p/1"),
        ("https://shop.example/p?a=1&#38;b=2", "https://shop.example/p?a=1&b=2"),
        ("https://shop.example/p/häkchen-✓", "https://shop.example/p/häkchen-✓"),
        ("https://shop.example/p#part", "https://shop.example/p#part"),
    ],
)
def test_a_loc_is_trimmed_and_resolved_against_the_final_url(loc: str, expected: str) -> None:
    assert urls(urlset(loc)) == [expected]


# S04
def test_an_unescaped_ampersand_costs_no_entry() -> None:
    reading, entries = read(
        urlset(
            "https://shop.example/p/a", "https://shop.example/c?x=1&y=2&z;=3", "https://shop.example/p/b?q=1&amp;r=2"
        )
    )
    assert [entry.url for entry in entries] == [
        "https://shop.example/p/a",
        "https://shop.example/c?x=1&y=2&z;=3",
        "https://shop.example/p/b?q=1&r=2",
    ]
    assert (reading.malformed, reading.lost, reading.repaired, reading.incomplete) == (1, 0, True, False)


def test_an_ampersand_in_a_caption_is_a_repair_but_no_malformed_entry() -> None:
    body = "<urlset><url><loc>https://shop.example/1</loc><caption>Salt & Pepper</caption></url></urlset>"
    reading, entries = read(body)
    assert (len(entries), reading.malformed, reading.repaired, reading.incomplete) == (1, 0, True, False)


@pytest.mark.parametrize(
    ("body", "found", "lost"),
    [
        (urlset("https://shop.example/p<a", "https://shop.example/p/b"), 1, 1),
        (urlset("", "https://shop.example/p/b"), 1, 1),
        (urlset("mailto:a@b.example", "https://", "https://[bad", "https://shop.example/p/b"), 1, 3),
        (urlset("https://shop.example/1") + urlset("https://shop.example/2"), 1, 1),
        ("<urlset><sitemap><loc>https://shop.example/1.xml</loc></sitemap></urlset>", 0, 1),
        ("<urlset><product><loc>https://shop.example/1</loc></product></urlset>", 0, 1),
    ],
)
def test_a_dropped_entry_makes_the_document_incomplete(body: str, found: int, lost: int) -> None:
    reading, entries = read(body)
    assert (len(entries), reading.lost, reading.repaired, reading.incomplete) == (found, lost, True, True)


def test_a_less_than_sign_in_a_text_does_not_swallow_the_next_entry() -> None:
    assert len(urls("<urlset><url><loc>/1</loc><caption>a < b</caption></url><url><loc>/2</loc></url></urlset>")) == 2


@pytest.mark.parametrize("cut", [-9, -16, -20, -40])
def test_a_document_cut_short_is_incomplete(cut: int) -> None:
    reading, entries = read(urlset("https://shop.example/1", "https://shop.example/2")[:cut])
    assert entries[0].url == "https://shop.example/1"
    assert reading.incomplete


def test_a_reading_is_incomplete_until_its_last_entry_was_taken() -> None:
    reading = read_sitemap(urlset("https://shop.example/1", "https://shop.example/2").encode(), URL)
    entries = reading.iter_entries()
    next(entries)
    assert reading.incomplete
    assert len(list(entries)) == 1
    assert not reading.incomplete


def test_more_entries_than_allowed_are_left_and_said_to_be_missing() -> None:
    body = urlset(*(f"https://shop.example/{number}" for number in range(10)))
    assert read(body, max_entries=10)[0].incomplete is False
    reading, entries = read(body, max_entries=9)
    assert (len(entries), reading.incomplete) == (9, True)


# S08
@pytest.mark.parametrize(
    "junk",
    [
        codecs.BOM_UTF8 + b"\n\n",
        b"\n\n" + codecs.BOM_UTF8,
        b" \t\r\n",
        b"Notice: Undefined index in map.php\n",
        b"<br />\n<b>Warning</b>: foo() in <b>map.php</b> on line <b>3</b><br />\n",
        b"<!-- " + b"a licence " * 1000 + b"-->\n",
    ],
)
def test_junk_before_the_declaration_is_dropped(junk: bytes) -> None:
    body = b'<?xml version="1.0"?>' + urlset("https://shop.example/p/1").encode()
    assert urls(junk + body) == ["https://shop.example/p/1"]


def test_a_late_start_is_a_repair() -> None:
    assert read("Notice: x\n" + urlset("https://shop.example/p/1"))[0].repaired
    assert not read("\n" + urlset("https://shop.example/p/1"))[0].repaired


# S09
@pytest.mark.parametrize(
    "body",
    [
        "<urlset xmlns='https://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>/p</loc></url></urlset>",
        "<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'><url><loc>/p</loc></url></urlset>",
        "<urlset><url><loc>/p</loc></url></urlset>",
        "<sm:urlset xmlns:sm='http://x.example'><sm:url><sm:loc>/p</sm:loc></sm:url></sm:urlset>",
        "<sm:urlset><sm:url><sm:loc>/p</sm:loc></sm:url></sm:urlset>",
    ],
)
def test_entries_are_found_whatever_the_namespace(body: str) -> None:
    assert urls(body) == ["https://shop.example/p"]


# S10
@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"<!DOCTYPE html><html><title>Just a moment...</title></html>", "an HTML page titled 'Just a moment...'"),
        (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>', "an HTML page"),
        (b"<error><code>wp_die</code><message>No sitemap found.</message></error>", "with the root <error>"),
        (b'{"urls": ["https://shop.example/1"]}', "is JSON"),
        (b"Not found", "without one line that is a URL"),
        (b"%PDF-1.7 \x00\x01", "without one line that is a URL"),
        (b"User-agent: *\nSitemap: https://shop.example/robots.txt\n", "without one line that is a URL"),
        (b"<?" * 100_000, "without one line"),
    ],
)
def test_what_is_no_sitemap_is_refused_with_its_url_and_what_it_is(body: bytes, what: str) -> None:
    with pytest.raises(UnreadableSitemap, match=re.escape(what)) as caught:
        read(body)
    assert URL in str(caught.value)


def test_an_empty_urlset_is_a_sitemap_with_no_entries() -> None:
    reading, entries = read("<urlset/>")
    assert (entries, reading.incomplete) == ([], False)


# S14
def test_images_videos_and_alternates_are_not_pages() -> None:
    body = (
        f'<urlset {NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
        'xmlns:xhtml="http://www.w3.org/1999/xhtml"><url>'
        "<image:image><image:loc>https://cdn.example/1.jpg</image:loc></image:image>"
        "<image:loc>https://cdn.example/2.jpg</image:loc>"
        "<loc>https://shop.example/da/p-1</loc>"
        "<xhtml:link rel='alternate' hreflang='sv' href='https://shop.example/se/p-1'/></url></urlset>"
    )
    assert urls(body) == ["https://shop.example/da/p-1"]


def test_an_index_names_sitemaps_and_their_lastmod() -> None:
    reading, entries = read(
        "<sitemapindex><sitemap><loc>a.xml.gz</loc><lastmod> 2026-01-01 </lastmod></sitemap>"
        "<sitemap><loc>/b.xml</loc><lastmod/></sitemap></sitemapindex>"
    )
    assert reading.is_index
    assert entries == [("https://shop.example/maps/a.xml.gz", "2026-01-01"), ("https://shop.example/b.xml", None)]


def test_a_text_sitemap_is_one_url_a_line() -> None:
    reading, entries = read(
        "\ufeffhttps://shop.example/1\r\n\r\n# comment\r\n  https://shop.example/2?a=1&b=2\r\nhttps://shop.example/3"
    )
    assert reading.kind is SitemapKind.TEXT
    assert [entry.url[-1] for entry in entries] == ["1", "2", "3"]
    assert not reading.incomplete


def test_a_feed_item_without_a_link_is_found_by_its_guid_only_when_that_is_an_address() -> None:
    body = (
        "<rss><channel><link>/</link><item><guid>/p/1</guid></item>"
        "<item><guid isPermaLink='false'>/p/2</guid></item></channel></rss>"
    )
    assert urls(body) == ["https://shop.example/p/1"]


def test_entries_of_other_sites_are_refused_and_counted() -> None:
    body = urlset("https://shop.example/1", "https://elsewhere.example/2")
    reading, entries = read(body, same_site=lambda url: url.startswith("https://shop.example/"))
    assert (len(entries), reading.refused, reading.malformed, reading.incomplete) == (1, 1, 0, False)


# entities, encodings
def test_no_entity_is_expanded_and_no_file_is_opened() -> None:
    lol = "".join(f"<!ENTITY l{number} '{f'&l{number - 1};' * 10}'>" for number in range(1, 10))
    body = (
        f"<?xml version='1.0'?><!DOCTYPE urlset [<!ENTITY l0 'lol'>{lol}<!ENTITY f SYSTEM 'file:///etc/hostname'>]>"
        "<urlset><url><loc>https://shop.example/&l9;</loc></url><url><loc>https://shop.example/&f;</loc></url></urlset>"
    )
    assert urls(body) == ["https://shop.example/&l9;", "https://shop.example/&f;"]


@pytest.mark.parametrize(
    ("label", "encoding"),
    [
        ("utf-8", "utf-8"),
        ("utf-16", "utf-16"),
        ("iso-8859-1", "iso-8859-1"),
        ("iso-8859-1", "utf-8"),
        ("utf-8", "cp1252"),
        ("nonsense", "cp1252"),
        ("windows-1251", "utf-8"),
    ],
)
def test_the_bytes_win_over_a_wrong_encoding_label(label: str, encoding: str) -> None:
    body = f'<?xml version="1.0" encoding="{label}"?>' + urlset("https://shop.example/p/é")
    assert urls(body.encode(encoding)) == ["https://shop.example/p/é"]


def test_control_characters_cost_no_entry() -> None:
    assert urls(urlset("https://shop.example/a\0", "https://shop.example/\x1fb")) == [
        "https://shop.example/a",
        "https://shop.example/b",
    ]


def test_tags_references_and_characters_on_the_border_of_two_chunks_are_whole() -> None:
    locs = [f"https://shop.example/{'é' * (number % 7)}/{number}?a=1&amp;b=2&c=3" for number in range(6_000)]
    body = urlset(*locs).encode()
    assert len(body) > 4 * CHUNK_BYTES
    reading, entries = read(body)
    assert [entry.url for entry in entries] == [loc.replace("&amp;", "&") for loc in locs]
    assert (reading.malformed, reading.lost, reading.incomplete) == (6_000, 0, False)


@pytest.mark.parametrize("text", ["a" * 3_000_000, "<a>" * 100_000, "<url>" * 100_000, "<!--" * 100_000])
def test_a_hostile_document_ends_and_is_incomplete(text: str) -> None:
    assert read("<urlset>" + text)[0].incomplete


@settings(deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"<urlset>", b"<urlset><url><loc>", b"\x1f\x8b", b"https://a.example\n"]),
)
def test_any_bytes_are_read_or_refused_but_never_crash(noise: bytes, start: bytes) -> None:
    entries: list[SitemapEntry] = []
    with contextlib.suppress(UnreadableSitemap):
        entries = read(start + noise)[1]
    assert all(entry.url.startswith(("http://", "https://")) for entry in entries)


@pytest.mark.parametrize("number", ["xD800", "55296", "x110000", "0", "xE000"])
def test_a_reference_to_no_character_is_plain_text_and_the_entry_counts_as_repaired(number: str) -> None:
    reading, entries = read(f"<urlset {NAMESPACE}><url><loc>https://shop.example/&#{number};</loc></url></urlset>")
    assert [entry.url for entry in entries] == [f"https://shop.example/&#{number};"]
    assert reading.repaired


def test_blank_lines_without_end_are_no_hang() -> None:
    with pytest.raises(UnreadableSitemap):
        read(b"x" + b"\n" * 5_000_000)


def test_a_line_without_end_is_dropped_and_what_follows_is_read() -> None:
    reading, entries = read(b"https://shop.example/a\n" + b"a" * 20_000_000 + b"\nhttps://shop.example/b")
    assert [entry.url for entry in entries] == ["https://shop.example/a", "https://shop.example/b"]
    assert reading.malformed == 1
