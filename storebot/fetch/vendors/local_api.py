"""Any anti-detect browser whose local HTTP API starts a profile and answers with JSON: the store file says how."""

from __future__ import annotations

import asyncio
import json
import logging
import urllib.error
import urllib.request
from typing import Any

from storebot.core.local_api import Call, filled, named, read, refusal
from storebot.exceptions import TierUnusable
from storebot.fetch.browsing.visitor import Visitor
from storebot.fetch.vendors.vendor import Profile, ProfileFailed, Vendor
from storebot.stores import fetch_attached
from storebot.stores.fetch_attached import Attached

logger = logging.getLogger(__name__)

_MOST_BYTES = 4 * 1024 * 1024
_PROXY_FIELDS = {"proxy.host", "proxy.port"}


class LocalApi(Vendor):
    """Calls ``create``, ``start``, ``stop`` and ``delete`` of ``[fetch.attached]``. The key is in no error text."""

    def __init__(self, section: Attached, key: str) -> None:
        assert section.start is not None
        assert section.stop is not None
        self._section, self._start, self._stop, self._key = section, section.start, section.stop, key
        self._given = 0
        # The API is on this machine, or in its network: not where http_proxy leads.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    async def start(self, visitor: Visitor) -> Profile:
        name, is_ours = await self._profile(visitor)
        try:
            answer = await self._call("start", self._start, name, visitor)
            return Profile(name, self._read("start", answer, self._start.endpoint), is_ours)
        except ProfileFailed:
            if is_ours:
                await self._delete(name)
            raise

    async def stop(self, profile: Profile) -> None:
        try:
            await self._call("stop", self._stop, profile.id)
        finally:
            if profile.is_ours:
                await self._delete(profile.id)

    async def _profile(self, visitor: Visitor) -> tuple[str, bool]:
        """Return the profile of a visitor, and whether it was made for it."""
        section, create = self._section, self._section.create
        if create is not None and not section.profiles:
            if visitor.proxy and not named((create.url, create.body)) >= _PROXY_FIELDS:
                raise ProfileFailed(f"fetch.attached.create doesn't say the proxy {visitor.proxy} of the identity")
            answer = await self._call("create", create, "", visitor)
            return self._read("create", answer, create.profile), True
        if visitor.proxy:
            raise ProfileFailed(
                f"the proxy {visitor.proxy} can't be given to a profile that exists: set it there, or leave the tier "
                "attached out of fetch.proxies"
            )
        profile = section.profiles[self._given % len(section.profiles)]
        if self._given >= len(section.profiles):
            logger.warning("all %d profiles were used: %s serves another identity", len(section.profiles), profile)
        self._given += 1
        return profile, False

    async def _delete(self, name: str) -> None:
        assert self._section.delete is not None
        await self._call("delete", self._section.delete, name)

    async def _call(self, what: str, call: fetch_attached.Call, profile: str, visitor: Visitor | None = None) -> Any:
        values = self._values(profile, visitor)
        headers = {"Accept": "application/json", **filled(self._section.headers, values)}
        made = Call(call.method, filled(call.url, values), headers, filled(call.body, values))
        answer = await asyncio.to_thread(self._answer, what, made)
        if why := refusal(answer, self._section.expect):
            raise ProfileFailed(f"fetch.attached.{what}: {why}")
        return answer

    def _values(self, profile: str, visitor: Visitor | None) -> dict[str, str]:
        values = {"profile": profile, "key": self._key, "name": f"storebot {visitor.number if visitor else ''}".strip()}
        if visitor is not None and (proxy := visitor.proxy) is not None:
            values |= {
                "proxy.scheme": proxy.scheme,
                "proxy.host": proxy.host,
                "proxy.port": str(proxy.port),
                "proxy.username": proxy.username,
                "proxy.password": proxy.password,
            }
        return values

    def _answer(self, what: str, call: Call) -> Any:
        """Return the JSON that a call brings. Runs in a thread."""
        body = None if call.body is None else json.dumps(call.body).encode()
        headers = {**call.headers, **({"Content-Type": "application/json"} if body else {})}
        request = urllib.request.Request(call.url, data=body, headers=headers, method=call.method)
        try:
            with self._opener.open(request, timeout=self._section.timeout_s) as response:
                text = response.read(_MOST_BYTES)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(what, error.code) from error
        except (OSError, urllib.error.URLError) as error:
            reason = getattr(error, "reason", error)
            raise TierUnusable(
                f"fetch.attached.{what}: {call.url} doesn't answer ({reason}): is the vendor's app running?"
            ) from error
        try:
            return json.loads(text) if text.strip() else {}
        except ValueError as error:
            raise ProfileFailed(f"fetch.attached.{what}: {call.url} answered no JSON, but {len(text)} bytes") from error

    def _refused(self, what: str, status: int) -> Exception:
        if status in (401, 403):
            return TierUnusable(f"fetch.attached.{what}: HTTP {status}: is the key in {self._section.key_env} right?")
        return ProfileFailed(f"fetch.attached.{what}: HTTP {status}")

    def _read(self, what: str, answer: Any, template: str) -> str:
        try:
            return read(answer, template)
        except ValueError as error:
            raise ProfileFailed(f"fetch.attached.{what}: {error}") from error
