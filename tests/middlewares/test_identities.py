"""Requests are marked with who sends them. Whole crawls: tests/crawls/test_proxies.py."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy.http import Request

from storebot.core.identity import Identity
from storebot.core.proxy import Proxy
from storebot.identities import Identities
from storebot.items import Tier
from storebot.middlewares.identities import IdentityMiddleware
from storebot.responses import NotSent
from storebot.run import Run

A = Proxy("http", "a.example", 80, "me", "hush")


class RunOf:
    """What the middleware asks of a run, which has a database and an engine besides."""

    def __init__(self, identities: Identities) -> None:
        self.identities = identities
        self.store = SimpleNamespace(name="shop")
        self.ending = asyncio.Event()
        self.notes: list[str] = []
        self.closed: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def close_crawl(self, reason: str) -> None:
        self.closed.append(reason)
        self.ending.set()


def middleware(run: RunOf, max_wait_s: float = 60.0) -> IdentityMiddleware:
    return IdentityMiddleware(cast(Run, run), max_wait_s)


def marked(identities: Identities, tier: Tier = Tier.HTTP, **meta: Any) -> Request:
    request = Request("http://shop.example/p/1", meta={"tier": tier, **meta})
    assert middleware(RunOf(identities)).process_request(request) is None
    return request


def test_nothing_is_said_to_requests_of_a_run_that_has_one_plain_identity() -> None:
    assert marked(Identities()).meta == {"tier": Tier.HTTP}


def test_password_goes_into_the_header_alone_and_to_no_browser() -> None:
    plain = marked(Identities({Tier.HTTP: [A]}))
    assert (plain.meta["proxy"], plain.meta["cookiejar"]) == ("http://a.example:80", 1)
    assert plain.headers["Proxy-Authorization"] == b"Basic bWU6aHVzaA=="
    assert "hush" not in repr(plain.meta)
    rendered = marked(Identities({Tier.BROWSER: [A]}), Tier.BROWSER)
    assert rendered.meta["identity"].proxy == A
    assert "Proxy-Authorization" not in rendered.headers


def test_what_another_identity_left_in_a_request_is_replaced() -> None:
    identities = Identities({Tier.HTTP2: [A]})
    request = marked(identities, Tier.HTTP2)
    request.meta["tier"] = Tier.API
    middleware(RunOf(identities)).process_request(request)
    assert (request.meta["identity"], request.meta["proxy"]) == (Identity(2), None)
    assert "Proxy-Authorization" not in request.headers


def test_request_keeps_its_identity_as_long_as_that_serves() -> None:
    identities = Identities({Tier.HTTP: [A, Proxy("http", "b.example", 80)]}, rotate_after=1)
    request = marked(identities)
    first = request.meta["identity"]
    middleware(RunOf(identities)).process_request(request)
    assert (first.number, request.meta["identity"].number) == (1, 2)


def test_request_that_waits_goes_on_as_soon_as_a_proxy_is_acquitted() -> None:
    async def main() -> Request:
        identities = Identities({Tier.HTTP: [A]}, blocked_s=50)
        first = identities.of(Tier.HTTP)
        assert first is not None
        identities.blocked(first, Tier.HTTP)
        request = Request("http://shop.example/p/1")
        waiting = middleware(RunOf(identities)).process_request(request)
        assert waiting is not None
        task = asyncio.ensure_future(waiting)
        await asyncio.sleep(0)
        identities.acquit(first, Tier.HTTP)
        await asyncio.wait_for(task, 20)
        return request

    assert asyncio.run(main()).meta["identity"] == Identity(2, A)


@pytest.mark.parametrize(("max_wait_s", "ends"), [(0.0, False), (3600.0, True)])
def test_request_is_not_sent_when_the_wait_is_too_long_or_the_run_ends(max_wait_s: float, ends: bool) -> None:
    async def main() -> RunOf:
        identities = Identities({Tier.HTTP: [A]}, blocked_s=50)
        first = identities.of(Tier.HTTP)
        assert first is not None
        identities.blocked(first, Tier.HTTP)
        run = RunOf(identities)
        request = Request("http://shop.example/p/1", callback=print, errback=print)
        waiting = middleware(run, max_wait_s).process_request(request)
        assert waiting is not None
        if ends:
            asyncio.get_running_loop().call_later(0.01, run.ending.set)
        with pytest.raises(NotSent, match=r"1 of 1 proxies rest \(1 blocked\)"):
            await waiting
        assert request.errback is None
        return run

    run = asyncio.run(main())
    assert run.closed == ([] if ends else ["blocked"])
    assert len(run.notes) == (0 if ends else 1)
