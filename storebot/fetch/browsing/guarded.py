"""A context in a browser that isn't ours, behind a guard of ours: if the browser can get at it at all."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from playwright.async_api import Browser, BrowserContext
from playwright.async_api import Error as PlaywrightError

from storebot.fetch.browsing.guard import Guard

_NOWHERE = ("169.254.0.1", 80)  # link-local: a guard never asks for it, whatever the shop is, and remembers that
_TRY_MS = 5_000


async def guarded(browser: Browser, guard: Guard, **how: Any) -> BrowserContext | None:
    """Return a new context whose one way out is the guard; None where the browser can't reach that.

    It runs on this machine as far as its address says, but may be in a container, whose loopback is another one.
    """
    context = await browser.new_context(proxy={"server": f"socks5://127.0.0.1:{guard.port}"}, **how)
    try:
        page = await context.new_page()
        with suppress(PlaywrightError):  # of course: it leads nowhere
            await page.goto(f"http://{_NOWHERE[0]}/", timeout=_TRY_MS)
        await page.close()
        if guard.failure(*_NOWHERE) is not None:
            return context
    except BaseException:
        await context.close()
        raise
    await context.close()
    return None
