"""Serves one saved shop of the corpus from this machine as the shop itself answered: same paths, same pages."""

from __future__ import annotations

import hashlib
import json
import mimetypes
import re
import tarfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import unquote, urlsplit

import zstandard

from tests.shared_data import shared

_WINDOW = 1 << 27  # the archives are compressed with --long=27
_TEXTS = (".html", ".xml", ".txt")
# How the tools that saved two of the shops wrote down a 301, such as WooCommerce's from /shop/page/1/ to /shop/.
_REDIRECT = re.compile(rb'<title>Redirecting\.\.\.</title>\s*<meta http-equiv="refresh" content="0;url=([^"]+)">')
_END = rb"(?=[/\\\"'<\s?#]|$)"


class Answer(NamedTuple):
    """One response."""

    status: int
    headers: dict[str, str]
    body: bytes


class SavedSite:
    """A saved shop behind a local address: ``with SavedSite("woo-dabhobbies") as site: … site.url``.

    The shop's own address in its pages is replaced by the local one, so that its links and sitemaps stay on site. A
    path that was not saved answers 404; a query is looked at only where the shop's files differ by it. Without
    ``etags`` no answer has a validator, so that a second crawl has to compare.
    """

    def __init__(self, name: str, *, etags: bool = False) -> None:
        self.name, self.etags = name, etags
        self.answered: Counter[tuple[str, int]] = Counter()  # (path and query, status) -> answers
        self._files = unpacked(shared(f"sites/{name}.tar.zst"))
        facts: dict[str, Any] = json.loads(shared(f"sites/{name}.json").read_text())
        self._original = facts["base_url"].rstrip("/")
        self.prefix = urlsplit(self._original).path  # of the shop on its host
        self._addresses = _addresses(urlsplit(self._original).netloc.removeprefix("www."))
        self._server: ThreadingHTTPServer | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._queried = {name.partition("?")[0] for name in self._files if "?" in name}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.url = self.origin + self.prefix
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()
        self._files.clear()  # tens of megabytes, that a handler's class would hold until the collector comes

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Change one saved page, by its file name; raises where that leaves it as it was."""
        before = self._files[path].decode("utf-8", "surrogateescape")
        after = change(before)
        if after == before:
            raise ValueError(f"{self.name}/{path}: the edit changed nothing")
        self._files[path] = after.encode("utf-8", "surrogateescape")

    def rename(self, names: Mapping[str, str]) -> None:
        """Give saved pages other file names, all at once."""
        self._files = {names.get(path, path): body for path, body in self._files.items()}

    def add(self, path: str, text: str) -> None:
        """Add a file that was not saved, or take the place of one that was; call it before the site is entered."""
        self._files[path] = text.encode()

    def answer(self, target: str, if_none_match: str | None) -> Answer:
        """Return the answer to a request target."""
        path = self._file(target)
        if path is None:
            return Answer(404, {"Content-Type": "text/html"}, b"<title>Not found</title>")
        body = self._moved_here(self._files[path]) if path.partition("?")[0].endswith(_TEXTS) else self._files[path]
        if moved := _REDIRECT.search(body):
            return Answer(301, {"Location": moved[1].decode()}, b"")
        kind, _ = mimetypes.guess_type(path.partition("?")[0])
        headers = {"Content-Type": kind or "text/html"}
        if self.etags:
            headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            if if_none_match == headers["ETag"]:
                return Answer(304, headers, b"")
        return Answer(200, headers, body)

    def count(self, target: str, status: int) -> None:
        """Count one answer."""
        with self._lock:
            self.answered[target, status] += 1

    def _moved_here(self, body: bytes) -> bytes:
        """Return a text with the local address for the shop's own, also where JSON escapes its slashes."""
        for address, slash in self._addresses:
            body = address.sub(self.origin.replace("/", slash).encode().replace(b"\\", rb"\\"), body)
        return body

    def _file(self, target: str) -> str | None:
        """Return the name of the file that was saved for a request target: ``/x/`` is ``x/index.html``."""
        path, _, query = target.partition("?")
        if path != self.prefix and not path.startswith(f"{self.prefix}/"):
            return None
        plain = unquote(path.removeprefix(self.prefix)).lstrip("/")
        names = [f"{plain}index.html"] if plain.endswith("/") or not plain else [plain, f"{plain}/index.html"]
        if query and any(name in self._queried for name in names):
            names = [f"{name}?{query}" for name in names]  # where a query tells pages apart, an unknown one is no page
        return next((name for name in names if name in self._files), None)


def _addresses(host: str) -> list[tuple[re.Pattern[bytes], str]]:
    """Return patterns for the ways in which a page names its host, each with the slash that it uses.

    One pattern for each beginning, because a search for a fixed one takes a twentieth of the time.
    """
    return [
        (re.compile(re.escape(scheme + slash * 2).encode() + rb"(?:www\.)?" + re.escape(host).encode() + _END), slash)
        for slash in ("/", "\\/")
        for scheme in ("https:", "http:", "")
    ]


def unpacked(archive: Path) -> dict[str, bytes]:
    """Return the files of a packed site by their path below its one folder."""
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    with zstandard.open(archive, "rb", dctx=unpacker) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
        return {member.name.partition("/")[2]: _read(tar, member) for member in tar if member.isfile()}


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    assert file is not None
    return file.read()


def _handler(site: SavedSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer = site.answer(self.path, self.headers.get("If-None-Match"))
            site.count(self.path, answer.status)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.status != 304:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing: the site counts what it answered."""

    return Handler
