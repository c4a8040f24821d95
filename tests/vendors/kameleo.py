"""Kameleo's Local API on this machine, as `kameleo.local-api-client` 5.2 calls it, before a real Chromium.

The engine itself is a licensed desktop service. This speaks the part that a crawler uses: health check, fingerprints,
profiles (new, start, stop, status, list, delete), and the web socket ``/playwright/{id}``: connecting to it starts the
profile. A proxy is passed on without its password. https://developer.kameleo.io/integrations/playwright/
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from aiohttp import ClientSession, WSMsgType, web
from aiohttp.client_ws import ClientWebSocketResponse

from tests.vendors.chromium import Chromium
from tests.vendors.serving import Served, app_port

FINGERPRINT = "chrome-desktop-1"
_DEVICE = {"type": "desktop", "name": None}
_OS = {"family": "windows", "version": "11", "platform": "x86_64"}
_BROWSER = {"product": "chrome", "major": 156, "version": "156.0.8078.108"}
_WEBGL = {"vendor": "Google Inc.", "renderer": "ANGLE"}
_AGENT = (
    "Mozilla/5.0 (Windows NT 11.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"
)
_OPENED = "2026-01-05T09:00:00+00:00"

Socket = web.WebSocketResponse | ClientWebSocketResponse


@dataclass
class Profile:
    """One profile, and its browser while it runs."""

    id: str
    name: str
    proxy: dict[str, Any] = field(default_factory=lambda: {"value": "none", "extra": None})
    arguments: list[str] = field(default_factory=list)  # of its last start
    state: str = "created"
    browser: Chromium | None = None
    starts: int = 0


class Kameleo(Served):
    """Serves at ``url``; ``profiles`` by id, in the order in which they were made.

    ``not_ready`` health checks are answered 503 first; ``limit`` is how many profiles may run at once.
    """

    def __init__(self, limit: int = 10, not_ready: int = 0) -> None:
        self.limit, self.not_ready = limit, not_ready
        self.profiles: dict[str, Profile] = {}
        self.deleted: list[str] = []
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Listen on a free port; on leaving, end every browser that is still running."""
        app = web.Application()
        app.router.add_get("/general/healthcheck", self._health)
        app.router.add_get("/fingerprints", self._fingerprints)
        app.router.add_get("/profiles", self._list)
        app.router.add_post("/profiles/new", self._new)
        app.router.add_delete("/profiles/{id}", self._delete)
        app.router.add_get("/profiles/{id}/status", self._status)
        app.router.add_post("/profiles/{id}/start", self._start)
        app.router.add_post("/profiles/{id}/stop", self._stop)
        app.router.add_get("/playwright/{id}", self._playwright)
        try:
            async with ClientSession() as self._session, app_port(app) as port:
                self.url = f"http://127.0.0.1:{port}"
                yield
        finally:
            for profile in self.profiles.values():
                if profile.browser:
                    profile.browser.kill()

    async def _health(self, request: web.Request) -> web.Response:
        if self.not_ready:
            self.not_ready -= 1
            return _problem(503, "service_not_ready", "The engine is starting.")
        return web.Response()

    async def _fingerprints(self, request: web.Request) -> web.Response:
        fits = request.query.get("browserProduct", "chrome") == "chrome" and request.query.get("deviceType") != "mobile"
        preview = {"id": FINGERPRINT, "userAgent": _AGENT, "fontsCount": 0, "webglMeta": _WEBGL}
        return web.json_response([preview | {"device": _DEVICE, "os": _OS, "browser": _BROWSER}] if fits else [])

    async def _new(self, request: web.Request) -> web.Response:
        asked = await request.json()
        if asked.get("fingerprintId") not in (None, FINGERPRINT):
            return _problem(404, "invalid_request", f"There is no fingerprint {asked['fingerprintId']}.")
        profile = Profile(str(uuid4()), asked.get("name") or "unnamed")
        profile.proxy = asked.get("proxy") or profile.proxy
        self.profiles[profile.id] = profile
        return web.json_response(_response(profile))

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response([_preview(profile) for profile in self.profiles.values()])

    async def _status(self, request: web.Request) -> web.Response:
        profile = self._profile(request)
        return web.json_response({"lifetimeState": profile.state}) if profile else _unknown(request)

    async def _start(self, request: web.Request) -> web.Response:
        profile = self._profile(request)
        if profile is None:
            return _unknown(request)
        if profile.state == "running":
            return _problem(409, "profile_already_running", "The profile is running already.")
        settings = await request.json() if request.can_read_body else {}
        return await self._started(profile, list((settings or {}).get("arguments") or []))

    async def _started(self, profile: Profile, arguments: list[str]) -> web.Response:
        if sum(each.state == "running" for each in self.profiles.values()) >= self.limit:
            return _problem(402, "running_profiles_limit_reached", f"Your plan runs {self.limit} profiles at once.")
        profile.browser = await asyncio.to_thread(lambda: Chromium(*arguments, proxy=_proxy_url(profile)))
        profile.state, profile.arguments = "running", arguments
        profile.starts += 1
        return web.json_response({"lifetimeState": profile.state})

    async def _stop(self, request: web.Request) -> web.Response:
        profile = self._profile(request)
        if profile is None:
            return _unknown(request)
        if profile.browser is None:
            return _problem(409, "profile_not_running", "The profile is not running.")
        await self._end(profile)
        return web.json_response({"lifetimeState": profile.state})

    async def _delete(self, request: web.Request) -> web.Response:
        profile = self._profile(request)
        if profile is None:
            return _unknown(request)
        if profile.browser:
            return _problem(409, "profile_running", "The profile is running: stop it first.")
        del self.profiles[profile.id]
        self.deleted.append(profile.id)
        return web.Response()

    async def _end(self, profile: Profile) -> None:
        browser, profile.browser, profile.state = profile.browser, None, "terminated"
        if browser:
            await asyncio.to_thread(browser.kill)

    async def _playwright(self, request: web.Request) -> web.StreamResponse:
        """Pass DevTools messages on between a client and the profile's browser, started if it isn't running."""
        profile = self._profile(request)
        if profile is None:
            return _unknown(request)
        if profile.browser is None and (started := await self._started(profile, [])).status != 200:
            return started
        assert profile.browser is not None
        client = web.WebSocketResponse(max_msg_size=0)
        async with self._session.ws_connect(profile.browser.ws, max_msg_size=0) as browser:
            await client.prepare(request)
            pumps = [asyncio.create_task(_pump(*pair)) for pair in ((client, browser), (browser, client))]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in pumps:
                pump.cancel()
            await client.close()
        return client

    def _profile(self, request: web.Request) -> Profile | None:
        profile = self.profiles.get(request.match_info["id"])
        if profile and profile.browser and not profile.browser.running:  # it crashed
            profile.browser, profile.state = None, "terminated"
        return profile


