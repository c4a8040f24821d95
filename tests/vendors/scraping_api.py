"""A scraping API on this machine, in the protocol of FineData: a URL in, the page's HTML out, and what it cost.

``POST /api/v1/scrape`` with ``{"url", "formats": ["rawHtml"], "use_js_render", "only_main_content"}`` and a bearer key
answers ``{"success", "status_code", "data": {"rawHtml"}, "tokens_used", "meta": {"final_url", "block_reason"},
"error"}``. The shape is that which clients of the service read: its documentation gives no schema.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aiohttp import ClientError, ClientSession, web

from storebot.demo.guards import EGRESS_HEADER, SECRET
from tests.vendors.serving import Served, app_port

KEY = "fd_test_key"
PLAIN_TOKENS, RENDERED_TOKENS = 1, 6  # a request, and five more for a browser


class Failure(NamedTuple):
    """One scripted failure: what the API answers instead of working."""

    status: int
    error: str = "something went wrong"
    tokens: int = 0  # billed nevertheless
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed
    body: str | None = None  # instead of the JSON


@dataclass
class Billed:
    """What the API was asked, and what it charged."""

    asked: list[dict[str, Any]] = field(default_factory=list)  # the bodies of requests with the right key
    refused: int = 0  # requests without it
    tokens: int = 0

    @property
    def urls(self) -> list[str]:
        """The pages asked for, in their order."""
        return [body["url"] for body in self.asked]


class ScrapingApi(Served):
    """Serves at ``url``; fetches what it's asked for, and shows itself to the demo store's guard ``api_only``.

    ``failures`` are answered first, in their order. ``balance`` is the number of tokens left: with less than a page
    costs it answers 402. A page that the shop blocks or doesn't have is billed like any other.
    """

    def __init__(self, balance: int = 1_000_000, secret: str = SECRET) -> None:
        self.balance, self.secret = balance, secret
        self.failures: list[Failure] = []
        self.billed = Billed()
        self.url = ""

    @property
    def endpoint(self) -> str:
        """The URL to which requests are posted."""
        return f"{self.url}/api/v1/scrape"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Listen on a free port."""
        app = web.Application()
        app.router.add_post("/api/v1/scrape", self._scrape)
        async with ClientSession(headers={EGRESS_HEADER: self.secret}) as self._session, app_port(app) as port:
            self.url = f"http://127.0.0.1:{port}"
            yield

    async def _scrape(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            self.billed.refused += 1
            return _refusal(401, "Invalid API key")
        asked: dict[str, Any] = await request.json()
        if problem := _problem(asked):
            return _refusal(422, problem)
        self.billed.asked.append(asked)
        if self.failures:
            return self._fail(self.failures.pop(0))
        tokens = RENDERED_TOKENS if asked.get("use_js_render") else PLAIN_TOKENS
        if tokens > self.balance:
            return _refusal(402, "Insufficient tokens")
        self._bill(tokens)
        return await self._fetched(asked["url"], tokens)

    async def _fetched(self, url: str, tokens: int) -> web.Response:
        try:
            async with self._session.get(url, ssl=False) as page:
                html, status, final_url = await page.text(), page.status, str(page.url)
        except ClientError as error:
            said = {"success": False, "status_code": 0, "error": str(error), "tokens_used": tokens, "meta": {}}
            return web.json_response(said, status=502)
        blocked = "blocked" if status in (403, 429) else None
        answer = {
            "success": blocked is None,
            "status_code": status,
            "data": {"rawHtml": html},
            "tokens_used": tokens,
            "meta": {"final_url": final_url, "block_reason": blocked},
            "error": None,
        }
        return web.json_response(answer)

    def _fail(self, failure: Failure) -> web.Response:
        self._bill(failure.tokens)
        if failure.body is not None:
            return web.Response(status=failure.status, text=failure.body, headers=failure.headers)
        return _refusal(failure.status, failure.error, failure.tokens, failure.headers)

    def _bill(self, tokens: int) -> None:
        self.balance -= tokens
        self.billed.tokens += tokens


def _problem(asked: dict[str, Any]) -> str:
    known = {"url", "formats", "use_js_render", "only_main_content", "timeout", "max_retries"}
    if unknown := asked.keys() - known:
        return f"unknown fields: {', '.join(sorted(unknown))}"
    if not str(asked.get("url", "")).startswith(("http://", "https://")):
        return "url must be an absolute http(s) URL"
    return "" if asked.get("formats") == ["rawHtml"] else "this API gives rawHtml alone"


def _refusal(status: int, error: str, tokens: int = 0, headers: dict[str, str] | None = None) -> web.Response:
    said = {"success": False, "error": error, "tokens_used": tokens}
    return web.json_response(said, status=status, headers=headers)
