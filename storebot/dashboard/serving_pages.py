"""Answering a request for a page: its facts read in one transaction, then as HTML, JSON or a picture."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import orjson
from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from storebot.core.dashboard.requests import form_token
from storebot.core.read_api import etag, is_same
from storebot.dashboard import listing
from storebot.dashboard.rendering import environment
from storebot.dashboard.site import Site, Visitor
from storebot.dashboard.view import Ask, Facts, Foreign, NotFound, Picture, View
from storebot.db import audit
from storebot.db.dialects import now_ms
from storebot.db.types import Connection

_SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
# What a shop made: no script runs, nothing is loaded, no form is sent, and only our own pages frame it.
_FOREIGN_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)


class Pages:
    """Makes answers of views. Its methods are called on threads: they wait for the database."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._templates: Environment = environment()

    def page(self, view: View, request: Request) -> Response:
        """Return a page as HTML."""
        begun = time.perf_counter()
        with self._site.database.explaining(), self._site.database.read() as conn:
            ask = self._ask(conn, request, view)
            facts = _read(view, ask)
            more: dict[str, Any] = {"done": self._done(ask)}
            if view.listed is not None:
                more |= listing.form(view.listed, ask, listing.asked(view.listed, ask.query))
        html = self.html(view.template, request, {**facts, **more, "view": view.name, "now": _as_time(ask.now_ms)})
        took_ms = (time.perf_counter() - begun) * 1000
        return HTMLResponse(html, headers={"Server-Timing": f"page;dur={took_ms:.1f}"})

    def facts(self, view: View, request: Request) -> Response:
        """Return what a page shows, as JSON."""
        with self._site.database.explaining(), self._site.database.read() as conn:
            facts = _read(view, self._ask(conn, request, view))
        body = orjson.dumps(facts, default=_plain, option=orjson.OPT_NON_STR_KEYS)
        tag = etag(body)
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if is_same(request.headers.get("if-none-match", ""), tag):
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        return Response(body, headers=headers, media_type="application/json")

    def picture(self, picture: Picture, request: Request) -> Response:
        """Return a picture. It may be looked at by itself, too: no script in it runs."""
        with self._site.database.explaining(), self._site.database.read() as conn:
            ask = self._ask(conn, request, picture)
            try:
                svg = picture.draw(ask, request.query_params.get("narrow") == "1")
            except NotFound as error:
                raise HTTPException(HTTPStatus.NOT_FOUND, str(error)) from error
            except ValueError as error:
                raise HTTPException(HTTPStatus.BAD_REQUEST, str(error)) from error
        headers = {"Content-Security-Policy": _SVG_POLICY, "Cache-Control": "private, max-age=30"}
        return Response(svg, headers=headers, media_type="image/svg+xml")

    def foreign(self, foreign: Foreign, request: Request) -> Response:
        """Return a page of a shop. Looked at by itself it's as harmless as in its frame."""
        with self._site.database.explaining(), self._site.database.read() as conn:
            ask = self._ask(conn, request, foreign)
            try:
                html = foreign.read(ask)
            except NotFound as error:
                raise HTTPException(HTTPStatus.NOT_FOUND, str(error)) from error
        headers = {"Content-Security-Policy": _FOREIGN_POLICY, "X-DNS-Prefetch-Control": "off"}
        return HTMLResponse(html.encode(errors="replace"), headers=headers)

    def html(self, template: str, request: Request, facts: Mapping[str, Any]) -> str:
        """Return a template filled in, with what all of them know."""
        visitor: Visitor | None = request.scope.get("visitor")
        query = dict(request.query_params)
        return self._templates.get_template(template).render(
            url=request.app.url_path_for,
            path=request.url.path,
            query=query,
            here=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
            visitor=visitor,
            form_token=form_token(request.scope.get("cookie", "")),
            **facts,
        )

    def _ask(self, conn: Connection, request: Request, what: View | Picture | Foreign) -> Ask:
        known, many = {"done"}, what.many if isinstance(what, View) else ()
        if not isinstance(what, Foreign):
            known.update(what.parameters)
        if isinstance(what, Picture):
            known.add("narrow")
        elif isinstance(what, View) and what.listed is not None:
            known |= {*listing.OWN, *(one.name for one in what.listed.choices)}
        query = {name: value for name, value in request.query_params.items() if name not in many}
        marked = {name: request.query_params.getlist(name) for name in many}
        if unknown := sorted(query.keys() - known):
            text = f"{unknown[0][:40]}: no such parameter here; there are {', '.join(sorted(known))}"
            raise HTTPException(HTTPStatus.BAD_REQUEST, text)
        visitor: Visitor = request.scope["visitor"]
        return Ask(conn, self._site, visitor, request.path_params, query, now_ms(conn), marked)

    def _done(self, ask: Ask) -> audit.Deed | None:
        """Return what the visitor has just done, where the address says so."""
        text = ask.query.get("done", "")
        if not (text.isascii() and text.isdecimal() and len(text) < 19):
            return None
        deed = audit.one(ask.conn, int(text))
        return deed if deed is not None and deed.who == ask.visitor.name else None


def problem(
    pages: Pages, request: Request, status: int, text: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error: as JSON where JSON was asked for (RFC 9457), else as a page."""
    title = HTTPStatus(status).phrase
    if request.url.path.endswith(".json"):
        body = orjson.dumps({"title": title, "status": int(status), "detail": text})
        return Response(body, status, headers, media_type="application/problem+json")
    html = pages.html("problem.html", request, {"title": title, "status": int(status), "text": text, "view": ""})
    return HTMLResponse(html, status, headers)


def _read(view: View, ask: Ask) -> Facts:
    try:
        return view.read(ask)
    except NotFound as error:
        raise HTTPException(HTTPStatus.NOT_FOUND, str(error)) from error
    except ValueError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, str(error)) from error


def _plain(value: object) -> object:
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, Iterable):
        return list(value)
    return str(value)  # Decimal


def _as_time(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
