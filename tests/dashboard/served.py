"""A dashboard that listens on loopback, in a thread of the test's own process."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hypercorn.asyncio import serve
from hypercorn.config import Config

from storebot.dashboard.app import create_app
from storebot.dashboard.site import Site


@contextmanager
def served(site: Site) -> Iterator[str]:
    """Serve it as long as the block lasts; give its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    config = Config()
    config.bind = [f"fd://{listening.detach()}"]
    config.graceful_timeout = config.shutdown_timeout = 1
    ready = threading.Event()
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def until_stopped() -> None:
        stop = asyncio.Event()
        running.append((asyncio.get_running_loop(), stop))
        ready.set()
        await serve(create_app(site), config, shutdown_trigger=stop.wait)  # type: ignore[arg-type] # Starlette's own scope

    thread = threading.Thread(target=lambda: asyncio.run(until_stopped()), name="dashboard")
    thread.start()
    ready.wait(20)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        ((loop, stop),) = running
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
