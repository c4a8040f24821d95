"""The ASGI application: pages, pictures and deeds behind the gatekeeper, and the read API beside them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from storebot.api.app import create_app as create_api
from storebot.api.app import tokens_guard
from storebot.dashboard import deeds, login
from storebot.dashboard.gatekeeper import Gatekeeper
from storebot.dashboard.guests import Guests
from storebot.dashboard.pages import DEEDS, FOREIGN, PICTURES, VIEWS
from storebot.dashboard.rendering import FOLDER
from storebot.dashboard.serving_pages import Pages, problem
from storebot.dashboard.site import Site
from storebot.exceptions import DatabaseUnavailable

logger = logging.getLogger(__name__)

AT_ONCE = 8  # answers under way: each takes a connection to the database
Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(site: Site, tokens: Sequence[str] = ()) -> Starlette:
    """Return the application. ``tokens`` let into the read API; without any it is for whoever may see the pages."""
    limiter = anyio.CapacityLimiter(AT_ONCE)
    pages, guests = Pages(site), Guests(site)
    off_loop = partial(_off_loop, limiter=limiter)
    routes: list[BaseRoute] = [
        Mount("/static", StaticFiles(directory=FOLDER / "static"), name="static"),
        Mount("/api", create_api(site.database, tokens_guard(tokens) if tokens else _admitted), name="api"),
        *login.routes(pages, guests),
    ]
    for view in VIEWS:
        routes += [  # the longer one first: a name in a path may well hold a dot
            Route(as_json(view.path), off_loop(partial(pages.facts, view)), name=f"{view.name}.json"),
            Route(view.path, off_loop(partial(pages.page, view)), name=view.name),
        ]
    routes += [Route(one.path, off_loop(partial(pages.picture, one)), name=one.name) for one in PICTURES]
    routes += [Route(one.path, off_loop(partial(pages.foreign, one)), name=one.name) for one in FOREIGN]
    routes += [
        Route(one.path, deeds.endpoint(one, site, pages, limiter), methods=["POST"], name=one.verb) for one in DEEDS
    ]
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(Gatekeeper, guests=guests, unguarded=("/static/", "/api/") if tokens else ("/static/",))
        ],
        exception_handlers={
            HTTPException: partial(_on_http, pages),
            DatabaseUnavailable: partial(_on_unavailable, pages),
            Exception: partial(_on_error, pages),
        },
    )


def _admitted(headers: Mapping[str, str]) -> HTTPStatus | None:
    """Let in whom the gatekeeper let in."""
    return None


def as_json(path: str) -> str:
    """Return the address of a page's facts."""
    return "/now.json" if path == "/" else f"{path}.json"


def _off_loop(answer: Callable[[Request], Response], limiter: anyio.CapacityLimiter) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return await anyio.to_thread.run_sync(answer, request, limiter=limiter)

    return endpoint


async def _on_http(pages: Pages, request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem(pages, request, error.status_code, error.detail, error.headers)


async def _on_unavailable(pages: Pages, request: Request, error: Exception) -> Response:
    logger.error("%s", error)
    text = "The database can't serve. The log of `scrapy dashboard` says why; `scrapy doctor` says what to do."
    return problem(pages, request, HTTPStatus.SERVICE_UNAVAILABLE, text)


async def _on_error(pages: Pages, request: Request, error: Any) -> Response:
    logger.error("%s %s", request.method, request.url.path, exc_info=error)
    text = "That is a fault of storebot. The log of `scrapy dashboard` has the details."
    return problem(pages, request, HTTPStatus.INTERNAL_SERVER_ERROR, text)
