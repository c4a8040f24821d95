"""Scrapyd nodes: how they are asked, and whether one has the code that this is.

Their API: https://scrapyd.readthedocs.io/en/stable/api.html
"""

from __future__ import annotations

import base64
import json
from http.client import HTTPException
from socket import gaierror
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from storebot.core.deployed import version_of
from storebot.exceptions import ConfigurationError

TIMEOUT_S = 5.0
DEPLOY = 'scrapyd-deploy --version "$(scrapy worker --deploy-version)"'
_UNLIKE = "it answers, and not as Scrapyd does: is that its address?"
NO_ANSWER = (OSError, HTTPException, ValueError)  # urllib's errors are OSErrors; ValueError: it's no JSON, or a refusal
_open = build_opener(ProxyHandler({})).open  # nodes are one's own: no proxy of the environment stands between


class Node(NamedTuple):
    """One Scrapyd server; ``url`` has no password."""

    url: str
    user: str = ""
    password: str = ""

    def call(self, what: str, timeout_s: float = TIMEOUT_S, **fields: str | list[str]) -> dict[str, Any]:
        """Ask the node: by GET without fields, else by POST. Raises OSError, HTTPException or ValueError."""
        body = urlencode(fields, doseq=True).encode() if fields else None
        request = Request(f"{self.url}/{what}", data=body)
        if self.user:
            secret = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
            request.add_header("Authorization", f"Basic {secret}")
        with _open(request, timeout=timeout_s) as answer:
            body = answer.read()
        try:
            found: dict[str, Any] = dict(json.loads(body))
        except (TypeError, ValueError):
            raise ValueError(_UNLIKE) from None
        if found.get("status") not in ("ok", None):
            raise ValueError(str(found.get("message", found)))
        return found

    def load(self) -> int:
        """Return how many crawls it has, those that wait included. Raises as `call`."""
        found = self.call("daemonstatus.json")
        try:
            return int(found["running"]) + int(found["pending"])
        except (KeyError, TypeError):
            raise ValueError(_UNLIKE) from None

    def version(self, project: str, code: str) -> str:
        """Return the version under which it has this code. Raises as `call`, ValueError saying what it has instead."""
        versions = self.call(f"listversions.json?{urlencode({'project': project})}").get("versions")
        if not isinstance(versions, list):
            raise ValueError(_UNLIKE)
        if not versions:
            raise ValueError(f"{project} isn't deployed there: {DEPLOY}")
        if (found := version_of(code, map(str, versions))) is None:
            raise ValueError(f"it has {project} {versions[-1]}, and this code is {code}: {DEPLOY}")
        return found


def nodes_of(text: str) -> list[Node]:
    """Read ``STOREBOT_SCRAPYD_URLS``. Raises ConfigurationError, which shows no password."""
    found = []
    for number, word in enumerate(text.split(), 1):
        parts = urlsplit(word)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ConfigurationError(
                f"STOREBOT_SCRAPYD_URLS: address {number} isn't of the form http://user:password@host:6800"
            )
        url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        found.append(Node(url, unquote(parts.username or ""), unquote(parts.password or "")))
    return found


def refused(error: BaseException) -> bool:
    """Whether the node certainly didn't take the job: what was cut off, or took too long, it may have taken."""
    if isinstance(error, HTTPError | ValueError):
        return True
    return isinstance(error, URLError) and isinstance(error.reason, ConnectionRefusedError | gaierror)


def said(error: BaseException) -> str:
    """Return in words why a node didn't do what it was asked."""
    if isinstance(error, HTTPError):
        hint = "; give user and password in STOREBOT_SCRAPYD_URLS" if error.code == 401 else ""
        return f"HTTP {error.code}{hint}"
    return str(error.reason if isinstance(error, URLError) else error) or type(error).__name__
