"""``python -m bench archive``: what it costs to keep pages, how small they get, and how fast they are read again."""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from bench import measure, report, table
from bench.crawl import say
from bench.roster import CONTENDERS
from bench.saved import SITES, open_saved
from bench.shop import ROOT, Shop, open_shop
from storebot.archive import Archive, archive_path
from storebot.items import KeptPage

RATIO, KEEP_MS, FASTER = 50, 0.3, 5.0  # the promises: HTML to file, CPU ms a page, re-parse to crawl
_TIMEOUT_S = 900
_BATCH = 100  # as STOREBOT_COMMIT_ROWS
_REAL = "woo-cloudchemistry"
_REAL_STORE = """base_url = "http://shop.example"
product_url = "/shop/[^/]+/$"
[politeness]
delay_s = 0
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One crawl of a shop into an empty archive, and one re-parse of it with every page's parser version moved."""

    shop: str
    pages: int
    html_bytes: int
    file_bytes: int
    keep_ms: float  # CPU a page, to pack and to write
    crawl_s: float
    reparse_s: float

    @property
    def ratio(self) -> float:
        return self.html_bytes / self.file_bytes

    @property
    def faster(self) -> float:
        return self.crawl_s / self.reparse_s


def archive(*, pages: int, rounds: int, write: bool) -> int:
    """Measure each shop in interleaved rounds; print the table; return 1 where a promise was missed."""
    found, measured = report.machine(), []
    for number in range(rounds):
        for name in shops():
            say(f"archive: {name}, round {number + 1} of {rounds}")
            measured.append(_round(name, pages))
    promises, kept = judged(measured)
    cores = os.cpu_count() or 1
    text = "\n\n".join(
        [
            "## The page archive",
            f"Medians of {rounds} rounds. A crawl without delays keeps every page; then all are read again in full by"
            f" `scrapy reparse` on {cores} cores, every record re-based. The shop runs on this machine, in a process of"
            f" its own.\n{report.facts(found)}.",
            _results(measured),
            "### Promises",
            promises,
        ]
    )
    print(f"\n{text}\n")
    if write:
        report.write("archive", text, {"machine": found, "rounds": [asdict(one) for one in measured]})
        say("wrote docs/benchmarks.md and docs/benchmarks-archive.json")
    return 0 if kept else 1


def shops() -> list[str]:
    """Return the shops to measure: the demo store, and a real one where the corpus is beside the checkout."""
    return ["demo store", *([_REAL] if (SITES / f"{_REAL}.tar.zst").exists() else [])]


def _opened(name: str, pages: int) -> AbstractContextManager[Shop]:
    if name == _REAL:
        return open_saved(_REAL)
    return open_shop("jsonld", pages)


def _round(name: str, pages: int) -> Round:
    store = "demo" if name != _REAL else "saved"
    with tempfile.TemporaryDirectory(prefix="storebot-bench-") as folder, _opened(name, pages) as shop:
        place = Path(folder)
        (place / "stores" / "saved").mkdir(parents=True)
        (place / "stores" / "saved" / "store.toml").write_text(_REAL_STORE, encoding="utf-8")
        database = place / "store.db"
        backfill = next(each for each in CONTENDERS if each.name == "backfill")
        env = {**backfill.environment(database), "STOREBOT_STORES": str(place / "stores")}
        command = backfill.command(base_url=shop.base_url, urls_file=place, database=database)
        crawled = _ran([part.replace("store=demo", f"store={store}") for part in command], env)
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("UPDATE pages SET parser_version = 'before'")
            connection.commit()
        reparsed = _ran([sys.executable, "-m", "scrapy", "reparse", "--store", store, "--json"], env)
        path = archive_path(database.with_suffix(".pages"), store)
        kept = _kept(path)
        return Round(
            shop=name,
            pages=len(shop.urls),
            html_bytes=sum(len(page.body) for page in kept),
            file_bytes=path.stat().st_size,
            keep_ms=_keep_ms(kept, place / "again.db"),
            crawl_s=crawled["elapsed_s"] / crawled["checked"],
            reparse_s=reparsed["elapsed_s"] / reparsed["checked"],
        )


def _ran(command: Sequence[str], env: Mapping[str, str]) -> Mapping[str, float]:
    return measure.run(command, env=env, cwd=ROOT, timeout_s=_TIMEOUT_S).summary


def _kept(path: Path) -> list[KeptPage]:
    archive = Archive.read(path)
    pages = sorted(archive.every(), key=lambda page: page.fetched_at_ms)
    archive.close()
    return pages


def _keep_ms(pages: Sequence[KeptPage], path: Path) -> float:
    """Return the CPU milliseconds a page that a run spends on keeping: packing, and writing in batches."""
    archive = Archive.open(path)
    packer = archive.packer()
    began = time.process_time()
    for batch in _batches(pages):
        archive.keep([packer.pack(page) for page in batch], packer)
    spent = time.process_time() - began
    archive.close()
    return spent * 1000 / len(pages)


def _batches(pages: Sequence[KeptPage]) -> Iterator[Sequence[KeptPage]]:
    for start in range(0, len(pages), _BATCH):
        yield pages[start : start + _BATCH]


def _results(measured: Sequence[Round]) -> str:
    rows = []
    for name in dict.fromkeys(one.shop for one in measured):
        mine = [one for one in measured if one.shop == name]
        kb = mine[0].html_bytes / 1000
        rows.append(
            [
                name,
                f"{mine[0].pages:,}",
                f"{kb / 1000:.0f}",
                f"{median(one.file_bytes for one in mine) / 1e6:.2f}",
                f"1/{median(one.ratio for one in mine):.0f}",
                f"{median(one.keep_ms for one in mine):.2f}",
                f"{1 / median(one.crawl_s for one in mine):.0f}",
                f"{1 / median(one.reparse_s for one in mine):.0f}",
            ]
        )
    headers = ["shop", "products", "HTML MB", "file MB", "file / HTML", "CPU ms/page kept", "crawl pages/s"]
    return table.markdown([*headers, "re-parse pages/s"], rows)


def judged(measured: Sequence[Round]) -> tuple[str, bool]:
    """Return the promises as a table, and whether all are kept."""
    rows, kept = [], True
    for name in dict.fromkeys(one.shop for one in measured):
        mine = [one for one in measured if one.shop == name]
        ratio, keep_ms, faster = (median(getattr(one, what) for one in mine) for what in ("ratio", "keep_ms", "faster"))
        for what, limit, value, ok in (
            ("HTML / file", f"≥ {RATIO}", f"{ratio:.0f}", ratio >= RATIO),
            ("CPU ms a page kept", f"≤ {KEEP_MS:.2f}", f"{keep_ms:.2f}", keep_ms <= KEEP_MS),
            ("re-parse / crawl", f"≥ {FASTER:.1f}", f"{faster:.1f}", faster >= FASTER),
        ):
            rows.append([f"{what}, {name}", limit, value, "ok" if ok else "MISSED"])
            kept &= ok
    return table.markdown(["promise", "limit", "measured", ""], rows), kept
