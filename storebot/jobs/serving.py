"""The worker as a process: its loop, which sleeps until something happens, and what signals do to it."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from storebot.jobs.worker import Worker

POLL_S = 2.0  # how late a job may be claimed, or a wish be seen


def serve(worker: Worker, *, once: bool = False) -> None:
    """Run the worker until SIGTERM or Ctrl-C, or with ``once`` until nothing is due or under way.

    The first signal has the jobs that run here stop gracefully, a second kills them; either way they are due again at
    once, for the next worker. Those on nodes go on, and the next worker follows them.
    """
    caught: list[int] = []

    def on_signal(number: int, _: FrameType | None) -> None:
        caught.append(number)

    told = 0
    with _woken_by(on_signal) as pipe:
        while True:
            if len(caught) > told:
                told = len(caught)
                worker.stop()
            worker.tick()
            if worker.idle and (worker.stopping or once):
                return
            if len(caught) > told:
                continue
            if select.select([pipe], [], [], POLL_S)[0]:
                os.read(pipe, 4096)


@contextmanager
def _woken_by(on_signal: Callable[[int, FrameType | None], None]) -> Iterator[int]:
    """Give the end of a pipe that becomes readable when a signal comes or a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)}
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # ignored signals don't wake
    try:
        yield reading
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)
