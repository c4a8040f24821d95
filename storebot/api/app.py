"""The ASGI application. `create_app` may be served as it is, or mounted in another one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

import anyio
import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from storebot.api.openapi import document
from storebot.api.operations import OPERATIONS, Operation, Parameter
from storebot.core.read_api import etag, host_of, is_known, is_loopback, is_same, moment, number, one_of
from storebot.db import reading
from storebot.db.database import Database
from storebot.exceptions import DatabaseUnavailable

logger = logging.getLogger(__name__)

AT_ONCE = 8  # answers under way: each takes a connection to the database
Guard = Callable[[Mapping[str, str]], HTTPStatus | None]
"""Judges the headers of a request: None lets it in, else the status that it's refused with."""


def tokens_guard(tokens: Sequence[str]) -> Guard:
    """Let in who has one of these tokens."""
    return lambda headers: None if is_known(headers.get("authorization", ""), tokens) else HTTPStatus.UNAUTHORIZED


def local_guard(headers: Mapping[str, str]) -> HTTPStatus | None:
    """Let in who calls this machine by a name of its own: a page in its browser that lies with DNS doesn't."""
    return None if is_loopback(host_of(headers.get("host", ""))) else HTTPStatus.MISDIRECTED_REQUEST


def create_app(database: Database, guard: Guard) -> Starlette:
    """Return the application over a database, which it doesn't close. All but /openapi.json is behind the guard."""
    limiter = anyio.CapacityLimiter(AT_ONCE)
    described = orjson.dumps(document())

    async def openapi(request: Request) -> Response:
        return _json(request, described)

    routes = [Route(one.path, _endpoint(one, database, guard, limiter), name=one.name) for one in OPERATIONS]
    return Starlette(
        routes=[Route("/openapi.json", openapi, name="openapi"), *routes],
        exception_handlers={HTTPException: _on_http, DatabaseUnavailable: _on_unavailable},
    )


def _endpoint(
    operation: Operation, database: Database, guard: Guard, limiter: anyio.CapacityLimiter
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        refused = guard(request.headers)
        if refused is not None:
            raise HTTPException(refused, headers={"WWW-Authenticate": "Bearer"} if refused == 401 else None)
        try:
            values = _values(operation, request)
        except ValueError as error:
            raise HTTPException(HTTPStatus.BAD_REQUEST, str(error)) from error
        body = await anyio.to_thread.run_sync(partial(_read, operation, database, values), limiter=limiter)
        return _json(request, body)

    return answer


def _values(operation: Operation, request: Request) -> dict[str, Any]:
    known = {one.name for one in operation.parameters if one.default is not None}
    if unknown := sorted(request.query_params.keys() - known):
        raise ValueError(f"{unknown[0]}: no such parameter here; there are {', '.join(sorted(known)) or 'none'}")
    values: dict[str, Any] = {}
    for one in operation.parameters:
        text = request.path_params[one.name] if one.default is None else request.query_params.get(one.name)
        values[one.name] = one.default if text is None else _value(one, text)
    return values


def _value(one: Parameter, text: str) -> int | str:
    if one.is_time:
        return moment(one.name, text)
    if one.known:
        return one_of(one.name, text, one.known)
    return text if one.least is None else number(one.name, text, one.least, one.most)


def _read(operation: Operation, database: Database, values: Mapping[str, Any]) -> bytes:
    with database.explaining(), database.read() as conn:
        if not reading.is_store(conn, values["store"]):
            raise HTTPException(HTTPStatus.NOT_FOUND, "there is no such store, or it was never crawled")
        found = operation.read(conn, values)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, "the store has no such listing")
    if not operation.many:
        return orjson.dumps(found)
    if not operation.paged:
        return orjson.dumps({"data": found})
    return orjson.dumps({"data": found.rows, "after": found.after, "more": found.more})


def _json(request: Request, body: bytes) -> Response:
    tag = etag(body)
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization"}
    if is_same(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _problem(error.status_code, error.detail, error.headers)


async def _on_unavailable(request: Request, error: Exception) -> Response:
    logger.error("%s", error)
    return _problem(HTTPStatus.SERVICE_UNAVAILABLE, "the database can't serve: the log of `scrapy api` says why")


def _problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error as RFC 9457 has it."""
    title = HTTPStatus(status).phrase
    body = orjson.dumps({"title": title, "status": int(status), "detail": detail})
    return Response(body, status, headers, media_type="application/problem+json")
