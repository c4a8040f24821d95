"""The one request that a half-open circuit breaker lets through: its answer decides whether the run goes on."""

from __future__ import annotations

import logging

from scrapy.http import Request
from scrapy.http.request import NO_CALLBACK

from storebot.core.breaker import refuses
from storebot.db import pages
from storebot.items import PageType
from storebot.run import Run

logger = logging.getLogger(__name__)


async def answers_again(run: Run) -> bool:
    """Ask for the page that was read last, and nothing else; of a store of which none was, for one that was blocked.

    Without either it's the start page, which says less: shops block products and leave it open.

    True closes the breaker. False opens it again, for longer, and ends the run. A page that is gone is an answer.
    robots.txt is asked before it where no earlier run read it within a day.
    """
    assert run.crawler.engine is not None
    session = run.session
    name = run.store.name
    known = await session.call(pages.last_read, name) or await session.call(pages.first_blocked, name)
    request = Request(
        known or run.store.base_url,
        callback=NO_CALLBACK,
        dont_filter=True,
        meta={"page_type": PageType.PRODUCT if known else PageType.CATALOGUE, "probe": True, "dont_retry": True},
    )
    try:
        response = await run.crawler.engine.download_async(request)
    except Exception as error:  # whatever it was, the store gave no page
        problem = f"{type(error).__name__}: {error}"
    else:
        problem = f"HTTP {response.status}" if refuses(response.status) else ""
    if problem:
        run.shut(f"it said no before ({session.breaker.reason}), and its probe failed ({request.url}: {problem})")
        return False
    await session.call(session.close_breaker)
    logger.warning("%s: %s was answered: the circuit breaker is closed, the run goes on", run.store.name, request.url)
    return True
