"""Give what HTTP clients say a name and a sentence: Twisted, aiohttp and httpx2 word one and the same otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from twisted.web._newclient import ParseError

from storebot.exceptions import AnswerTooLarge, HeadersTooLarge

if TYPE_CHECKING:
    from scrapy.http import Request

MAX_HEAD_BYTES = 256 * 1024  # what Chromium takes: net::ERR_RESPONSE_HEADERS_TOO_BIG
_OF_SCRAPY = ("Received ", "Expected to receive ")  # how Scrapy words it, with the URL
# aiohttp's and h11's words for a head beyond their own bounds: 8 KB a field and 128 fields, 100 KB in all.
_OF_THE_HEAD = ("Too many headers received", "bytes when reading", "Receive buffer too long")


def named(error: Exception, request: Request) -> Exception:
    """Return the exception to raise instead of a client's, or the same where that says it well."""
    found = _named(error, request)
    if found is not error:
        found.__cause__ = error
    return found


def _named(error: Exception, request: Request) -> Exception:
    match error:
        case DownloadCancelledError():
            own = str(error)
            return too_large(request) if not own or own.startswith(_OF_SCRAPY) else AnswerTooLarge(own)
        case ResponseDataLossError():
            return ResponseDataLossError("its body breaks off before the end that was promised")
        case DownloadTimeoutError() if str(error).startswith("Getting "):
            return DownloadTimeoutError(f"no whole answer came within {request.meta.get('download_timeout', 0):g} s")
        case DownloadFailedError():
            return _failed(error)
    return error


def too_large(request: Request) -> AnswerTooLarge:
    """Return the error for a body over the request's own bound, else over DOWNLOAD_MAXSIZE."""
    bound = request.meta.get("download_maxsize")
    return AnswerTooLarge(f"its body has more than {f'{bound:,} bytes' if bound else 'DOWNLOAD_MAXSIZE'}")


def _failed(error: DownloadFailedError) -> Exception:
    reasons = getattr(error.__cause__, "reasons", ())  # Twisted's, each the failure of a part
    values = [getattr(reason, "value", reason) for reason in reasons]
    for value in values:
        if isinstance(value, HeadersTooLarge):
            return value
    if any(words in str(error) for words in _OF_THE_HEAD):
        return headers_too_large()
    if not values:
        return error
    if any(isinstance(value, ValueError | ParseError) for value in values):
        return DownloadFailedError(f"its answer is no HTTP: {values[0]}")
    return DownloadFailedError("; ".join(f"{type(value).__name__}: {value}" for value in values))


def headers_too_large() -> HeadersTooLarge:
    """Return the error for a head without end."""
    return HeadersTooLarge(f"its headers don't end: more than {MAX_HEAD_BYTES // 1024} KB, or than the client takes")
