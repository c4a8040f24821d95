"""Runs a demo store in a thread, in a process of its own, or until a signal."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from storebot.demo.client import DemoClient
from storebot.demo.options import ShopOptions
from storebot.demo.server import Opened, serving
from storebot.exceptions import ConfigurationError

_STOP_S = 10.0
_PACKAGE_PARENT = Path(__file__).resolve().parents[2]


class DemoStore(DemoClient):
    """A demo store in a thread of this process: ``with DemoStore(products=60, seed=3) as store: … store.url``."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, **options: Any) -> None:
        self.options = ShopOptions(**options)
        self._host, self._port = host, port
        self._thread: threading.Thread | None = None
        self._stop: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        started: Future[tuple[Opened, Callable[[], None]]] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="demo-store", daemon=True)
        self._thread.start()
        opened, self._stop = started.result()
        DemoClient.__init__(self, opened.url, opened.certificate)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        if self._thread is not None:
            self._thread.join(_STOP_S)

    def _run(self, started: Future[tuple[Opened, Callable[[], None]]]) -> None:
        try:
            asyncio.run(self._serve(started))
        except (OSError, ConfigurationError) as error:
            started.set_exception(error)

    async def _serve(self, started: Future[tuple[Opened, Callable[[], None]]]) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        async with serving(self.options, self._host, self._port) as opened:
            started.set_result((opened, lambda: _call_soon(loop, stop.set)))
            await stop.wait()


class DemoProcess(DemoClient):
    """A demo store in a process of its own, so that its cost isn't the crawler's.

    It ends with this process, however that ends.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, **options: Any) -> None:
        self.options = ShopOptions(**options)
        self._host, self._port = host, port
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        paths = [str(_PACKAGE_PARENT), *filter(None, [os.environ.get("PYTHONPATH")])]
        arguments = json.dumps({"host": self._host, "port": self._port, "options": asdict(self.options)})
        self.process = subprocess.Popen(
            [sys.executable, "-m", "storebot.demo", arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        opened = self.process.stdout.readline()
        if not opened:
            self.__exit__(None, None, None)
            raise OSError(f"the demo store did not start on {self._host}:{self._port}: its own error is above")
        url, certificate = json.loads(opened)
        DemoClient.__init__(self, url, Path(certificate) if certificate else None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is None:
            return
        with self.process as process:  # closes its pipes, and waits
            process.terminate()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


def run(
    options: ShopOptions, host: str, port: int, listening: Callable[[Opened], None], *, orphan: bool = False
) -> None:
    """Serve until SIGINT or SIGTERM, after calling ``listening`` with the address and certificate.

    ``orphan`` ends it also when stdin is closed: with a parent that has gone.

    Raises OSError where the port can't be had, ConfigurationError where a package is missing. Call it from the main
    thread.
    """
    asyncio.run(_until_signal(options, host, port, listening, orphan))


async def _until_signal(
    options: ShopOptions, host: str, port: int, listening: Callable[[Opened], None], orphan: bool
) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if orphan:
        loop.add_reader(sys.stdin.fileno(), stop.set)  # nothing is ever written there: it gets readable when closed
    async with serving(options, host, port) as opened:
        listening(opened)
        await stop.wait()
    if orphan:
        loop.remove_reader(sys.stdin.fileno())


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)
