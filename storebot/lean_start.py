"""What a start needn't do: imported first by the crawl command, before all that it is about.

Scrapy's TLS modules make three deprecated classes, and ask with ``inspect.stack()`` which module that is in. The answer
is looked up for every frame, in the sources and in all loaded modules: a tenth of a start. Here they are given the one
frame that they read.

The collector goes through all that was loaded, again and again, though what is loaded stays: so it looks seldom until
`storebot.run.process.tune` says how often.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def callers_alone() -> Iterator[None]:
    """Have ``inspect.stack()`` give the caller's caller alone, and that as its module, as long as the block lasts."""
    stack = inspect.stack

    def shallow(context: int = 1) -> list[tuple[ModuleType, ...]]:
        asking = sys._getframe(1)
        before = asking.f_back or asking
        return [(sys.modules[frame.f_globals["__name__"]],) for frame in (asking, before)]

    inspect.stack = shallow  # type: ignore[assignment]  # of what is asked for, getmodule() takes a module as well
    try:
        yield
    finally:
        inspect.stack = stack


gc.set_threshold(100_000, 10, 10)
with callers_alone():
    import scrapy.core.downloader.contextfactory  # noqa: F401
