"""Every error that storebot raises on purpose, and the exit code that each ends a command with.

StorebotError
├── ConfigurationError
│   ├── StoreFileError
│   └── UnknownStore
├── DatabaseError
│   ├── DatabaseUnavailable
│   ├── NeedsMigration
│   └── SaveFailed
├── StoreBusy
│   └── LeaseLost
├── UnreadableSitemap
├── UnreadableFeed
├── StageFailed
└── InvalidURL
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """Exit codes of ``scrapy crawl`` and of the commands (DESIGN §5)."""

    COMPLETE = 0
    INTERNAL_ERROR = 1
    USAGE = 2
    PARTIAL = 3
    BLOCKED = 4
    HELD = 5
    BUDGET = 6
    BUSY = 7
    DATABASE = 8
    SIGINT = 130
    SIGTERM = 143


class StorebotError(Exception):
    """Base of all errors raised on purpose; its text is a sentence that says what happened, where, and what to do."""

    exit_code = ExitCode.INTERNAL_ERROR


class ConfigurationError(StorebotError):
    """Raised while settings, arguments or store files are read: nothing was fetched or written."""

    exit_code = ExitCode.USAGE


class StoreFileError(ConfigurationError):
    """Raised by the store loader for one key of one store file."""

    def __init__(self, path: Path | str, key: str, problem: str, nearest: str | None = None) -> None:
        self.path, self.key, self.problem, self.nearest = str(path), key, problem, nearest
        hint = f" (did you mean {nearest!r}?)" if nearest else ""
        super().__init__(f"{path}: {key}: {problem}{hint}" if key else f"{path}: {problem}{hint}")


class UnknownStore(ConfigurationError):
    """Raised by the store loader when no folder has the name asked for."""


class DatabaseError(StorebotError):
    """Raised by ``storebot.db`` when the database can't serve."""

    exit_code = ExitCode.DATABASE


class DatabaseUnavailable(DatabaseError):
    """Raised when the database can't be reached or opened. Its text never holds a password."""


class NeedsMigration(DatabaseError):
    """Raised when the schema is older or newer than this version of storebot."""


class SaveFailed(DatabaseError):
    """Raised when a write transaction failed for good: it was rolled back whole, and the crawl stops."""


class ArchiveUnusable(DatabaseError):
    """Raised by ``storebot.archive`` when a store's page archive is missing, damaged or of an unknown format."""


class StoreBusy(StorebotError):
    """Raised when another run holds the store's lease."""

    exit_code = ExitCode.BUSY


class LeaseLost(StoreBusy):
    """Raised inside a write transaction when another run took the store over: nothing of it is written."""


class UnreadableSitemap(StorebotError):
    """Raised by the sitemap reader for a document that isn't a sitemap: never the same as an empty one."""


class UnreadableFeed(StorebotError):
    """Raised by the readers of feeds for a document that isn't one: never the same as a shop without products."""


class StageFailed(StorebotError):
    """Raised by ``storebot.stages`` when a stage that compares listings raised: what it had said before stays."""


class NetworkForbidden(StorebotError):
    """Raised by ``storebot.reparse.offline`` where a parser that reads kept pages tries the network."""


class InvalidURL(StorebotError, ValueError):
    """Raised by ``url_key`` for text that is no http(s) URL."""

    exit_code = ExitCode.USAGE
