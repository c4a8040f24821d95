"""Which versions of a page are kept: without their bodies, which one at a time are read from the archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from storebot.archive.archive import Archive

_VERSIONS = """
SELECT g.fetched_at, g.status, b.size, g.tier, g.held, lower(hex(b.sha256)), lower(hex(g.content_hash))
FROM generations g JOIN pages p ON p.id = g.page_id JOIN bodies b ON b.id = g.body_id
WHERE p.url_key IN ({keys}) ORDER BY g.fetched_at DESC LIMIT ?
"""


class Version(NamedTuple):
    """One of them. ``held``: its record waited at the write gate, and another one was published."""

    fetched_at_ms: int
    status: int
    size_bytes: int
    tier: str
    held: bool
    sha256: str
    content_hash: str  # the same where what was read from it is the same


def versions(archive: Archive, url_keys: Sequence[str], most: int) -> list[Version]:
    """Return the newest versions of a page that goes by these keys, the newest first."""
    marks = ", ".join("?" for _ in url_keys)
    found = archive.connection.execute(_VERSIONS.format(keys=marks), (*url_keys, most))
    return [Version(at, status, size, tier, bool(held), *hashes) for at, status, size, tier, held, *hashes in found]
