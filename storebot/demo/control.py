"""The switchboard over HTTP: JSON below ``/_demo/``, for a test or a person with curl."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import Any

from aiohttp import web

from storebot.demo.clock import Step, advance
from storebot.demo.ledger import Ledger
from storebot.demo.lies import LIES, Switchboard
from storebot.demo.shop import Shop, truth_of
from storebot.exceptions import ConfigurationError

PREFIX = "/_demo/"
_TRUTHS_AT_ONCE = 200  # lines between two looks at other requests


class Control:
    """Steers one shop.

    ``POST advance``, ``lie``, ``honest`` and ``reset_counts`` take a JSON object, or the same as a query
    (``/_demo/advance?changed=11``); ``GET truth`` (JSON lines), ``requests``, ``lies`` and ``status`` only look.
    What is refused answers 400 with ``{"error": sentence}``.
    """

    def __init__(self, shop: Shop, lies: Switchboard, ledger: Ledger, base_url: str) -> None:
        self._shop, self._lies, self._ledger, self._base_url = shop, lies, ledger, base_url
        self._looks = {"requests": ledger.report, "lies": self._list_lies, "status": self._status}
        self._acts = {
            "advance": self._advance,
            "lie": self._lie,
            "honest": self._honest,
            "reset_counts": self._reset_counts,
        }

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request below the prefix."""
        name = request.path.removeprefix(PREFIX)
        if request.method == "GET" and name == "truth":
            return await self._truth(request)
        if request.method == "GET" and name in self._looks:
            return web.json_response(self._looks[name]())
        if request.method == "POST" and name in self._acts:
            try:
                return web.json_response(self._acts[name](await _arguments(request)))
            except ConfigurationError as error:
                return web.json_response({"error": str(error)}, status=400)
        known = f"GET truth, {', '.join(self._looks)}; POST {', '.join(self._acts)}"
        return web.json_response({"error": f"there is no {request.method} {request.path}: {known}"}, status=404)

    def _advance(self, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            step = Step(**arguments)
            changes = advance(self._shop, step)
        except TypeError as error:  # an argument that the clock doesn't know, or that is no number
            known = ", ".join(Step.__dataclass_fields__)
            raise ConfigurationError(f"advance takes numbers named {known}: {error}") from error
        rows = [{**change._asdict(), "url": self._base_url + change.path} for change in changes]
        return {**self._status(), "changes": rows}

    def _lie(self, arguments: dict[str, Any]) -> dict[str, Any]:
        options = dict(arguments)
        name, pattern, times = (options.pop(key, default) for key, default in _LIE_ARGUMENTS)
        self._lies.lie(str(name), str(pattern), times, options)
        return self._list_lies()

    def _honest(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self._lies.honest()
        return self._list_lies()

    def _reset_counts(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self._ledger.reset()
        return self._ledger.report()

    def _list_lies(self) -> dict[str, Any]:
        active = [
            {"name": lie.name, "pattern": lie.pattern.pattern, "left": lie.left, "options": lie.options}
            for lie in self._lies.active()
        ]
        known = {name: {"about": kind.about, "options": kind.defaults} for name, kind in LIES.items()}
        return {"active": active, "known": known}

    def _status(self) -> dict[str, Any]:
        shop = self._shop
        return {
            "now_s": shop.now_s,
            "tick": shop.tick,
            "products": len(shop.live),
            "pages": shop.pages,
            "options": asdict(shop.options),
        }

    async def _truth(self, request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        lines: list[str] = []
        for product in self._shop.products():
            lines.append(json.dumps(truth_of(product, self._base_url, self._shop.options.currency)))
            if len(lines) == _TRUTHS_AT_ONCE:
                await response.write("\n".join((*lines, "")).encode())
                lines.clear()
                await asyncio.sleep(0)
        await response.write("\n".join((*lines, "")).encode() if lines else b"")
        await response.write_eof()
        return response


_LIE_ARGUMENTS = (("name", ""), ("pattern", ".*"), ("times", None))


async def _arguments(request: web.BaseRequest) -> dict[str, Any]:
    """Return the JSON object of the body, and over it the query, whose values are JSON or else text."""
    body = await request.read()
    try:
        arguments = json.loads(body) if body else {}
    except ValueError as error:
        raise ConfigurationError(f"the body is not JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise ConfigurationError("the body is no JSON object")
    return arguments | {name: _value(text) for name, text in request.query.items()}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
