"""The local API of an anti-detect browser on this machine, in the protocol of AdsPower: profiles that are started.

``GET /api/v1/browser/start?user_id=ID`` answers ``{"code": 0, "msg": "success", "data": {"ws": {"puppeteer": "ws://…",
"selenium": "127.0.0.1:PORT"}, "debug_port": "PORT"}}``; ``/stop`` and ``/active`` likewise, ``/api/v1/user/list`` lists
the profiles. What fails answers 200 with a ``code`` other than 0, as the documented one does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.vendors.chromium import Chromium
from tests.vendors.serving import Served, app_port


class ProfileBrowser(Served):
    """Serves at ``url``. A started profile is a real Chromium, ``running`` by profile; ``calls`` are those it had.

    ``key`` is a bearer key that requests must carry, where there is one. ``refusals`` are sentences with which the
    next starts fail.
    """

    def __init__(self, profiles: Sequence[str] = ("one", "two"), key: str = "") -> None:
        self.profiles, self.key = tuple(profiles), key
        self.running: dict[str, Chromium] = {}
        self.calls: list[tuple[str, str]] = []  # action, profile
        self.refusals: list[str] = []
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Listen on a free port; on leaving, end every browser that is still running."""
        app = web.Application()
        for action in ("start", "stop", "active"):
            app.router.add_get(f"/api/v1/browser/{action}", self._act)
        app.router.add_get("/api/v1/user/list", self._list)
        try:
            async with app_port(app) as port:
                self.url = f"http://127.0.0.1:{port}"
                yield
        finally:
            for browser in self.running.values():
                browser.kill()

    async def _list(self, request: web.Request) -> web.Response:
        listed = [{"user_id": profile, "name": profile} for profile in self.profiles]
        return self._said(request, {"list": listed, "page": 1, "page_size": len(listed)})

    async def _act(self, request: web.Request) -> web.Response:
        action, profile = request.path.rpartition("/")[2], request.query.get("user_id", "")
        self.calls.append((action, profile))
        if profile not in self.profiles:
            return self._said(request, problem=f"user_id {profile} does not exist")
        if action == "start":
            return await self._start(request, profile)
        browser = self.running.get(profile)
        if action == "active":
            return self._said(request, _described(browser) if browser else {"status": "Inactive"})
        if browser is None:
            return self._said(request, problem="the browser is not open")
        del self.running[profile]
        await asyncio.to_thread(browser.kill)
        return self._said(request, {})

    async def _start(self, request: web.Request, profile: str) -> web.Response:
        if self.refusals:
            return self._said(request, problem=self.refusals.pop(0))
        browser = self.running.get(profile)
        if browser is None or not browser.running:
            browser = self.running[profile] = await asyncio.to_thread(Chromium)
        return self._said(request, _described(browser))

    def _said(self, request: web.Request, data: dict[str, Any] | None = None, problem: str = "") -> web.Response:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            data, problem = None, "authorization failed"
        return web.json_response({"code": -1 if problem else 0, "msg": problem or "success", "data": data or {}})


def _described(browser: Chromium) -> dict[str, Any]:
    ws = {"puppeteer": browser.ws, "selenium": f"127.0.0.1:{browser.port}"}
    return {"status": "Active", "ws": ws, "debug_port": str(browser.port)}
