"""Pages saved as two files side by side: the body as it came, and a JSON file that says where it came from."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from storebot.core.page import Page
from storebot.exceptions import ConfigurationError

BODIES = (".html", ".html.gz")
GZIP_BYTES = 20_000  # a page beyond is saved compressed: such pages go into a repository
_MAX_BODY_BYTES = 64 * 1024 * 1024


def page_id(url: str) -> str:
    """Return a name for the files of one page: the end of its path, and what tells its URL from all others."""
    slug = re.sub(r"[^a-z0-9]+", "-", urlsplit(url).path.rstrip("/").rpartition("/")[2].lower()).strip("-")
    slug = slug if len(slug) <= 40 else slug[:41].rpartition("-")[0][:40]
    digest = hashlib.sha256(url.encode()).hexdigest()[:8]
    return f"{slug}-{digest}" if slug else digest


def about(page: Page) -> dict[str, Any]:
    """Return what the JSON file says of a page: what it takes to read it again. Cookies and the like stay out."""
    headers = {"content-type": page.content_type} if page.content_type else {}
    return {"url": page.url, "status": page.status, "headers": headers}


def write(folder: Path, name: str, page: Page, facts: Mapping[str, Any], *, compress: bool) -> Path:
    """Write a page and its facts, each whole or not at all, over those of the same name; return the body's path."""
    folder.mkdir(parents=True, exist_ok=True)
    packed = compress and len(page.body) > GZIP_BYTES
    path = folder / f"{name}{BODIES[packed]}"
    _replace(path, gzip.compress(page.body, mtime=0) if packed else page.body)
    (folder / f"{name}{BODIES[not packed]}").unlink(missing_ok=True)
    write_facts(path, facts)
    return path


def write_facts(path: Path, facts: Mapping[str, Any]) -> None:
    """Write the JSON file of a saved page."""
    _replace(facts_path(path), orjson.dumps(facts, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(content)
    beside.replace(path)


def bodies(folder: Path) -> Iterator[Path]:
    """Yield the bodies in a folder, by name."""
    if folder.is_dir():
        yield from (path for path in sorted(folder.iterdir()) if path.name.endswith(BODIES) and path.name[0] != ".")


def name_of(path: Path) -> str:
    """Return the name that the files of a page share."""
    return path.name.removesuffix(".gz").removesuffix(".html")


def facts_path(path: Path) -> Path:
    """Return the path of the JSON file beside a body."""
    return path.with_name(f"{name_of(path)}.json")


def read_facts(path: Path) -> dict[str, Any]:
    """Return what the JSON file beside a body says. Raises ConfigurationError where it can't be read."""
    beside = facts_path(path)
    try:
        found = orjson.loads(beside.read_bytes())
    except (OSError, ValueError) as error:
        reason = "there is none" if isinstance(error, FileNotFoundError) else str(error)
        raise ConfigurationError(f"{path}: expected a JSON file {beside.name} beside it: {reason}") from error
    if not isinstance(found, dict) or not isinstance(found.get("url"), str):
        raise ConfigurationError(f'{beside}: expected an object with the page\'s "url"')
    return found


def read_body(path: Path) -> bytes:
    """Return the body, decompressed where its name says so. Raises OSError where it can't be read."""
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        with gzip.open(path) as file:
            return file.read(_MAX_BODY_BYTES)
    except (EOFError, zlib.error) as error:
        raise OSError(f"{path}: can't be read: {error}") from error


def read_page(path: Path, facts: Mapping[str, Any]) -> Page:
    """Return a saved page as it was fetched."""
    return Page(
        url=str(facts["url"]),
        body=read_body(path),
        status=int(facts.get("status", 200)),
        headers={str(name).lower(): str(value) for name, value in dict(facts.get("headers", {})).items()},
    )
