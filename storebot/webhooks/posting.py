"""Posting one message: to an address that was checked, within a time, and without following a redirect.

HTTP/1.1 by hand, and no library's client: what is connected to is the very address that was judged, the whole ends in
time however slowly a receiver answers, and no proxy is in between. docs/decisions/0041-webhooks.md
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping
from functools import cache
from http.client import HTTPException, parse_headers
from io import BytesIO
from urllib.parse import SplitResult, urlsplit

from storebot import __version__
from storebot.core.addresses import refusal
from storebot.core.webhooks.answers import Answer

TIMEOUT_S = 15.0  # of all: what Standard Webhooks recommends is 15 to 30
_CONNECT_S = 5.0  # of one address
_LONGEST_HEAD = 65_536


def post(
    url: str, headers: Mapping[str, str], body: bytes, *, allow_private: bool, timeout_s: float = TIMEOUT_S
) -> Answer:
    """Post JSON to a receiver and return what it answered; what goes wrong on the way is in the answer, too."""
    return asyncio.run(_post(urlsplit(url), headers, body, allow_private, timeout_s))


async def _post(
    url: SplitResult, headers: Mapping[str, str], body: bytes, allow_private: bool, timeout_s: float
) -> Answer:
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await _connected(url, allow_private)
            try:
                writer.write(_head(url, headers, len(body)) + body)
                return await _answer(reader)
            finally:
                writer.transport.abort()  # a polite end would be waited for
    except TimeoutError:
        return Answer(error=f"no answer within {timeout_s:g} s")
    except OSError as error:
        return Answer(error=" ".join(str(error).split())[:300] or type(error).__name__)
    except asyncio.IncompleteReadError:
        return Answer(error="it hung up before it answered")
    except (ValueError, HTTPException, asyncio.LimitOverrunError):
        return Answer(error="its answer is no HTTP/1.1")


async def _connected(url: SplitResult, allow_private: bool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to one of the addresses of a host. Raises OSError, also where one of them mustn't be connected to."""
    host, secure = url.hostname or "", url.scheme == "https"
    port = url.port or (443 if secure else 80)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise ConnectionError(f"{host} has no address: {error}") from error
    addresses = [*dict.fromkeys(str(one[4][0]) for one in found)]
    if why := refusal(url.geturl(), private_ok=allow_private, addresses=addresses):
        raise PermissionError(f"it isn't posted to, because {why}")
    for place, address in enumerate(addresses, 1):
        try:
            async with asyncio.timeout(_CONNECT_S):
                return await asyncio.open_connection(
                    address,
                    port,
                    ssl=_tls() if secure else None,
                    server_hostname=host if secure else None,
                    limit=_LONGEST_HEAD,
                )
        except (OSError, TimeoutError) as error:
            if place == len(addresses):
                raise ConnectionError(f"can't connect: {str(error) or 'no answer'}") from error
    raise ConnectionError("its name has no address")


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _head(url: SplitResult, headers: Mapping[str, str], length: int) -> bytes:
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    host = url.netloc.rpartition("@")[2]
    lines = [
        f"POST {target} HTTP/1.1",
        f"Host: {host}",
        f"User-Agent: storebot/{__version__}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


async def _answer(reader: asyncio.StreamReader) -> Answer:
    """Read the head of the answer; what follows is of no use."""
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        line, _, rest = head.partition(b"\r\n")
        version, status, *_ = line.split(None, 2)
        if not version.startswith(b"HTTP/1.") or len(status) != 3:
            raise ValueError(line)
        if not status.startswith(b"1"):  # interim: the answer comes after it
            return Answer(int(status), parse_headers(BytesIO(rest)).get("Retry-After", ""))
