"""Every error that storebot raises on purpose, and the exit code that each ends a command with.

StorebotError
├── ConfigurationError
│   ├── StoreFileError
│   ├── UnknownStore
│   └── PromiseRefused
├── DatabaseError
│   ├── DatabaseUnavailable
│   ├── NeedsMigration
│   └── SaveFailed
├── StoreBusy
│   └── LeaseLost
├── JobRefused
├── ClaimLost
├── NotLaunched
├── BreakerOpen
├── UnreadableSitemap
├── UnreadableFeed
├── StageFailed
├── ExportFailed
├── BudgetReached
├── FetchFailed
│   ├── TierNotListed
│   ├── TierUnusable
│   │   ├── ApiKeyRefused
│   │   └── ApiQuotaUsedUp
│   ├── PrivateAddress
│   ├── AnswerTooLarge
│   ├── AnswerBroken
│   ├── HeadersTooLarge
│   ├── NothingReturned
│   ├── RenderFailed
│   ├── ApiBusy
│   ├── ApiFailed
│   └── ApiAnswerUnreadable
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


class JobRefused(StorebotError):
    """Raised by ``storebot.db.job_orders`` where a job can't be added or changed as things stand."""

    exit_code = ExitCode.BUSY


class ClaimLost(StorebotError):
    """Raised inside a write transaction when the claim of a job is another worker's by now: nothing is written."""

    exit_code = ExitCode.BUSY


class NotLaunched(StorebotError):
    """Raised by ``storebot.jobs`` where no process or node could be had for a job; it's tried again, uncounted."""


class BreakerOpen(StorebotError):
    """Raised by ``storebot.db.session`` when the store's circuit breaker is open: the run sends no request at all."""

    exit_code = ExitCode.BLOCKED


class UnreadableSitemap(StorebotError):
    """Raised by the sitemap reader for a document that isn't a sitemap: never the same as an empty one."""


class UnreadableFeed(StorebotError):
    """Raised by the readers of feeds for a document that isn't one: never the same as a shop without products."""


class StageFailed(StorebotError):
    """Raised by ``storebot.stages`` when a stage that compares listings raised: what it had said before stays."""


class ExportFailed(StorebotError):
    """Raised by ``storebot.exports`` when an export can't be written, put into its place, or isn't what it says."""

    exit_code = ExitCode.DATABASE


class BudgetReached(StorebotError):
    """Raised by ``storebot.purse`` for a request that the store's budget has no room for; nothing was sent.

    It isn't Scrapy's IgnoreRequest: that would be a page which is never to be asked for.
    """

    exit_code = ExitCode.BUDGET


class PromiseRefused(ConfigurationError):
    """Raised by ``storebot.db.session`` where the budget can't keep ``[refresh] max_age``: nothing is fetched."""


class NetworkForbidden(StorebotError):
    """Raised by ``storebot.reparse.offline`` where a parser that reads kept pages tries the network."""


class FetchFailed(StorebotError):
    """Raised by a tier of ``storebot.fetch`` that got no page; what Scrapy has an exception for is raised as that."""


class RedirectLoop(FetchFailed):
    """Raised by the redirect middleware where redirects lead in a circle: the page failed, and isn't gone."""


class TierNotListed(FetchFailed):
    """Raised by the download handler for a request of a tier that the store file doesn't list; nothing was sent."""


class TierUnusable(FetchFailed):
    """Raised by a tier that won't get any page in this run: its key was refused, its browser can't be started.

    What would have been the same for the next request isn't asked again; the tiers after it may still be tried.
    """

    exit_code = ExitCode.USAGE  # of a run that has no other tier


class PrivateAddress(FetchFailed):
    """Raised where a page, or a redirect, leads into a private network that the store isn't in: it isn't asked for."""


class AnswerTooLarge(FetchFailed):
    """Raised for a body of more bytes than a page of its kind may have, on the wire or unpacked: it is given up."""


class AnswerBroken(FetchFailed):
    """Raised for a body that isn't packed as its Content-Encoding says, or breaks off: half a page isn't read."""


class HeadersTooLarge(FetchFailed):
    """Raised by the http tier for a response whose headers don't end, interim responses (1xx) included."""


class NothingReturned(FetchFailed):
    """Raised by the tiers with a browser for a navigation that ended without a document, such as HTTP 204."""


class RenderFailed(FetchFailed):
    """Raised by the tiers with a browser for a page that didn't become what was asked for: a placeholder stayed."""


class ApiKeyRefused(TierUnusable):
    """Raised by the api tier when the scraping API doesn't take the key (HTTP 401, 403)."""


class ApiQuotaUsedUp(TierUnusable):
    """Raised by the api tier when the scraping API wants to be paid (402), or asks for more time than a run has."""

    exit_code = ExitCode.BUDGET


class ApiBusy(FetchFailed):
    """Raised by the api tier when the scraping API was asked too much (429), and again after the time it asked for."""


class ApiFailed(FetchFailed):
    """Raised by the api tier for any other status of the scraping API's own. It may have been billed."""


class ApiAnswerUnreadable(FetchFailed):
    """Raised by the api tier for an answer that is no JSON, or has no page where the store file says it is."""


class InvalidURL(StorebotError, ValueError):
    """Raised by ``url_key`` for text that is no http(s) URL."""

    exit_code = ExitCode.USAGE
