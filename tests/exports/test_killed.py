"""An export that is killed, as a process, while it writes: what was there before is there, and is whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.exports.store import STORE, make
from storebot.exports.verifying import faults, manifest_in
from tests.crawls.scrapy_process import ROOT
from tests.crawls.watched import wait_until

ROWS = 4_000
_DAY_S = 86_400


def test_kill_9_leaves_the_export_before_it_and_the_next_sweeps_up(tmp_path: Path) -> None:
    """Case O09."""
    make(tmp_path / "store.db", ROWS)
    assert export(tmp_path, "csv").wait(120) == 0
    before, found = manifest_in(tmp_path / "out" / STORE)
    process = export(tmp_path, "csv,jsonl,xlsx")
    folder = tmp_path / "out" / STORE
    wait_until(lambda: any(part.stat().st_size > 100_000 for part in folder.glob(".*.part/listings.jsonl")))
    process.kill()
    assert process.wait(30) == -9
    (left,) = folder.glob(".*.part")
    assert manifest_in(folder) == (before, found)
    assert [*faults(before, found)] == []
    assert not (left / "manifest.json").exists()
    os.utime(left, (1, 1))  # a day goes by
    assert export(tmp_path, "csv").wait(120) == 0
    assert not left.exists()
    after, again = manifest_in(folder)
    assert after != before
    assert [one["sha256"] for one in again["files"]] == [one["sha256"] for one in found["files"]]


def export(folder: Path, names: str) -> subprocess.Popen[bytes]:
    """Begin ``scrapy export`` of the store that is in a folder."""
    argv = ["-m", "scrapy", "export", "--store", STORE, "--format", names, "--out", str(folder / "out")]
    env = {**os.environ, "STOREBOT_DATABASE_URL": f"sqlite:///{folder / 'store.db'}"}
    return subprocess.Popen([sys.executable, *argv], cwd=ROOT, env=env, stdout=subprocess.DEVNULL)
