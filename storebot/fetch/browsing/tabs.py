"""The tabs of one visitor: lent for a visit each, and closed unless that went well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import BrowserContext

from storebot.fetch.browsing.gate import Gate
from storebot.fetch.browsing.rules import Rules
from storebot.fetch.browsing.tab import Tab

MOST_VISITS = 25  # of one tab: its process grows with each


class Tabs:
    """Tabs of a context. The pages of those that are idle are silent.

    ``gate`` is that of a browser with a network of its own.
    """

    def __init__(self, context: BrowserContext, gate: Gate | None = None) -> None:
        self.context, self._gate = context, gate
        self._idle: list[Tab] = []

    @asynccontextmanager
    async def lent(self, rules: Rules) -> AsyncIterator[Tab]:
        """Lend a tab for one visit; after an error, or a cancellation, it is closed."""
        tab = self._fit() or await self._opened(rules)
        rests = False
        try:
            yield tab
            rests = tab.visits < MOST_VISITS and await tab.rest()
        finally:
            if rests:
                self._idle.append(tab)
            else:
                await asyncio.shield(tab.close())

    async def close(self) -> None:
        """Close the idle ones."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(tab.close() for tab in idle))

    async def _opened(self, rules: Rules) -> Tab:
        tab = await Tab.open(self.context, rules)
        if self._gate is not None:
            self._gate.add(tab.frame)
        return tab

    def _fit(self) -> Tab | None:
        while self._idle:
            tab = self._idle.pop()
            if not tab.page.is_closed():
                return tab
        return None
