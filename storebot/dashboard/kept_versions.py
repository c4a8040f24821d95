"""The kept versions of a listing's page, as the page archive has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from storebot.archive import Archive, archive_path
from storebot.archive.rereading import page_of
from storebot.archive.versions import Version, versions
from storebot.core.page import MAX_BYTES
from storebot.dashboard.files import printable
from storebot.dashboard.site import Site
from storebot.exceptions import ArchiveUnusable

MOST = 50
MOST_CHARACTERS = 300_000  # of a version's text that are shown
_LINK = re.compile(r"<link\b", re.IGNORECASE)


def listed(site: Site, store: str, keys: Sequence[str]) -> tuple[list[Version], str]:
    """Return the versions that are kept, the newest first, or why none are."""
    try:
        with _opened(site, store) as archive:
            found = versions(archive, keys, MOST)
    except ArchiveUnusable as error:
        return [], str(error)
    return found, "" if found else "no version of this page is kept (any more)"


def text_of(site: Site, store: str, keys: Sequence[str], at_ms: int) -> str | None:
    """Return a version decoded as the parsers saw it; None where it isn't kept, can't be read, or is too large."""
    try:
        with _opened(site, store) as archive:
            kept = archive.at(keys, at_ms)
    except ArchiveUnusable:
        return None
    return page_of(kept).text if kept is not None and len(kept.body) <= MAX_BYTES else None


def shown(text: str) -> str:
    """Return as much of a page's text as a page of ours has room for, without control characters."""
    return printable(text[:MOST_CHARACTERS])


def framed(text: str) -> str:
    """Return it for a frame, but for its links: a policy doesn't keep a browser from connecting to where they lead."""
    return _LINK.sub("<link-that-was", text)


@contextmanager
def _opened(site: Site, store: str) -> Iterator[Archive]:
    if site.archive is None:
        raise ArchiveUnusable("no pages are kept: STOREBOT_ARCHIVE is off")
    path = archive_path(site.archive, store)
    if not path.exists():
        raise ArchiveUnusable("no pages of this store are kept (yet)")
    archive = Archive.read(path)
    try:
        yield archive
    finally:
        archive.close()
