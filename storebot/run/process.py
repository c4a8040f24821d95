"""What a run does to the process that it has to itself: its memory, its collector, its signal handlers."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from storebot.lean import keep_memory


def tune() -> None:
    """Have memory kept and the collector look at little, once all is loaded that stays."""
    keep_memory()
    # What was loaded up to here stays; the collector need not look at it again. A full collection waits until a
    # quarter of what the last one left is new: without what is frozen, that is soon. The thresholds: a page leaves
    # some 25 objects in cycles, and what waits for a full collection is memory that grows with the store.
    gc.freeze()
    gc.collect()
    gc.set_threshold(10_000, 2, 1)


class Signals:
    """Remembers which signal asked for the end; ``on_signal`` is then called on the main thread."""

    def __init__(self, on_signal: Callable[[], None]) -> None:
        self.number = 0  # 0 until there is one
        self._on_signal = on_signal

    def note(self, loop: asyncio.AbstractEventLoop) -> None:
        """From now on remember which signal asked for the end, then do what Scrapy does with it."""
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if callable(before):
                signal.signal(number, partial(self._signalled, loop, before))

    def _signalled(
        self,
        loop: asyncio.AbstractEventLoop,
        before: Callable[[int, FrameType | None], Any],
        number: int,
        frame: FrameType | None,
    ) -> None:
        self.number = number
        loop.call_soon_threadsafe(self._on_signal)
        before(number, frame)
