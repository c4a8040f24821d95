"""A server on an event loop of its own, in a thread: what the vendors of this folder are."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Self

from aiohttp import web

_STOP_S = 10.0


class Served(ABC):
    """``with Something() as it: …``: serves while the block runs."""

    @abstractmethod
    def serving(self) -> AbstractAsyncContextManager[None]:
        """Serve while the block runs; on entry the port is known."""

    def __enter__(self) -> Self:
        started: Future[Callable[[], None]] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name=type(self).__name__, daemon=True)
        self._thread.start()
        self._end_serving = started.result()
        return self

    def __exit__(self, *_: object) -> None:
        self._end_serving()
        self._thread.join(_STOP_S)
        assert not self._thread.is_alive(), f"{type(self).__name__} did not stop within {_STOP_S} s"

    def _run(self, started: Future[Callable[[], None]]) -> None:
        try:
            asyncio.run(self._serve(started))
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    async def _serve(self, started: Future[Callable[[], None]]) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        async with self.serving():
            started.set_result(partial(_tell, loop, stop))
            await stop.wait()
        # What a client left half read would else be closed by the collector, with a warning in the next test.
        for transport in list(getattr(loop, "_transports", {}).values()):
            transport.abort()
        await asyncio.sleep(0.02)


def _tell(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    loop.call_soon_threadsafe(stop.set)


@asynccontextmanager
async def app_port(app: web.Application) -> AsyncIterator[int]:
    """Serve an aiohttp application on a free port of the loopback while the block runs."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
