"""What goes wrong in a browser, as exceptions that the rest of the crawl knows (NOTES C6)."""

from __future__ import annotations

import re

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from storebot.exceptions import AnswerBroken, FetchFailed, HeadersTooLarge, NothingReturned, RedirectLoop

_NET = re.compile(r"net::(ERR_[A-Z0-9_]+)")
# https://source.chromium.org/chromium/chromium/src/+/main:net/base/net_error_list.h
_KINDS: dict[str, type[Exception]] = {
    "ERR_ABORTED": NothingReturned,
    "ERR_NAME_NOT_RESOLVED": CannotResolveHostError,
    "ERR_CONNECTION_REFUSED": DownloadConnectionRefusedError,
    "ERR_TIMED_OUT": DownloadTimeoutError,
    "ERR_CONNECTION_TIMED_OUT": DownloadTimeoutError,
    "ERR_CONTENT_LENGTH_MISMATCH": ResponseDataLossError,
    "ERR_INCOMPLETE_CHUNKED_ENCODING": ResponseDataLossError,
    "ERR_INCOMPLETE_HTTP2_STREAM": ResponseDataLossError,
    "ERR_CONTENT_DECODING_FAILED": AnswerBroken,
    "ERR_RESPONSE_HEADERS_TOO_BIG": HeadersTooLarge,
    "ERR_TOO_MANY_REDIRECTS": RedirectLoop,
    "ERR_UNKNOWN_URL_SCHEME": FetchFailed,
    "ERR_UNSAFE_PORT": FetchFailed,
}
_TOLD = {
    "ERR_ABORTED": "the navigation returned nothing",
    "ERR_CONTENT_LENGTH_MISMATCH": "its body breaks off before the end that was promised",
    "ERR_INCOMPLETE_CHUNKED_ENCODING": "its body breaks off before the end that was promised",
    "ERR_CONTENT_DECODING_FAILED": "its body isn't packed as its Content-Encoding says",
    "ERR_TOO_MANY_REDIRECTS": "redirects without end",
    "ERR_UNKNOWN_URL_SCHEME": "it leads to an address that no browser has a scheme for",
}


class BrowserCrashed(FetchFailed, DownloadFailedError):
    """Raised for the pages in flight when their browser, or their tab, died: the page is tried again in a new one."""


def failed(code: str) -> Exception:
    """Return the exception that one of Chromium's network errors makes."""
    return _KINDS.get(code, DownloadFailedError)(f"{_TOLD.get(code, 'the browser got no page')} (net::{code})")


def translated(error: PlaywrightError) -> Exception:
    """Return what a Playwright error is to the rest of the crawl; its text is one sentence."""
    if found := _NET.search(error.message):
        return failed(found[1])
    said = error.message.strip().splitlines()[0] if error.message.strip() else type(error).__name__
    if isinstance(error, PlaywrightTimeout):
        return DownloadTimeoutError(said)
    return BrowserCrashed(f"the browser gave up on the page ({said})")
