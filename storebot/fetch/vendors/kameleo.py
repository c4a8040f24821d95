"""Kameleo, by its official client `kameleo.local-api-client`; its engine is a licensed service of its own.

https://developer.kameleo.io/integrations/playwright/: the DevTools of a profile are at ``ws://…/playwright/{id}`` of
the Local API, and work is done in the browser's first context. Its Firefox ("Junglefox") has none, so profiles are of
Chrome. The client blocks: each call is made in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from storebot.core.proxy import Proxy
from storebot.exceptions import ConfigurationError, TierUnusable
from storebot.fetch.browsing.visitor import Visitor
from storebot.fetch.vendors.vendor import Profile, ProfileFailed, Vendor, shown
from storebot.stores.fetch_attached import Attached

if TYPE_CHECKING:
    from kameleo.local_api_client.kameleo_local_api_client import KameleoLocalApiClient
    from kameleo.local_api_client.models.create_profile_request import CreateProfileRequest

logger = logging.getLogger(__name__)

DEFAULT_ENDPOINT = "http://localhost:5050"
_PROXIES = ("http", "socks5")
_READY_S = 30.0
T = TypeVar("T")


def require_client() -> None:
    """Raise ConfigurationError, with the extra to install, where the client is missing."""
    if find_spec("kameleo") is None:
        raise ConfigurationError(
            "fetch.attached.vendor is \"kameleo\", but its client isn't installed: pip install 'storebot[kameleo]'"
        )


class Kameleo(Vendor):
    """Makes a profile for each visitor, with its proxy, and deletes it; or uses those that are named, in turn."""

    def __init__(self, section: Attached, endpoint: str = "", language: str | None = None) -> None:
        require_client()
        self._section, self._language = section, language
        self._endpoint = endpoint or DEFAULT_ENDPOINT
        self._client: KameleoLocalApiClient | None = None
        self._given = 0
        self._asking = asyncio.Lock()

    async def start(self, visitor: Visitor) -> Profile:
        client = await self._ready()
        if self._section.profiles:
            if visitor.proxy:
                raise ProfileFailed(f"the proxy {visitor.proxy} can't be given to a profile that exists: set it there")
            name, is_ours = self._section.profiles[self._given % len(self._section.profiles)], False
            self._given += 1
        else:
            name, is_ours = await self._made(client, visitor), True
        profile = Profile(name, f"{self._endpoint.replace('http', 'ws', 1)}/playwright/{name}", is_ours)
        try:
            await self._asked("start", lambda: client.profile.start_profile(name, self._settings()))
        except ProfileFailed:
            if is_ours:
                await self._asked("delete", lambda: client.profile.delete_profile(name))
            raise
        return profile

    async def stop(self, profile: Profile) -> None:
        client = await self._ready()
        try:
            await self._asked("stop", lambda: client.profile.stop_profile(profile.id))
        except ProfileFailed as error:
            if "profile_not_running" not in str(error):  # it crashed, or its owner closed it
                raise
        finally:
            if profile.is_ours:
                await self._asked("delete", lambda: client.profile.delete_profile(profile.id))

    async def _ready(self) -> KameleoLocalApiClient:
        """Return a client of an engine that answers. Raises TierUnusable where none does."""
        async with self._asking:
            if self._client is None:
                from kameleo.local_api_client.kameleo_local_api_client import KameleoLocalApiClient

                client = KameleoLocalApiClient(endpoint=self._endpoint)
                try:
                    await asyncio.to_thread(client.verify_engine_ready, _READY_S)
                except RuntimeError as error:
                    raise TierUnusable(
                        f"fetch.attached: no Kameleo engine answers at {shown(self._endpoint)}"
                    ) from error
                self._client = client
            return self._client

    async def _made(self, client: KameleoLocalApiClient, visitor: Visitor) -> str:
        def search() -> Any:
            return client.fingerprint.search_fingerprints(device_type="desktop", browser_product="chrome")

        found = await self._asked("fingerprints", search)
        if not found:
            raise ProfileFailed("Kameleo has no fingerprint of a desktop Chrome")
        wanted = self._wanted(found[0].id, visitor)
        made = await self._asked("new profile", lambda: client.profile.create_profile(wanted))
        return str(made.id)

    def _wanted(self, fingerprint: str, visitor: Visitor) -> CreateProfileRequest:
        from kameleo.local_api_client.models.create_profile_request import CreateProfileRequest

        return CreateProfileRequest(
            fingerprintId=fingerprint,
            name=f"storebot {visitor.number}",
            language=self._language,
            proxy=_proxy_choice(visitor.proxy) if visitor.proxy else None,
        )

    def _settings(self) -> Any:
        from kameleo.local_api_client.models.browser_settings import BrowserSettings

        return BrowserSettings(arguments=list(self._section.arguments)) if self._section.arguments else None

    async def _asked(self, what: str, call: Callable[[], T]) -> T:
        from kameleo.local_api_client.exceptions import OpenApiException
        from urllib3.exceptions import HTTPError

        try:
            return await asyncio.to_thread(call)
        except OpenApiException as error:
            code = getattr(error, "error_code", None)
            said = getattr(code, "value", code) or getattr(error, "reason", None) or type(error).__name__
            raise ProfileFailed(f"Kameleo, {what}: {said}") from error
        except HTTPError as error:
            raise TierUnusable(f"fetch.attached: the Kameleo engine at {shown(self._endpoint)} is gone") from error


def _proxy_choice(proxy: Proxy) -> Any:
    from kameleo.local_api_client.models.proxy_choice import ProxyChoice
    from kameleo.local_api_client.models.proxy_connection_type import ProxyConnectionType
    from kameleo.local_api_client.models.server import Server

    if proxy.scheme not in _PROXIES:
        raise ProfileFailed(f"Kameleo knows {' and '.join(_PROXIES)} proxies, not {proxy}")
    server = Server(host=proxy.host, port=proxy.port, id=proxy.username or None, secret=proxy.password or None)
    return ProxyChoice(value=ProxyConnectionType(proxy.scheme), extra=server)
