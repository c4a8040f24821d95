"""A real shop, saved whole, served from a folder by a process of its own: its product pages and a sitemap of them."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard

from bench.shop import ROOT, Shop

SITES = ROOT.parent / "shared" / "data" / "sites"
_WINDOW_BYTES = 1 << 27  # the archives were packed with --long=27
_PORT = re.compile(r"port (\d+)")


@contextmanager
def open_saved(name: str) -> Iterator[Shop]:
    """Serve a saved shop as long as the block lasts; its products are the pages that show a price, by its golden."""
    with tempfile.TemporaryDirectory(prefix="storebot-bench-") as folder:
        root = _unpacked(name, Path(folder))
        command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--protocol", "HTTP/1.1"]
        with subprocess.Popen(
            command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stdout is not None
            try:
                found = _PORT.search(server.stdout.readline())
                assert found is not None, "http.server didn't say where it listens"
                base_url = f"http://127.0.0.1:{found[1]}"
                urls = [f"{base_url}/{path.removesuffix('index.html')}" for path in _priced(name)]
                (root / "sitemap.xml").write_text(_sitemap(urls), encoding="utf-8")
                yield Shop(base_url, urls)
            finally:
                server.kill()


def _priced(name: str) -> list[str]:
    with (SITES / f"{name}.golden.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [row["path"] for row in rows if row["ld_price"] or row["price_visible"]]


def _unpacked(name: str, folder: Path) -> Path:
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES)
    with (
        (SITES / f"{name}.tar.zst").open("rb") as packed,
        unpacker.stream_reader(packed) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        archive.extractall(folder, filter="data")
    return folder / name


def _sitemap(urls: list[str]) -> str:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
