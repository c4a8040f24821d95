"""Rows of the archive's file and the pages that they stand for."""

from __future__ import annotations

import orjson

from storebot.archive.packing import Unpacker
from storebot.items import KeptPage, PackedPage

GENERATIONS = """
SELECT p.url_key, g.fetched_at, p.page_type, coalesce(nullif(g.url, ''), p.url),
       coalesce(nullif(g.final_url, ''), p.url), g.status, h.text, g.own_headers, g.tier, g.content_hash,
       g.origin, g.held, b.sha256, b.size, b.dictionary, b.packed
FROM generations g JOIN pages p ON p.id = g.page_id JOIN bodies b ON b.id = g.body_id
JOIN headers h ON h.id = g.headers_id
"""
Row = tuple[str, int, str, str, str, int, str, str, str, bytes, int, int, bytes, int, bytes, bytes]  # of GENERATIONS

_OWN_HEADERS = frozenset({"etag", "last-modified", "date", "age", "expires"})  # the others are a few sets a store

PAGE = """
INSERT INTO pages (url_key, page_type, url) VALUES (:url_key, :page_type, :url)
ON CONFLICT (url_key) DO UPDATE SET page_type = excluded.page_type WHERE page_type <> excluded.page_type
"""
BODY = """
INSERT INTO bodies (sha256, size, dictionary, packed) VALUES (:sha256, :size, :dictionary, :packed)
ON CONFLICT (sha256) DO NOTHING
"""
HEADERS = "INSERT INTO headers (text) VALUES (:headers) ON CONFLICT (text) DO NOTHING"
BODY_ANEW = "UPDATE bodies SET dictionary = :dictionary, packed = :packed WHERE sha256 = :sha256"
# An address is kept once, unless it moved.
GENERATION = """
INSERT OR REPLACE INTO generations
SELECT p.id, :fetched_at, :origin, (SELECT id FROM bodies WHERE sha256 = :sha256), :held, :status,
       CASE WHEN :url = p.url THEN '' ELSE :url END, CASE WHEN :final_url = p.url THEN '' ELSE :final_url END,
       (SELECT id FROM headers WHERE text = :headers), :own_headers, :tier, :content_hash
FROM pages p WHERE p.url_key = :url_key
"""


def parameters(packed: PackedPage) -> dict[str, object]:
    """Return the parameters of the statements that write a page."""
    page = packed.page
    return {
        "url_key": page.url_key,
        "page_type": page.page_type,
        "url": page.url,
        "final_url": page.final_url,
        "fetched_at": page.fetched_at_ms,
        "origin": page.origin,
        "held": page.held,
        "status": page.status,
        "headers": _json({name: text for name, text in page.headers.items() if name not in _OWN_HEADERS}),
        "own_headers": _json({name: text for name, text in page.headers.items() if name in _OWN_HEADERS}),
        "tier": page.tier,
        "content_hash": bytes.fromhex(page.content_hash),
        "sha256": packed.sha256,
        "size": packed.size,
        "dictionary": packed.dictionary,
        "packed": packed.packed,
    }


def page_of(row: Row, unpacker: Unpacker) -> KeptPage:
    """Return the page of a row. Raises ValueError where its body can't be read."""
    key, fetched_at, page_type, url, final_url, status, headers, own_headers = row[:8]
    tier, content_hash, origin, held, _, size, name, packed = row[8:]
    return KeptPage(
        url_key=key,
        url=url,
        final_url=final_url,
        fetched_at_ms=fetched_at,
        body=unpacker.unpack(packed, name, size),
        status=status,
        headers={**orjson.loads(headers), **orjson.loads(own_headers)},
        page_type=page_type,
        tier=tier,
        content_hash=content_hash.hex(),
        origin=origin,
        held=bool(held),
    )


def _json(headers: dict[str, str]) -> str:
    return orjson.dumps(headers, option=orjson.OPT_SORT_KEYS).decode()
