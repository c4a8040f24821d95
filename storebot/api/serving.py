"""Serving the API, by Hypercorn, until a signal."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Any

from hypercorn.asyncio import serve as serve_asgi
from hypercorn.config import Config

from storebot.api.app import create_app, local_guard, tokens_guard
from storebot.core.read_api import TOKENS, is_loopback
from storebot.db.database import Database
from storebot.exceptions import ConfigurationError

_SHUTDOWN_S = 5.0  # that answers under way may take


def serve(database: Database, host: str, port: int, tokens: tuple[str, ...], opened: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C. ``opened`` is told the address once it is listened on; port 0 is any free one.

    Raises ConfigurationError where there is no token and others than this machine could ask, or for an address that
    can't be listened on.
    """
    if not tokens and not is_loopback(host):
        raise ConfigurationError(
            f"--host {host}: without a token the API is for this machine alone; set {TOKENS}, or use 127.0.0.1"
        )
    serve_app(create_app(database, tokens_guard(tokens) if tokens else local_guard), host, port, opened)


def serve_app(app: Any, host: str, port: int, opened: Callable[[str], None]) -> None:
    """Serve an ASGI application as `serve` does. Raises ConfigurationError for an address that can't be listened on."""
    listening = _listening(host, port)
    opened(f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}")
    asyncio.run(_serve(app, listening))


def _listening(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65_535:
        raise ConfigurationError(f"--port {port}: expected a number from 0 to 65535")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        made = socket.create_server((host, port), family=family, backlog=100)
    except OSError as error:
        raise ConfigurationError(f"{host}:{port} can't be listened on: {error}") from error
    made.setblocking(False)
    return made


async def _serve(app: Any, listening: socket.socket) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    config = Config()
    config.bind = [f"fd://{listening.detach()}"]  # Hypercorn closes it
    config.include_server_header = False
    config.graceful_timeout = config.shutdown_timeout = _SHUTDOWN_S
    await serve_asgi(app, config, shutdown_trigger=stop.wait)
