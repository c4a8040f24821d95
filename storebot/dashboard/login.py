"""Logging in and out."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from math import ceil

import anyio
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from storebot.core.dashboard.requests import own_path
from storebot.dashboard.forms import checked_form
from storebot.dashboard.gatekeeper import SESSION, cookie
from storebot.dashboard.guests import Guests
from storebot.dashboard.serving_pages import Pages

_HASHES_AT_ONCE = 2  # each takes 64 MB


def routes(pages: Pages, guests: Guests) -> list[BaseRoute]:
    """Return the addresses of it."""
    limiter = anyio.CapacityLimiter(_HASHES_AT_ONCE)

    async def show(request: Request) -> Response:
        if request.scope.get("visitor") is not None:
            return RedirectResponse("/", HTTPStatus.SEE_OTHER)
        return _page(pages, request, own_path(request.query_params.get("back", "/")))

    async def log_in(request: Request) -> Response:
        form = await checked_form(request)
        name, password = (form.get(field, [""])[0] for field in ("name", "password"))
        back = own_path(form.get("back", ["/"])[0])
        peer = request.client.host if request.client else ""
        name = name.strip()[:64]
        wait_s = guests.wait_s(name, peer)
        if wait_s > 0:
            text = f"Too many tries: the next one is possible in {ceil(wait_s)} seconds."
            page = _page(pages, request, back, text, HTTPStatus.TOO_MANY_REQUESTS)
            page.headers["Retry-After"] = str(ceil(wait_s))
            return page
        token = await anyio.to_thread.run_sync(partial(guests.log_in, name, password, peer), limiter=limiter)
        if token is None:
            return _page(pages, request, back, "Name and password don't fit.", HTTPStatus.UNAUTHORIZED)
        answer = RedirectResponse(back, HTTPStatus.SEE_OTHER)
        answer.headers.append("Set-Cookie", cookie(guests, SESSION, token))
        return answer

    async def log_out(request: Request) -> Response:
        await checked_form(request)
        await anyio.to_thread.run_sync(guests.log_out, request.scope["cookie"])
        answer = RedirectResponse("/login", HTTPStatus.SEE_OTHER)
        answer.headers.append("Set-Cookie", cookie(guests, SESSION, ""))
        return answer

    return [
        Route("/login", show, name="login", methods=["GET"]),
        Route("/login", log_in, methods=["POST"]),
        Route("/logout", log_out, name="logout", methods=["POST"]),
    ]


def _page(
    pages: Pages, request: Request, back: str, text: str = "", status: HTTPStatus = HTTPStatus.OK
) -> HTMLResponse:
    return HTMLResponse(pages.html("login.html", request, {"back": back, "text": text, "view": ""}), status)
