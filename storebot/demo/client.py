"""Steers a demo store from outside, wherever it runs: its clock, its lies, its counts."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

from storebot.demo.ledger import Facts
from storebot.exceptions import ConfigurationError

_TIMEOUT_S = 60.0


class Changed(NamedTuple):
    """What the clock did to one product."""

    kind: str  # price | stock | title | vanished | appeared
    id: int
    url: str
    sku: str  # of the variant, where one variant changed
    field: str  # price | availability | name; "" where the product came or went
    before: str  # prices as decimal text, availability without its prefix; a status where it vanished
    after: str


@dataclass(frozen=True, slots=True)
class Requests:
    """What was served since the last reset. Kinds are product, catalogue, sitemap, robots, other."""

    counts: dict[tuple[str, str, int], int]  # (method, path with query, status) -> requests
    full: dict[str, int]  # kind -> answers with status 200
    not_modified: dict[str, int]  # kind -> 304
    other: dict[str, int]  # kind -> any other status
    bytes: dict[str, int]  # kind -> bytes of bodies sent
    facts: dict[Facts, int]  # what the shop could see of who asked -> requests
    arrivals: dict[str, list[float]]  # kind -> monotonic seconds of the server
    max_concurrent: int  # requests being answered at once, until their bodies were handed to the socket

    @property
    def total(self) -> int:
        """Return how many requests were served."""
        return sum(self.counts.values())

    def count(self, path: str | None = None, status: int | None = None, method: str | None = None) -> int:
        """Return how many requests had this path, status and method; None is any."""
        return sum(
            count
            for (a_method, a_path, a_status), count in self.counts.items()
            if path in (None, a_path) and status in (None, a_status) and method in (None, a_method)
        )

    def by(self, fact: str, kind: str | None = None, status: int | None = None) -> dict[Any, int]:
        """Return requests by one of the `Facts`, such as ``http`` or ``address``; of one kind and status, or any."""
        found: dict[Any, int] = {}
        for facts, count in self.facts.items():
            if kind in (None, facts.kind) and status in (None, facts.status):
                value = getattr(facts, fact)
                found[value] = found.get(value, 0) + count
        return found

    def paths(self, prefix: str = "/", status: int | None = None) -> dict[str, int]:
        """Return requests by path, of those that begin with ``prefix``."""
        found: dict[str, int] = {}
        for (_, path, a_status), count in self.counts.items():
            if path.startswith(prefix) and status in (None, a_status):
                found[path] = found.get(path, 0) + count
        return found


class DemoClient:
    """The switchboard of the demo store at ``url``; ``certificate`` is the authority to trust over HTTPS.

    Raises ConfigurationError with the store's own sentence where it refuses, URLError where nobody listens.
    """

    def __init__(self, url: str, certificate: Path | None = None) -> None:
        self.url, self.certificate = url.rstrip("/"), certificate

    def advance(self, changed: int | None = None, **step: Any) -> list[Changed]:
        """Move the clock by a day, and change exactly this many products; see `storebot.demo.clock.Step`.

        ``price=``, ``stock=``, ``title=`` (counts within ``changed``), ``vanished=``, ``vanished_status=404|410``,
        ``appeared=``, ``hours=``, ``seed=``.
        """
        rows = self._post("advance", {"changed": changed, **step})["changes"]
        return [Changed(**{name: row[name] for name in Changed._fields}) for row in rows]

    def lie(self, name: str, pattern: str = ".*", times: int | None = None, **options: Any) -> None:
        """Switch a lie on for paths in which ``pattern`` is found; see `storebot.demo.lies.LIES`."""
        self._post("lie", {"name": name, "pattern": pattern, "times": times, **options})

    def honest(self) -> None:
        """Switch all lies off."""
        self._post("honest", {})

    def reset_counts(self) -> None:
        """Forget the requests served so far."""
        self._post("reset_counts", {})

    def requests(self) -> Requests:
        """Return what was served since the last reset."""
        report = self._get("requests")
        totals = report["totals"]
        columns = {
            name: {kind: counts.get(name, 0) for kind, counts in totals.items()}
            for name in ("full", "not_modified", "other", "bytes")
        }
        counts = {(method, path, status): count for method, path, status, count in report["counts"]}
        facts = {Facts(*row): count for *row, count in report["facts"]}
        arrivals: dict[str, list[float]] = report["arrivals"]
        most: int = report["max_concurrent"]
        return Requests(counts, **columns, facts=facts, arrivals=arrivals, max_concurrent=most)

    def status(self) -> dict[str, Any]:
        """Return the clock (``now_s``, ``tick``), ``products``, ``pages`` and ``options``."""
        return self._get("status")

    def lies(self) -> dict[str, Any]:
        """Return the lies that are ``active``, and all that are ``known``."""
        return self._get("lies")

    def truth(self) -> list[dict[str, Any]]:
        """Return what an honest crawl must find on every live product page, in catalogue order."""
        return list(self.iter_truth())

    def iter_truth(self) -> Iterator[dict[str, Any]]:
        """Yield the same, one product at a time."""
        with self._open("truth", None) as answer:
            for line in answer:
                yield json.loads(line)

    def _get(self, name: str) -> dict[str, Any]:
        with self._open(name, None) as answer:
            return _json_object(answer)

    def _post(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        with self._open(name, json.dumps(arguments).encode()) as answer:
            return _json_object(answer)

    def _open(self, name: str, body: bytes | None) -> HTTPResponse:
        trust = ssl.create_default_context(cafile=self.certificate) if self.url.startswith("https:") else None
        opener = build_opener(
            ProxyHandler({}), HTTPSHandler(context=trust)
        )  # a proxy of the environment has nothing to do with loopback
        headers = {"Content-Type": "application/json"} if body is not None else {}
        try:
            answer: HTTPResponse = opener.open(Request(f"{self.url}/_demo/{name}", body, headers), timeout=_TIMEOUT_S)
        except HTTPError as error:
            with error:
                raise ConfigurationError(_json_object(error)["error"]) from error
        return answer


def _json_object(answer: HTTPResponse | HTTPError) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.read())
    return found
