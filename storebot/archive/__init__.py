"""The page archive: the body of every accepted response on disk, one SQLite file a store (docs/decisions/0019)."""

from __future__ import annotations

from storebot.archive.archive import Archive
from storebot.archive.file import archive_path
from storebot.archive.packing import Packer
from storebot.archive.stats import Stats, stats

__all__ = ["Archive", "Packer", "Stats", "archive_path", "stats"]
