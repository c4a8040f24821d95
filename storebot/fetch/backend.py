"""How httpx2 connects: to whatever a name leads to, unless that is a private address by now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import httpcore2

from storebot.reaching import check_connection

if TYPE_CHECKING:
    from storebot.core.reach import Reach


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Looks at the peer of each connection before anything is sent, TLS included. Raises PrivateAddress."""

    def __init__(self, inner: httpcore2.AsyncNetworkBackend, reach: Reach | None) -> None:
        self._inner, self._reach = inner, reach

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        stream = await self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        try:
            check_connection(self._reach, host, str(stream.get_extra_info("server_addr")[0]))
        except BaseException:
            await stream.aclose()
            raise
        return stream

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        return await self._inner.connect_unix_socket(path, timeout, socket_options)

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)
