"""Serves one saved shop of the corpus from this machine, as the shop itself answered: the same paths, the same pages."""

from __future__ import annotations

import hashlib
import io
import json
import mimetypes
import re
import tarfile
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import zstandard

from tests.shared_data import shared

_WINDOW = 1 << 27  # the archives are compressed with --long=27
_TEXTS = (".html", ".xml", ".txt")


class SavedSite:
    """A saved shop behind a local address: ``with SavedSite("woo-dabhobbies") as site: … site.url``.

    The shop's own address in its pages is replaced by the local one, so that its links and sitemaps stay on site. A path
    that was not saved answers 404. Without ``etags`` no answer has a validator, so that a second crawl has to compare.
    """

    def __init__(self, name: str, *, etags: bool = False) -> None:
        self.name, self.etags = name, etags
        self.asked: Counter[str] = Counter()  # path and query -> requests
        self.answered: Counter[int] = Counter()  # status -> answers
        self._files = _unpacked(shared(f"sites/{name}.tar.zst"))
        facts: dict[str, Any] = json.loads(shared(f"sites/{name}.json").read_text())
        self._original = facts["base_url"].rstrip("/")
        self.prefix = urlsplit(self._original).path  # of the shop on its host
        self._server: ThreadingHTTPServer | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.url = self.origin + self.prefix
        host = re.escape(urlsplit(self._original).netloc.removeprefix("www."))
        plain = re.compile(rf"(?:https?:)?//(?:www\.)?{host}(?=[/\"'<\s?#]|$)")
        escaped = re.compile(rf"(?:https?:)?\\/\\/(?:www\.)?{host}(?=\\/|\")")
        for path, body in self._files.items():
            if path.partition("?")[0].endswith(_TEXTS):
                text = body.decode("utf-8", "surrogateescape")
                text = plain.sub(self.origin, text)
                text = escaped.sub(lambda _: self.origin.replace("/", "\\/"), text)
                self._files[path] = text.encode("utf-8", "surrogateescape")
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Change one saved page, by its file name; raises where that leaves it as it was."""
        before = self._files[path].decode("utf-8", "surrogateescape")
        after = change(before)
        if after == before:
            raise ValueError(f"{self.name}/{path}: the edit changed nothing")
        self._files[path] = after.encode("utf-8", "surrogateescape")

    def answer(self, target: str) -> tuple[int, str, bytes]:
        """Return status, content type and body for a request target."""
        path = self._file(target)
        status = 200 if path is not None else 404
        with self._lock:
            self.asked[target] += 1
            self.answered[status] += 1
        if path is None:
            return 404, "text/html", b"<html><head><title>Not found</title></head><body>Not found</body></html>"
        kind, _ = mimetypes.guess_type(path.partition("?")[0])
        return 200, kind or "text/html", self._files[path]

    def _file(self, target: str) -> str | None:
        """Return the name of the file that was saved for a request target: ``/x/`` is ``x/index.html``."""
        path, _, query = target.partition("?")
        if path != self.prefix and not path.startswith(f"{self.prefix}/"):
            return None
        plain = unquote(path.removeprefix(self.prefix)).lstrip("/")
        folder = plain.rstrip("/")
        names = [plain, f"{folder}/index.html"] if folder and plain == folder else [f"{folder}/index.html".lstrip("/")]
        exact = [f"{name}?{query}" for name in names] if query else []
        return next((name for name in [*exact, *names] if name in self._files), None)


def _unpacked(archive: Path) -> dict[str, bytes]:
    """Return the files of a packed site by their path below its one folder."""
    with zstandard.open(archive, "rb", dctx=zstandard.ZstdDecompressor(max_window_size=_WINDOW)) as packed:
        content = io.BytesIO(packed.read())
    with tarfile.open(fileobj=content) as tar:
        files = [member for member in tar if member.isfile()]
        return {member.name.partition("/")[2]: _read(tar, member) for member in files}


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    assert file is not None
    return file.read()


def _handler(site: SavedSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, kind, body = site.answer(self.path)
            etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"' if site.etags and status == 200 else ""
            if etag and self.headers.get("If-None-Match") == etag:
                status, body = 304, b""
            self.send_response(status)
            if etag:
                self.send_header("ETag", etag)
            if status != 304:
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Write nothing: the site counts what it was asked."""

    return Handler
