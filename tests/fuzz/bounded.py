"""A bound on the CPU time of a block of a test: fair on a busy machine, and it ends what would never end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TookTooLong(BaseException):
    """Raised in the block. No Exception, so that nothing under test takes it for one of its own errors."""


@contextmanager
def cpu_seconds(limit: float, what: object = "it") -> Iterator[None]:
    """Raise `TookTooLong` once the block has used ``limit`` seconds of this process's CPU time."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TookTooLong(f"{what!r:.300} took more than {limit} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
