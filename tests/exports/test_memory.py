"""What an export holds in memory: batches, whatever the number of rows."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from bench.exports.store import STORE, make
from storebot.core.export.columns import chosen
from storebot.db import exporting
from storebot.db.database import Database
from storebot.exports import running
from storebot.exports.destinations import destination
from storebot.exports.format import format_of
from storebot.exports.running import Order, export, scratch_for


def test_it_takes_no_more_for_more_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case J05, with small batches, so that a few rows stand for many: docs/benchmarks.md has a million."""
    monkeypatch.setattr(exporting, "_BATCH", 100)
    monkeypatch.setattr(running, "_CHUNK", 4_096)
    peaks: list[int] = []
    for rows in (200, 200, 1_500):  # the first has what is made once
        make(tmp_path / f"{len(peaks)}.db", rows)
        database = Database.open(f"sqlite:///{tmp_path / f'{len(peaks)}.db'}")
        kinds = [format_of(name, "listings") for name in ("csv", "jsonl", "merchant-xml")]
        order = Order(store=STORE, what="listings", formats=kinds, columns=chosen("listings", ()))
        to = destination(str(tmp_path / "out"), STORE, "listings", str(len(peaks)))
        tracemalloc.start()
        with scratch_for(to) as scratch:
            assert export(database, order, to, scratch)["rows"] == rows
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        database.dispose()
    assert peaks[2] < peaks[1] + 300_000, "1,300 rows more are 4 MB"
