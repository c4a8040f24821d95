"""Before every answer: who is there, may they, and which headers keep a browser from doing more than the page says."""

from __future__ import annotations

import secrets
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import anyio
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from storebot.core.dashboard.requests import is_own_site
from storebot.core.read_api import host_of, is_loopback
from storebot.dashboard.guests import Guests
from storebot.exceptions import DatabaseUnavailable

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer a form of ours would come with the origin "null"
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "private, no-store",
}
SESSION, VISIT = "storebot_session", "storebot_visit"
_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
LOGIN = "/login"


class Gatekeeper:
    """An ASGI middleware. It puts ``visitor`` and ``cookie`` into the scope; without a visitor one only gets to log in.

    Who is at this machine needs no login while there are no users; then the Host header has to name this machine, so
    that no page in its browser comes in under a name that it made up (DNS rebinding), and nothing may say that a proxy
    forwards requests of others. ``unguarded``: beginnings of paths that anybody may ask for.
    """

    def __init__(self, app: ASGIApp, guests: Guests, unguarded: tuple[str, ...]) -> None:
        self._app, self._guests, self._unguarded = app, guests, unguarded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        visit = request.cookies.get(self._guests.prefix + VISIT, "")
        new_visit = "" if visit else secrets.token_urlsafe(24)
        scope["cookie"] = visit or new_visit
        wrapped = self._with_headers(send, new_visit, scope)
        if scope["path"].startswith(self._unguarded):
            await self._app(scope, receive, wrapped)
            return
        try:
            refused = await self._admit(request, scope)
        except DatabaseUnavailable:
            refused = Response("The database can't serve; the log of `scrapy dashboard` says why.\n", 503)
        await (refused or self._app)(scope, receive, wrapped)

    async def _admit(self, request: Request, scope: MutableMapping[str, Any]) -> Response | None:
        guests, host = self._guests, request.headers.get("host", "")
        if request.method == "POST" and not is_own_site(
            request.headers.get("origin", ""), request.headers.get("sec-fetch-site", ""), host, guests.public_url
        ):
            return Response("This was asked for by a page of another site; nothing was done.\n", HTTPStatus.FORBIDDEN)
        if not await anyio.to_thread.run_sync(guests.need_login):
            if not is_loopback(host_of(host)) or any(name in request.headers for name in _FORWARDED):
                text = "Without users the dashboard is for this machine alone: scrapy users add NAME --role operator\n"
                return Response(text, HTTPStatus.MISDIRECTED_REQUEST)
            scope["visitor"] = guests.local(scope["cookie"])
            return None
        token = request.cookies.get(guests.prefix + SESSION, "")
        visitor = await anyio.to_thread.run_sync(guests.known, token)
        if visitor is not None:
            scope["visitor"], scope["cookie"] = visitor, token
            return None
        if scope["path"] == LOGIN:
            return None
        if request.method == "GET" and not scope["path"].endswith(".json"):
            back = scope["path"] + (f"?{request.url.query}" if request.url.query else "")
            return RedirectResponse(f"{LOGIN}?{urlencode({'back': back})}", HTTPStatus.SEE_OTHER)
        return Response("Log in first.\n", HTTPStatus.UNAUTHORIZED)

    def _with_headers(self, send: Send, new_visit: str, scope: Scope) -> Send:
        async def wrapped(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if self._guests.secure:
                    headers.setdefault("Strict-Transport-Security", "max-age=31536000")
                if new_visit and not scope["path"].startswith(self._unguarded):
                    headers.append("Set-Cookie", cookie(self._guests, VISIT, new_visit))
            await send(message)

        return wrapped


def cookie(guests: Guests, name: str, value: str) -> str:
    """Return a Set-Cookie; an empty value ends the cookie. Lax: a link in a mail finds its reader logged in."""
    ends = "" if value else "; Max-Age=0"
    return f"{guests.prefix}{name}={value}; Path=/; HttpOnly; SameSite=Lax{'; Secure' if guests.secure else ''}{ends}"
