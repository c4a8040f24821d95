"""The processes that read kept pages again, one a core, each with its own hold on the archive and no network."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from storebot.archive import Archive
from storebot.archive.rereading import page_of, read_again
from storebot.core.fingerprint import HASH_VERSION
from storebot.db.reparsing import Subject
from storebot.items import Outcome, Visit
from storebot.lean import keep_memory
from storebot.reparse.aside import packed
from storebot.reparse.ending import NOT_KEPT
from storebot.reparse.offline import forbid
from storebot.stores.model import Store

_PR_SET_PDEATHSIG = 1  # https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html
_AHEAD = 2  # chunks for each process: one that is read, one that waits


class Readings(NamedTuple):
    """What became of a chunk: how many pages it had, and their visits as `reparse.aside` packs them."""

    pages: int
    visits: bytes


class Workers:
    """Reads chunks of pages, in all processes at once: ``with Workers(store, path, count) as workers``.

    The processes are forked where the block begins: open no database and start no thread before it. Raises
    `ArchiveUnusable`.
    """

    def __init__(self, store: Store, archive: Path, count: int) -> None:
        Archive.read(archive).close()
        keep_memory()  # what is forked has it, too: a tenth of the time where pages need a tree
        self.count = count
        fork = multiprocessing.get_context("fork")  # the store has compiled rules and code, which can't be sent
        self._pool = ProcessPoolExecutor(count, mp_context=fork, initializer=_begin, initargs=(store, archive))

    def __enter__(self) -> Self:
        for begun in [self._pool.submit(os.getpid) for _ in range(self.count)]:
            begun.result()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def read(self, chunks: Iterable[Sequence[Subject]], *, every_s: float) -> Iterator[Readings | None]:
        """Yield the readings of chunks as they're ready, and None whenever none was for so long.

        No more chunks are taken than the processes need: memory doesn't grow with the store. Raises `BrokenProcessPool`
        where a process died.
        """
        source = iter(chunks)
        open_: dict[Future[bytes], int] = {}
        while True:
            while len(open_) < _AHEAD * self.count and (chunk := next(source, None)) is not None:
                open_[self._pool.submit(_read, chunk)] = len(chunk)
            if not open_:
                return
            done, _ = wait(open_, timeout=every_s, return_when=FIRST_COMPLETED)
            if not done:
                yield None
            for future in done:
                yield Readings(open_.pop(future), future.result())


class _Own:
    """What a process has of its own."""

    store: Store
    archive: Archive


def _begin(store: Store, archive: Path) -> None:
    _die_with_the_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the parent asks for the end when it's time
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # as the pool does where one of its processes died
    forbid()
    _Own.store, _Own.archive = store, Archive.read(archive)
    gc.freeze()
    gc.set_threshold(10_000, 5, 2)


def _die_with_the_parent() -> None:
    """Ask Linux to end this process when its parent is killed: it would wait for work for ever."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _read(chunk: Sequence[Subject]) -> bytes:
    """Return the visits of the pages of a chunk, packed; none of a page that isn't kept, and needn't be."""
    return packed([visit for subject in chunk if (visit := _visit(subject)) is not None])


def _visit(subject: Subject) -> Visit | None:
    target = subject.target
    kept = _Own.archive.at(subject.keys, target.fetched_at)
    if kept is not None:
        return read_again(_Own.store, page_of(kept), target)
    if (target.parser_version, target.hash_version) == (_Own.store.parser_version, HASH_VERSION):
        return None
    return Visit(target=target, at_ms=target.fetched_at, outcome=Outcome.SKIPPED, reason=NOT_KEPT, requests=0)
