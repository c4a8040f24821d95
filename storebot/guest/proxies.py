"""A guest's way through proxies that urllib knows nothing of, https:// and socks5://: httpx2's core, as in a crawl."""

from __future__ import annotations

import http.client
import logging
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from storebot.core.proxy import Proxy
from storebot.exceptions import ConfigurationError

if TYPE_CHECKING:
    import httpcore2

_PACKAGES = ("httpcore2", "socksio")


def require_client(proxies: Iterable[Proxy]) -> None:
    """Raise ConfigurationError, with the extra to install, where a proxy needs what is missing."""
    foreign = sorted({proxy.scheme for proxy in proxies} - {"http"})
    missing = [name for name in _PACKAGES if find_spec(name) is None] if foreign else []
    if missing:
        raise ConfigurationError(
            f"{' and '.join(foreign)} proxies are listed, but {missing[0]} isn't installed: pip install "
            "'storebot[http2]'; nothing was asked for, because nothing may go without a proxy"
        )


class ProxiedRequest(urllib.request.Request):
    """A request that goes through a proxy, of whatever kind."""

    proxy: Proxy | None = None

    def go_through(self, proxy: Proxy) -> None:
        """Name the proxy; a plain one urllib itself can use."""
        if proxy.scheme != "http":
            self.proxy = proxy
            return
        self.set_proxy(proxy.server.removeprefix("http://"), "http")
        if proxy.authorization:
            self.add_unredirected_header("Proxy-Authorization", proxy.authorization.decode("ascii"))


class ProxyHandler(urllib.request.BaseHandler):
    """Answers requests that name such a proxy. ``connected`` is shown each socket, before anything is sent over it."""

    handler_order = 400  # before urllib's own, which have 500

    def __init__(self, connected: Callable[[socket.socket], None]) -> None:
        self._connected = connected

    def http_open(self, request: urllib.request.Request) -> Any:
        proxy = getattr(request, "proxy", None)
        return None if proxy is None else _Answer(request, proxy, self._connected)

    https_open = http_open


class _Answer:
    """What urllib's processors, and the guest, want to know of an answer; its body is read as it comes."""

    def __init__(
        self, request: urllib.request.Request, proxy: Proxy, connected: Callable[[socket.socket], None]
    ) -> None:
        import httpcore2

        self._proxy = proxy
        self._open: list[Any] = []
        self._pool = _pool(proxy, self._shown_to(connected))
        timeout = request.timeout  # which urllib sets when it opens a request
        url = f"{request.type}://{request.host}{request.selector}".encode("ascii")
        headers = [*request.header_items(), ("Connection", "close")]
        with self._named():
            asked = httpcore2.Request(
                "GET", url, headers=headers, extensions={"timeout": dict.fromkeys(_WAITS, timeout)}
            )
            self._response = self._pool.handle_request(asked)
        self._chunks: Iterator[bytes] = iter(self._response.iter_stream())
        self.status = self.code = self._response.status
        self.length = 0  # a body that breaks off is an error already
        self.headers = http.client.HTTPMessage()
        for name, value in self._response.headers:
            self.headers[name.decode("latin-1")] = value.decode("latin-1")
        self.msg = str(self._response.extensions.get("reason_phrase", b""), "latin-1")

    def info(self) -> http.client.HTTPMessage:
        return self.headers

    def read1(self, _: int) -> bytes:
        """Return what comes next of the body; nothing at its end."""
        with self._named():
            return next(filter(None, self._chunks), b"")

    def close(self) -> None:
        self._pool.close()
        for each in self._open:  # of a greeting that went wrong the pool knows nothing
            each.close()

    def __enter__(self) -> _Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _shown_to(self, connected: Callable[[socket.socket], None]) -> Callable[[Any], None]:
        def show(stream: Any) -> None:
            twin = stream.get_extra_info("socket").dup()  # TLS takes the other one over
            self._open += (stream, twin)
            connected(twin)

        return show

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say of what goes wrong which proxy it was, in urllib's words: never with its password."""
        import httpcore2
        import socksio

        kinds = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError, httpcore2.TimeoutException)
        try:
            yield
        except (*kinds, socksio.SOCKSError) as error:
            self.close()
            said = str(error) or type(error).__name__
            if isinstance(error, socksio.SOCKSError):
                said = f"it hung up, or speaks no SOCKS5 ({said})"
            raise urllib.error.URLError(f"through the proxy {self._proxy}: {said}") from error
        except BaseException:
            self.close()
            raise


_WAITS = ("connect", "read", "write", "pool")


def _pool(proxy: Proxy, connected: Callable[[Any], None]) -> httpcore2.ConnectionPool:
    import httpcore2

    logging.getLogger("httpcore2").setLevel(logging.WARNING)  # at DEBUG it writes down the password of a SOCKS5 proxy
    login = (proxy.username.encode(), proxy.password.encode()) if proxy.has_login else None
    more: dict[str, Any] = {
        "proxy_auth": login,
        "ssl_context": ssl.create_default_context(),
        "network_backend": _backend(connected),
    }
    if proxy.scheme == "socks5":
        return httpcore2.SOCKSProxy(proxy.server, **more)
    return httpcore2.HTTPProxy(proxy.server, proxy_ssl_context=ssl.create_default_context(), **more)


def _backend(connected: Callable[[Any], None]) -> Any:
    from httpcore2 import SyncBackend

    class Shown(SyncBackend):
        def connect_tcp(self, *args: Any, **more: Any) -> Any:
            connected(stream := super().connect_tcp(*args, **more))
            return stream

    return Shown()
