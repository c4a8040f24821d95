"""Keeps the store and the claimed pages the run's own while it lasts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from storebot.db.session import Session
from storebot.exceptions import StorebotError
from storebot.identities import Identities
from storebot.request_ladder import RequestLadder


async def keep_lease(
    session: Session, ladder: RequestLadder, identities: Identities, on_failed: Callable[[StorebotError], None]
) -> None:
    """Extend the lease and the claims at a third of their life, until cancelled; ``on_failed`` is told of a lost one.

    What is known of the fetch tiers and of who rests is saved along with it.
    """
    while True:
        await asyncio.sleep(session.options.lease_s / 3)
        try:
            rests = identities.rests(session.now_ms())
            await session.call(session.keep, ladder.rungs, rests)
        except StorebotError as error:
            on_failed(error)
            return