async def _pump(source: Socket, sink: Socket) -> None:
    async for message in source:
        if message.type is WSMsgType.TEXT and not sink.closed:
            await sink.send_str(message.data)


def _proxy_url(profile: Profile) -> str:
    server = profile.proxy.get("extra")
    return f"{profile.proxy['value']}://{server['host']}:{server['port']}" if server else ""


def _preview(profile: Profile) -> dict[str, Any]:
    facts = {"id": profile.id, "name": profile.name, "tags": [], "proxy": profile.proxy, "createdAt": _OPENED}
    kind = {"device": _DEVICE, "os": _OS, "browser": _BROWSER, "language": "en-us"}
    return facts | kind | {"status": {"lifetimeState": profile.state}, "storage": "local"}


def _response(profile: Profile) -> dict[str, Any]:
    fingerprint = {"version": "1", "id": FINGERPRINT, "userAgent": _AGENT, "resolution": "1920x1080", "fonts": []}
    choices = ("webglMeta", "timezone", "geolocation", "webRtc", "screen", "hardwareConcurrency", "deviceMemory")
    return {
        **_preview(profile),
        **{name: {"value": "automatic"} for name in choices},
        "fingerprint": fingerprint | {"device": _DEVICE, "os": _OS, "browser": _BROWSER, "webglMeta": _WEBGL},
        "canvas": "intelligent",
        "webgl": "off",
        "audio": "off",
        "fonts": "automatic",
        "startPage": "",
        "passwordManager": "disabled",
        "extensions": [],
        "notes": "",
    }


def _problem(status: int, code: str, title: str) -> web.Response:
    said = {"status": status, "errorCode": code, "title": title}
    return web.json_response(said, status=status, content_type="application/problem+json")


def _unknown(request: web.Request) -> web.Response:
    return _problem(404, "profile_not_found", f"There is no profile {request.match_info['id']}.")
