"""Scrapy's client for HTTP/1.1, with a bound on the head of a response: Twisted reads headers without end.

A shop that sends them for ever would keep the event loop busy until the timeout, and so would interim responses (1xx).
What Scrapy makes anew for each request, and what is the same for each of a host, is made once.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast

from scrapy.core.downloader.handlers.http11 import (  # private names: Scrapy's minor is pinned, test_hostile holds them
    HTTP11DownloadHandler,
    _BindAddressAgent,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
    _ScrapyAgent,
)
from scrapy.exceptions import ResponseDataLossError
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.utils._download_handlers import get_dataloss_msg, wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet import ssl
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS, HTTP11ClientProtocol
from twisted.web.iweb import UNKNOWN_LENGTH

from storebot.fetch.named import MAX_HEAD_BYTES, headers_too_large

if TYPE_CHECKING:
    from scrapy.http import Request, Response
    from twisted.web.client import URI
    from twisted.web.client import Response as TxResponse
    from twisted.web.http_headers import Headers as TxHeaders

logger = logging.getLogger(__name__)
certificate_of: Any = ssl.Certificate


class _Protocol(_LenientHTTP11ClientProtocol):
    """Counts what comes before the body of a response, and gives up beyond the bound.

    Who is at the other end is asked once, not with each response: it's the same as long as the connection lasts.
    """

    _head_bytes = 0
    _peer: dict[str, Any] | None = None

    def request(self, request: Any) -> Deferred[Any]:
        self._head_bytes = 0
        sent: Deferred[Any] = HTTP11ClientProtocol.request(self, request)
        if self._parser is not None:
            self._parser.__class__ = _LenientHTTPClientParser
            self._parser.MAX_LENGTH = MAX_HEAD_BYTES  # of one line: beyond it, Twisted hangs up without a word
        return sent.addCallback(self._with_peer)

    def _with_peer(self, response: Any) -> Any:
        """Note on a response what Scrapy's protocol notes on it."""
        if self._peer is None:
            self._peer, transport = {}, cast("Any", self.transport)
            with suppress(AttributeError):  # only TLS has one
                self._peer["_scrapy_certificate"] = certificate_of(transport.getPeerCertificate())
            with suppress(AttributeError):  # a tunnel may have none
                self._peer["_scrapy_ip_address"] = ip_address(transport.getPeer().host)
        for name, value in self._peer.items():
            setattr(response, name, value)
        return response

    def dataReceived(self, data: bytes) -> None:
        parser = self._parser
        if parser is not None and parser.state in (STATUS, HEADER):
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._giveUp(Failure(headers_too_large()))  # type: ignore[no-untyped-call]  # as all of Twisted here
                return
        super().dataReceived(data)  # type: ignore[no-untyped-call]


class _Factory(_LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: Any) -> _Protocol:
        return _Protocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


class _HostAgent(_BindAddressAgent):
    """Keeps the way to each host: to look at its name anew, by the rules of IDNA, is a twentieth of a request's CPU."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._endpoints: dict[tuple[bytes, bytes, int], Any] = {}
        self._hosts: dict[tuple[bytes, bytes, int], bytes] = {}

    def _getEndpoint(self, uri: URI) -> Any:
        key = (uri.scheme, uri.host, uri.port)
        endpoint = self._endpoints.get(key)
        if endpoint is None:
            endpoint = self._endpoints[key] = super()._getEndpoint(uri)  # type: ignore[no-untyped-call]  # as above
        return endpoint

    def _requestWithEndpoint(
        self, key: Any, endpoint: Any, method: bytes, parsedURI: URI, headers: TxHeaders | None, *more: Any
    ) -> Deferred[Any]:
        """Name the host among the headers: Twisted makes a copy of them to add it."""
        if headers is not None and not headers.hasHeader(b"Host"):
            origin = (parsedURI.scheme, parsedURI.host, parsedURI.port)
            host = self._hosts.get(origin)
            if host is None:
                host = self._hosts[origin] = self._computeHostValue(*origin)  # type: ignore[no-untyped-call]  # as above
            headers.addRawHeader(b"Host", host)
        return super()._requestWithEndpoint(key, endpoint, method, parsedURI, headers, *more)


class _RequestAgent(_ScrapyAgent):
    """Scrapy's, of one request, with what the handler keeps for all."""

    agents: dict[tuple[Any, float], _HostAgent]
    _headers: Headers | None = None  # of its one response

    def _cb_bodydone(self, result: Any, url: str) -> Response:
        """Make the response as Scrapy does, but for its headers: what was looked over once isn't copied by name."""
        found, headers = result["txresponse"], self._headers_from_twisted_response(result["txresponse"])
        body = result.get("body", b"")
        kind = responsetypes.from_args(headers=headers, url=url, body=body)
        name, major, minor = found.version
        response = kind(
            url=url,
            status=int(found.code),
            body=body,
            flags=result.get("flags"),
            certificate=result.get("certificate"),
            ip_address=result.get("ip_address"),
            protocol=f"{name.decode()}/{major}.{minor}",
        )
        response._headers = headers
        if stop := result.get("stop_download"):
            response.flags.append("download_stopped")
            if stop.fail:
                stop.response = response
                raise stop
        return response

    def _get_agent(self, request: Request, timeout: float) -> Any:
        bind_address = request.meta.get("bindaddress") or self._bindAddress
        if request.meta.get("proxy") or isinstance(bind_address, str):
            return super()._get_agent(request, timeout)
        agent = self.agents.get((bind_address, timeout))
        if agent is None:
            from twisted.internet import reactor  # the one that runs by now

            agent = self.agents[bind_address, timeout] = _HostAgent(
                reactor, self._contextFactory, timeout, bind_address, self._pool
            )
        return agent

    def _headers_from_twisted_response(self, response: TxResponse) -> Headers:  # type: ignore[override]  # static there
        """Return the headers; Scrapy makes them twice, and looks each name and value over that Twisted has cleaned."""
        if self._headers is not None:
            return self._headers
        made = self._headers = Headers()
        if response.length != UNKNOWN_LENGTH:
            dict.__setitem__(made, b"Content-Length", [str(response.length).encode()])
        for name, values in response.headers.getAllRawHeaders():
            key = name.title()
            dict.__setitem__(made, key, [*dict.get(made, key, ()), *values])
        return made


class BoundedHTTP11DownloadHandler(HTTP11DownloadHandler):
    """Scrapy's handler, whose connections are those above."""

    def __init__(self, crawler: Any) -> None:
        super().__init__(crawler)
        self._pool._factory = _Factory
        self._agents: dict[tuple[Any, float], _HostAgent] = {}

    async def download_request(self, request: Request) -> Response:
        agent = _RequestAgent(
            contextFactory=self._contextFactory,
            bindAddress=self._bind_address,
            pool=self._pool,
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
            tls_verbose_logging=self._tls_verbose_logging,
        )
        agent.agents = self._agents
        try:
            with wrap_twisted_exceptions():
                return await maybe_deferred_to_future(agent.download_request(request))
        except ResponseDataLossError:
            if not self._fail_on_dataloss_warned:
                logger.warning(get_dataloss_msg(request.url))
                self._fail_on_dataloss_warned = True
            raise
