"""Calling a watchdog. Whatever it does, or doesn't, a run goes on."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from http.client import HTTPException

from storebot.core.secrets import redacted, secret_parts

TIMEOUT_S = 5.0  # of connecting, and of each piece of the answer


def ping(url: str, text: str = "") -> str:
    """Call an http(s) URL, with a text for its log; return "" when it answered well, else why not, without its path."""
    request = urllib.request.Request(url, data=text.encode(), headers={"User-Agent": "storebot"}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # http(s) alone: core.heartbeat.address
            return "" if answer.status < 400 else f"HTTP {answer.status}"
    except (OSError, HTTPException, ValueError) as error:  # URLError is an OSError
        reason = f"HTTP {error.code}" if isinstance(error, urllib.error.HTTPError) else str(error)
        return redacted(" ".join(reason.split()), secret_parts(url, host=False))[:200] or type(error).__name__


class Pinging(threading.Thread):
    """One call in a thread that nobody has to wait for: not the run, and not the end of the process."""

    def __init__(self, url: str, text: str = "") -> None:
        super().__init__(name="storebot-heartbeat", daemon=True)
        self._url, self._text = url, text
        self.error: str | None = None  # None: there is no answer yet

    def run(self) -> None:
        self.error = ping(self._url, self._text)
