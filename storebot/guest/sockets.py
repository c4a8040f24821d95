"""The connections of a guest, each shown to it before anything is sent over them."""

from __future__ import annotations

import http.client
import socket
import urllib.request
from collections.abc import Callable
from urllib.parse import urlsplit


def resolve(host: str) -> list[str]:
    """Return the addresses of a name; none where it has none, which connecting to it will say."""
    try:
        return [str(address[0]) for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except OSError:
        return []


def proxied(url: str) -> bool:
    """Whether the environment names a proxy for an address."""
    parts = urlsplit(url)
    return parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(parts.hostname or "")


class PlainHandler(urllib.request.HTTPHandler):
    """Hands each socket to a shop over as soon as it is connected, before anything is sent."""

    def __init__(self, connected: Callable[[socket.socket], None]) -> None:
        super().__init__()
        self._connected = connected

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_told(http.client.HTTPConnection, self._connected), request)


class SecureHandler(urllib.request.HTTPSHandler):
    """The same over TLS, after its handshake."""

    def __init__(self, connected: Callable[[socket.socket], None]) -> None:
        super().__init__()
        self._connected = connected

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_told(http.client.HTTPSConnection, self._connected), request)


def _told(
    kind: type[http.client.HTTPConnection], connected: Callable[[socket.socket], None]
) -> type[http.client.HTTPConnection]:
    def connect(connection: http.client.HTTPConnection) -> None:
        kind.connect(connection)
        try:
            connected(connection.sock)
        except BaseException:
            connection.close()
            raise

    return type("Told", (kind,), {"connect": connect})
