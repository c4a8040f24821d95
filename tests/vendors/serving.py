"""A server on an event loop of its own, in a thread: what the vendors of this folder are."""

from __future__ import annotations

import asyncio
import ssl
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import Self

from aiohttp import web

_STOP_S = 10.0
_TURNS = 10  # of the loop, until who was let in while a server closed has a task, too: time says nothing of it


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


class RawServed(Served):
    """A server on raw sockets at ``host`` and ``port``, over TLS if it has ``tls``."""

    host = "127.0.0.1"
    port = 0
    tls: ssl.SSLContext | None = None

    @abstractmethod
    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak with one client; the connection is closed after that. That it hangs up is no error."""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Listen on a free port."""
        self._open: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        server = await asyncio.start_server(self._accept, self.host, 0, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)
            for writer in self._writers:  # what nobody reads any more would wait for ever to be sent
                writer.transport.abort()
            closed = [writer.wait_closed() for writer in self._writers]
            await asyncio.wait_for(asyncio.gather(*closed, return_exceptions=True), 5)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        task = asyncio.get_running_loop().create_task(self._client(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self.converse(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # one of the two hung up: that is how conversations end
        finally:
            with suppress(OSError):
                writer.close()


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
