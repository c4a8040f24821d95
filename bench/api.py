"""``python -m bench api``: answers a second of the read API, and what one costs, near the begin and far in."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import httpx2
import psutil

from bench import report, table
from bench.crawl import say
from bench.exports.store import STORE, make
from bench.shop import ROOT

LISTINGS, QUICK = 200_000, 5_000
_ANSWERS = 100  # to one question in one round


class Question(NamedTuple):
    """What is asked for, and what of it."""

    about: str
    path: str


class Took(NamedTuple):
    """What one answer took, and how many bytes it had."""

    wall_s: float
    cpu_s: float  # of the server
    size: int


def api(*, rows: int, rounds: int, write: bool) -> int:
    """Ask a server over so many listings, print the table; return 1 where an answer isn't one."""
    with tempfile.TemporaryDirectory(prefix="storebot-bench-") as folder:
        path = Path(folder) / "bench.db"
        say(f"api: a store of {rows:,} listings")
        make(path, rows)
        with _server(path) as (url, process), httpx2.Client(base_url=url) as client:
            took = {one: [_asked(client, process, one) for _ in range(rounds)] for one in _questions(rows)}
    text = _text(took, rows)
    print(text)
    if write:
        raw = [{"asked": one.path, "took": [each._asdict() for each in found]} for one, found in took.items()]
        facts = {"machine": report.machine(), "rows": rows, "answers": raw}
        report.write("api", text, facts, after="webhooks")
    return 0


def _questions(rows: int) -> list[Question]:
    home, far = f"/v1/stores/{STORE}/listings", rows * 9 // 10
    return [
        Question("one listing", f"{home}/{far}"),
        Question("100 listings, the first", home),
        Question("100 listings, far in", f"{home}?after={far}"),
        Question("100 of one status, far in", f"{home}?after={far}&status=active"),
        Question("a filter that nothing meets, the first", f"{home}?availability=OutOfStock"),
        Question("a filter that nothing meets, in the middle", f"{home}?after={rows // 2}&availability=OutOfStock"),
    ]


def _asked(client: httpx2.Client, process: psutil.Process, question: Question) -> Took:
    client.get(question.path).raise_for_status()
    wall, cpu = time.perf_counter(), _cpu(process)
    for _ in range(_ANSWERS):
        size = len(client.get(question.path).raise_for_status().content)
    return Took((time.perf_counter() - wall) / _ANSWERS, (_cpu(process) - cpu) / _ANSWERS, size)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextmanager
def _server(path: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Run ``scrapy api`` over a database; give its address and its process."""
    argv = [sys.executable, "-m", "scrapy", "api", "--port", "0"]
    env = {**os.environ, "STOREBOT_DATABASE_URL": f"sqlite:///{path}"}
    process = subprocess.Popen(argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip().removesuffix("/openapi.json")
        yield url, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(30)


def _text(took: dict[Question, list[Took]], rows: int) -> str:
    lines = []
    for one, found in took.items():
        wall, cpu = median(each.wall_s for each in found), median(each.cpu_s for each in found)
        lines.append([one.about, f"{1 / wall:,.0f}", f"{cpu * 1000:.1f}", f"{found[0].size:,}"])
    return f"""## What the read API takes

`python -m bench api`: `scrapy api` over {rows:,} listings in SQLite, asked by one client over one connection,
{_ANSWERS} times each; medians of {len(next(iter(took.values())))} rounds. CPU is that of the server; where the machine
is shared with other work, it says more than the rate does.

{report.facts(report.machine())}.

{table.markdown(["asked for", "answers a second", "CPU ms", "bytes"], lines)}
"""
