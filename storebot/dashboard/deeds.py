"""Deeds: who may, what the audit says of it, and where the browser goes afterwards."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from urllib.parse import parse_qsl, urlencode

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from storebot.core.dashboard.requests import own_path
from storebot.dashboard.forms import checked_form
from storebot.dashboard.serving_pages import Pages
from storebot.dashboard.site import Site, Visitor
from storebot.dashboard.view import Deed, Order
from storebot.db import audit
from storebot.db.retry import retrying
from storebot.exceptions import StorebotError

logger = logging.getLogger(__name__)


def endpoint(
    deed: Deed, site: Site, pages: Pages, limiter: anyio.CapacityLimiter
) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers a form that asks for a deed."""

    async def answer(request: Request) -> Response:
        form = await checked_form(request)
        visitor: Visitor = request.scope["visitor"]
        if not visitor.role.acts:
            raise HTTPException(HTTPStatus.FORBIDDEN, f"{visitor.name} may look, but not act: ask an operator")
        back = own_path(form.pop("back", ["/"])[0])
        order = Order(site, visitor, form, request.path_params)
        deed_id = await anyio.to_thread.run_sync(partial(done, deed, order), limiter=limiter)
        path, _, query = back.partition("?")
        kept = [(name, value) for name, value in parse_qsl(query) if name != "done"]
        address = f"{path}?{urlencode([*kept, ('done', deed_id)])}"
        return RedirectResponse(address, HTTPStatus.SEE_OTHER)

    return answer


def done(deed: Deed, order: Order) -> int:
    """Do it, between the two notes of the audit; return the audit's number, whose row says how it went.

    Raises HTTPException (400) for a form that isn't valid: then nothing is noted, as nothing was begun.
    """
    database = order.site.database
    try:
        told = deed.tell(order)
    except ValueError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, str(error)) from error
    deed_id = retrying(
        database,
        lambda conn: audit.begin(
            conn, order.visitor.name, deed.verb, store=told.store, subject=told.subject, why=told.why
        ),
    )
    try:
        result, text = audit.Result.DONE, deed.do(order)
    except (StorebotError, ValueError) as error:
        result, text = audit.Result.REFUSED, str(error)
    except Exception:
        logger.exception("%s by %s", deed.verb, order.visitor.name)
        result, text = audit.Result.FAILED, "a fault of storebot: the log of `scrapy dashboard` has the details"
    logger.info("%s: %s (%s) by %s: %s", deed.verb, told.subject, result, order.visitor.name, text)
    retrying(database, lambda conn: audit.end(conn, deed_id, result, text))
    return deed_id
