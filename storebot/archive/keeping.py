"""What a run keeps of the pages that it reads, and what it had already."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from storebot.archive.archive import Archive
from storebot.archive.file import archive_path
from storebot.archive.packing import Packer
from storebot.archive.retention import Expiry, Retention
from storebot.core.page import Page
from storebot.db.discovery import is_key
from storebot.db.saved import Saved
from storebot.exceptions import ConfigurationError
from storebot.items import KeptPage, Outcome, PackedPage, PageType, Visit, WalkEnd
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_OFF = ("", "off")


class Keeper:
    """A run's hold on its store's archive. Switched off it keeps nothing, and had nothing.

    Pages are packed where they're read, on the main thread, so that no body waits for its commit; `keep` runs on the
    thread that saves, and `had` reads by a connection of its own.
    """

    def __init__(self, settings: BaseSettings, store: Store) -> None:
        self.origin = 0  # which database the pages are fetched for; known once the run is open
        self._settings, self._store = settings, store
        self._retention = retention_of(store)
        self._archive: Archive | None = None
        self._reader: Archive | None = None
        self._had_any = False  # before this run
        self._packer = Packer()

    def open(self) -> None:
        """Open the file, or begin it. Raises `ArchiveUnusable`, and `ConfigurationError` for a folder that can't be."""
        if (folder := archive_folder(self._settings)) is not None:
            self._archive = Archive.open(archive_path(folder, self._store.name))
            self._packer = self._archive.packer()
            self._had_any = not self._archive.is_empty

    def sizes(self) -> list[tuple[str, int]]:
        """Return page type and size in bytes of the pages that earlier runs kept last."""
        return self._archive.sizes() if self._archive is not None else []

    def pack(self, visit: Visit) -> None:
        """Put what is kept of a page that was read in place of its body; it's written when the visit is saved."""
        if self._archive is None:
            if visit.content_hash != visit.target.content_hash:
                visit.page_sha256 = sha256(visit.body).hexdigest()
        else:
            visit.kept = self._packer.pack(_page_of(visit, self.origin))
            visit.page_sha256 = visit.kept.sha256.hex()
        visit.body = b""

    def pack_catalogue(self, page: Page, url_key: str, content_hash: str, at_ms: int) -> PackedPage | None:
        """Return what is kept of a page of the catalogue; None where nothing is."""
        if self._archive is None:
            return None
        return self._packer.pack(
            KeptPage(
                url_key=url_key,
                url=page.requested_url,
                final_url=page.url,
                fetched_at_ms=at_ms,
                body=page.body,
                status=page.status,
                headers=page.headers,
                page_type=PageType.CATALOGUE,
                tier=page.tier,
                content_hash=content_hash,
            )
        )

    def keep(self, saved: Sequence[Saved]) -> None:
        """Write the pages whose records are about to be committed. Raises `SaveFailed`: then nothing may be committed.

        A page whose visit isn't accepted in the end (it's another page's, or another worker has it) isn't kept. What
        `[archive]` doesn't ask for of the older generations of these pages goes.
        """
        if self._archive is None:
            return
        pages = [page for one in saved if (page := _accepted(one, self.origin)) is not None]
        if pages:
            now_ms = max(one.page.fetched_at_ms for one in pages)
            self._archive.keep(pages, self._packer, Expiry(self._retention, now_ms, _records_at(saved)))

    def had(self, url_key: str, now_ms: int, after_ms: int) -> KeptPage | None:
        """Return the newest accepted page of a key that was fetched for this database, if it's young enough to do, and
        younger than the last answer that the database knows of (``after_ms``)."""
        reuse_ms = self._store.archive.reuse_within_ms
        if self._archive is None or not self._had_any or not reuse_ms:
            return None
        if self._reader is None:
            self._reader = Archive.read(self._archive.path)
            self._archive.unreadable = self._reader.unreadable
        page = self._reader.latest(url_key, origin=self.origin)
        return page if page is not None and page.fetched_at_ms > max(now_ms - reuse_ms, after_ms) else None

    def close(self) -> None:
        """Close the file."""
        for archive in (self._reader, self._archive):
            if archive is not None:
                archive.close()


def _page_of(visit: Visit, origin: int) -> KeptPage:
    final = visit.final_key
    return KeptPage(
        url_key=final if final and is_key(final) else visit.target.url_key,
        url=visit.requested_url,
        final_url=visit.final_url,
        fetched_at_ms=visit.at_ms,
        body=visit.body,
        status=visit.status,
        headers=visit.headers,
        tier=visit.tier,
        content_hash=visit.content_hash,
        origin=origin,
    )


def _accepted(saved: Saved, origin: int) -> PackedPage | None:
    record, outcome = saved.record, saved.outcome
    if record is None or isinstance(record, WalkEnd) or record.kept is None:
        return None
    held = outcome is Outcome.HELD
    if isinstance(record, Visit) and not held and (outcome is None or not outcome.seen):
        return None
    if not held and record.kept.page.origin == origin:
        return record.kept
    return replace(record.kept, page=replace(record.kept.page, origin=origin, held=held))


def _records_at(saved: Sequence[Saved]) -> dict[str, int]:
    """Return which generation the records of these pages were read from before they are committed."""
    visits = [one.record for one in saved if isinstance(one.record, Visit)]
    return {visit.kept.page.url_key: at for visit in visits if visit.kept and (at := visit.target.fetched_at)}


def archive_folder(settings: BaseSettings) -> Path | None:
    """Return the folder of `STOREBOT_ARCHIVE`; None where it's switched off. Under Scrapyd it has to be absolute."""
    text = (settings.get("STOREBOT_ARCHIVE") or "").strip()
    if text in _OFF:
        return None
    folder = Path(text)
    if "SCRAPYD_JOB" in os.environ and not folder.is_absolute():
        raise ConfigurationError(
            f"STOREBOT_ARCHIVE: {text}: give an absolute path, the same from every directory, or off"
        )
    return folder


def retention_of(store: Store) -> Retention:
    """Return what a store file's ``[archive]`` asks to be kept."""
    rules = store.archive
    if rules.keep_all:
        return Retention()
    return Retention(last=rules.keep_last, days=rules.keep_days or None, changed=rules.keep_changed)
