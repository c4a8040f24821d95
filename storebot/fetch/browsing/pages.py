"""The beginning and the end of a tab: one that nobody waits for any more, or that doesn't want to close, is closed."""

from __future__ import annotations

import asyncio
import logging

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

logger = logging.getLogger(__name__)

CLOSE_S = 5.0  # for a page that doesn't want to


async def new_page(context: BrowserContext) -> Page:
    """Open a page; one that comes when nobody waits for it any more is closed at once."""
    opening = asyncio.ensure_future(context.new_page())
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_late)
        raise


async def closed(page: Page) -> None:
    """Close a page, whatever it wants; one that hangs is left behind, and dies with its browser."""
    try:
        async with asyncio.timeout(CLOSE_S):
            await page.close()
    except (PlaywrightError, TimeoutError) as error:  # its browser is gone, or about to be
        logger.debug("a page could not be closed: %s", error)


def _close_late(opening: asyncio.Future[Page]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        _LATE.add(closing := asyncio.ensure_future(closed(opening.result())))
        closing.add_done_callback(_LATE.discard)


_LATE: set[asyncio.Future[None]] = set()  # the loop itself holds no task
