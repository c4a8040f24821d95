"""A shop on this machine that answers by script: for what the demo store never says."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

FILLER = "<p>Fired twice, glazed by hand, and packed in straw.</p>" * 120  # shorter pages look like block pages


class Answer(NamedTuple):
    """One response; status 0 closes the connection without one."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}


class Asked(NamedTuple):
    """One request, its header names in lower case."""

    path: str
    headers: Mapping[str, str]
    at_s: float = 0.0  # monotonic


class ScriptedShop:
    """``with ScriptedShop() as shop: shop.says("/p/mug-1", Answer(…), …)``: answers in turn, the last one for ever.

    A path without a script answers 404. ``asked`` are the requests in their order.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._script: dict[str, list[Answer]] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def says(self, path: str, *answers: Answer) -> Self:
        """Script a path; return the shop."""
        with self._lock:
            self._script[path] = list(answers)
        return self

    def answer(self, asked: Asked) -> Answer:
        """Return the answer to one request, and note it."""
        with self._lock:
            self.asked.append(asked)
            answers = self._script.get(asked.path, [Answer(b"<title>Not found</title>", 404)])
            return answers.pop(0) if len(answers) > 1 else answers[0]

    def requests(self, path: str) -> list[Asked]:
        """Return the requests for one path."""
        return [one for one in self.asked if one.path == path]

    def paths(self, prefix: str = "/") -> list[str]:
        """Return the paths that were asked for, in their order."""
        return [one.path for one in self.asked if one.path.startswith(prefix)]


def product(name: str = "Mug", price: str = "19.90", **headers: str) -> Answer:
    """Return a product page with JSON-LD; an underscore in a header's name stands for a hyphen."""
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR"}
    data = json.dumps({"@context": "https://schema.org", "@type": "Product", "name": name, "offers": offer})
    body = f'<html><head><script type="application/ld+json">{data}</script></head><body>{FILLER}</body></html>'
    return Answer(body.encode(), headers={"Content-Type": "text/html", **_named(headers)})


def listing(*paths: str, **headers: str) -> Answer:
    """Return a page of the catalogue with links to these paths."""
    links = "".join(f'<a href="{path}">{path}</a>' for path in paths)
    return Answer(f"<html><body>{links}{FILLER}</body></html>".encode(), headers=_named(headers))


def mugs(count: int) -> ScriptedShop:
    """Return a shop whose catalogue is one page, ``/all``, that lists ``/p/0`` to ``/p/count - 1``."""
    shop = ScriptedShop().says("/all", listing(*(f"/p/{number}" for number in range(count))))
    for number in range(count):
        shop.says(f"/p/{number}", product(f"Mug {number}"))
    return shop


def sitemap(*urls: str, kind: str = "urlset", entry: str = "url") -> Answer:
    """Return a sitemap of these URLs."""
    entries = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    text = f'<?xml version="1.0"?><{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{kind}>'
    return Answer(text.encode(), headers={"Content-Type": "application/xml"})


def index(*urls: str) -> Answer:
    """Return a sitemap index of these URLs."""
    return sitemap(*urls, kind="sitemapindex", entry="sitemap")


def challenge(**headers: str) -> Answer:
    """Return a challenge page, with 403."""
    body = b"<html><head><title>Just a moment...</title></head><body>_cf_chl_opt</body></html>"
    return Answer(body, 403, {"cf-mitigated": "challenge", **_named(headers)})


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _handler(shop: ScriptedShop) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = shop.answer(Asked(self.path, headers, time.monotonic()))
            self.close_connection = True
            if not answer.status:
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.status != 304:
                self.send_header("Content-Length", str(len(answer.body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing: the shop remembers what it was asked."""

    return Handler
