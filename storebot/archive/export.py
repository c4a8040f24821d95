"""An archive as a WARC file (ISO 28500), for the tools that read such files.

https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from storebot import __version__
from storebot.exceptions import ConfigurationError
from storebot.items import KeptPage

try:
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter
except ModuleNotFoundError as error:
    raise ConfigurationError(f"{error}; install it with `pip install 'storebot[archive]'`") from error


def export(pages: Iterable[KeptPage], path: Path, *, store: str) -> int:
    """Write pages as response records, and return how many; the file appears whole or not at all.

    Gzipped record by record where its name ends in ``.gz``. The bodies are as they were decoded, so what described
    their transfer isn't among their headers. Raises OSError.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            count = _write(file, pages, path.name, store)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with suppress(FileNotFoundError):  # it has its name by now
            beside.unlink()
    return count


def _write(file: BinaryIO, pages: Iterable[KeptPage], name: str, store: str) -> int:
    writer = WARCWriter(file, gzip=name.endswith(".gz"), warc_version="1.1")
    about = {
        "software": f"storebot/{__version__}",
        "format": "WARC File Format 1.1",
        "description": f"pages kept of the store {store}, bodies decoded",
    }
    writer.write_record(writer.create_warcinfo_record(name, about))
    count = 0
    for page in pages:
        writer.write_record(_record(writer, page))
        count += 1
    return count


def _record(writer: Any, page: KeptPage) -> Any:
    headers = [(_titled(name), value) for name, value in page.headers.items()]
    headers.append(("Content-Length", str(len(page.body))))
    at = datetime.fromtimestamp(page.fetched_at_ms / 1000, UTC)
    return writer.create_warc_record(
        page.final_url,
        "response",
        payload=BytesIO(page.body),
        length=len(page.body),
        http_headers=StatusAndHeaders(_status_line(page.status), headers, protocol="HTTP/1.1"),
        warc_headers_dict={"WARC-Date": at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"},
    )


def _status_line(status: int) -> str:
    known = status in HTTPStatus.__members__.values()
    return f"{status} {HTTPStatus(status).phrase}" if known else str(status)


def _titled(name: str) -> str:
    return {"etag": "ETag"}.get(name, "-".join(part.capitalize() for part in name.split("-")))
