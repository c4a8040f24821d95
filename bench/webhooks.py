"""``python -m bench webhooks``: changes a second to a receiver on this machine, beside a loop of plain posts."""

from __future__ import annotations

import asyncio
import base64
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from statistics import median
from typing import NamedTuple

import httpx2
import orjson
from sqlalchemy import insert

from bench import report, table
from bench.crawl import say
from storebot.core.webhooks.subscription import Subscription
from storebot.db import change_feed, subscriptions
from storebot.db.database import Database
from storebot.db.schema import changes, stores
from storebot.webhooks.delivering import deliver_due

BATCH = 100
CHANGES, QUICK = 20_000, 1_000
_SECRET = {"BENCH_SECRET": "whsec_" + base64.b64encode(bytes(32)).decode()}


class Took(NamedTuple):
    """What a round took, the receiver apart."""

    wall_s: float
    cpu_s: float


def webhooks(*, count: int, rounds: int, write: bool) -> int:
    """Deliver so many changes by turns in both ways, print the table; return 1 where one didn't arrive."""
    took: dict[str, list[Took]] = {"storebot": [], "plain": []}
    with tempfile.TemporaryDirectory(prefix="storebot-bench-") as folder, _receiver() as (url, received):
        database = Database.open(f"sqlite:///{Path(folder) / 'bench.db'}")
        _fill(database, count)
        for number in range(rounds):
            ways: dict[str, Callable[[], None]] = {
                "storebot": lambda: _delivered(database, url),
                "plain": lambda: _posted(database, url),
            }
            for name, way in ways.items():
                took[name].append(_timed(way))
                if received() != -(-count // BATCH):
                    say(f"webhooks: {name} lost messages")
                    return 1
            say(f"webhooks: round {number + 1} of {rounds}")
        database.dispose()
    text = _text(took, count)
    print(text)
    if write:
        raw = {name: [one._asdict() for one in found] for name, found in took.items()}
        report.write("webhooks", text, {"machine": report.machine(), "changes": count, "took": raw}, after="exports")
    return 0


def _fill(database: Database, count: int) -> None:
    fields = orjson.dumps([{"field": "price_minor", "before": 1999, "after": 2499}]).decode()
    with database.write() as conn:
        conn.execute(insert(stores), [{"name": "bench"}])
        rows = [
            {
                "id": f"{number:032x}",
                "type": "changed",
                "store": "bench",
                "url_key": f"https://shop.example/products/a-product-of-some-name-{number}",
                "variant_id": "",
                "fields": fields,
                "run_id": 1,
                "at": 1_780_000_000_000 + number,
            }
            for number in range(count)
        ]
        conn.execute(insert(changes), rows)


def _delivered(database: Database, url: str) -> None:
    """Subscribe to all there is, and deliver it: signed, each message a row before it's sent and after."""
    new = Subscription(0, url, "BENCH_SECRET", most_changes=BATCH, allow_private=True)
    with database.write() as conn:
        number = subscriptions.add(conn, new, by="bench", after=0)
    deliver_due(database, _SECRET)
    with database.write() as conn:
        subscriptions.remove(conn, number)


def _posted(database: Database, url: str) -> None:
    """Do what people write: read, post, go on; unsigned, and nothing is noted."""
    after = 0
    with httpx2.Client() as client:
        while True:
            with database.read() as conn:
                found = change_feed.after(conn, "bench", after, limit=BATCH)
            if not found:
                return
            client.post(url, json={"changes": found}).raise_for_status()
            after = found[-1]["seq"]


def _timed(work: Callable[[], None]) -> Took:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - wall, time.process_time() - cpu)


@contextmanager
def _receiver() -> Iterator[tuple[str, Callable[[], int]]]:
    """Run a receiver in a process of its own; give its address, and how many messages came since it was asked."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_receive, args=(theirs,), daemon=True)
    process.start()
    port = ours.recv()

    def received() -> int:
        ours.send(None)
        return int(ours.recv())

    try:
        yield f"http://127.0.0.1:{port}/hook", received
    finally:
        process.terminate()
        process.join()


def _receive(pipe: Pipe) -> None:
    asyncio.run(_answer(pipe))


async def _answer(pipe: Pipe) -> None:
    came = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal came
        while head := await reader.readuntil(b"\r\n\r\n"):
            (length,) = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            await reader.readexactly(length)
            came += 1
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async def quietly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except asyncio.IncompleteReadError:  # whoever posted is done
            writer.close()

    def tell() -> None:
        nonlocal came
        pipe.recv()
        pipe.send(came)
        came = 0

    server = await asyncio.start_server(quietly, "127.0.0.1", 0)
    pipe.send(server.sockets[0].getsockname()[1])
    asyncio.get_running_loop().add_reader(pipe.fileno(), tell)
    await server.serve_forever()


def _text(took: dict[str, list[Took]], count: int) -> str:
    what = {"storebot": "`scrapy deliver run`", "plain": "a loop of plain posts"}
    lines = []
    for name, found in took.items():
        wall, cpu = median(one.wall_s for one in found), median(one.cpu_s for one in found)
        lines.append(
            [what[name], f"{count / wall:,.0f}", f"{cpu * 1e6 / count:.0f}", f"{cpu * 1e3 * BATCH / count:.1f}"]
        )
    ratio = median(a.cpu_s / b.cpu_s for a, b in zip(took["storebot"], took["plain"], strict=True))
    facts, rounds = report.machine(), len(took["plain"])
    return f"""## What webhooks take

`python -m bench webhooks`: {count:,} changes in SQLite, {BATCH} a message, to a receiver on this machine that answers
at once; medians of {rounds} rounds by turns. The loop posts the same changes by httpx over one connection that it
keeps: it signs nothing and notes nothing, so it doesn't know where it was when it dies. storebot connects anew for each
message, because where a name leads is looked at each time. CPU is that of the sender; where the machine is shared with
other work, it says more than the rate does.

{report.facts(facts)}.

{table.markdown(["", "changes a second", "CPU µs a change", "CPU ms a message"], lines)}

- storebot takes {ratio:.1f} times the loop's CPU.
"""
