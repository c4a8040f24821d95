"""What the fast reading of a page depends on, as one digest."""

from __future__ import annotations

from hashlib import blake2b

from storebot.core.page import Page
from storebot.core.parsing.jsonld import blocks_of
from storebot.core.parsing.opengraph import tags_of


def source_hash(page: Page) -> str:
    """Return a digest of the page's JSON-LD and product metas; "" where it has neither. Builds no tree.

    The page's own addresses and how its bytes are to be decoded are part of it, for what the sources say is read by
    them. Two pages with one digest have one record, where `Reading.source_hash` says that nothing else went into it.
    """
    blocks, metas = blocks_of(page), tags_of(page)
    if not blocks and not metas:
        return ""
    digest = blake2b(digest_size=16)
    for part in (page.url, page.requested_url, page.canonical_url or "", page.charset or "", page.content_type):
        digest.update(part.encode("utf-8", "replace") + b"\0")
    for block in (*metas, *(content for _, content in blocks)):
        digest.update(block + b"\0")
    return digest.hexdigest()
