"""Group commit: one thread with the only connection that writes, so that a crawl never waits for the database."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection

from storebot.db.database import Database
from storebot.db.retry import SPOILED, WAITS_S, explained, retrying
from storebot.exceptions import SaveFailed, StorebotError

logger = logging.getLogger(__name__)
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")


class Saver(Generic[R, S]):
    """Saves records in batches of ``max_rows``, or whatever came within ``max_wait_s`` of the first.

    A batch is one transaction: all of it or nothing. A record whose values the database refuses is replaced by what
    ``refused`` makes of it, so that it doesn't cost the others; where ``refused`` is missing or returns None, and for
    every error that doesn't pass by itself, saving is over: ``on_failed`` is called once, and what is submitted from
    then on is counted in ``lost`` and dropped. ``on_saved`` and ``on_failed`` run on the saver's thread.
    """

    def __init__(
        self,
        database: Database,
        save: Callable[[Connection, Sequence[R]], Sequence[S]],
        *,
        max_rows: int = 100,
        max_wait_s: float = 0.5,
        on_saved: Callable[[Sequence[S]], None],
        on_failed: Callable[[StorebotError], None],
        refused: Callable[[R, Exception], R | None] | None = None,
        weight: Callable[[R], int] = lambda record: 1,
        waits_s: Sequence[float] = WAITS_S,
    ) -> None:
        self._database, self._save, self._refused, self._waits_s = database, save, refused, waits_s
        self._max_rows, self._max_wait_s = max_rows, max_wait_s
        self._on_saved, self._on_failed = on_saved, on_failed
        self._weight = weight
        self._jobs: deque[_Record[R] | _Call] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._urgent = False  # a call waits, or `close` does
        self._pending = 0
        self._closed = False
        self.lost = 0
        self.failure: StorebotError | None = None
        # A process that is told to stop at once must not wait for it: what isn't committed is rolled back.
        self._thread = threading.Thread(target=self._work, name="storebot-saver", daemon=True)
        self._thread.start()

    @property
    def pending(self) -> int:
        """Records that were submitted and aren't committed yet, by their ``weight``: what back-pressure looks at."""
        return self._pending

    def submit(self, record: R) -> None:
        """Hand a record over and return at once. After a failure, or after `close`, it's counted as lost."""
        with self._lock:
            if self.failure is None and not self._closed:
                self._pending += self._weight(record)
                self._jobs.append(_Record(record))
                if len(self._jobs) in (1, self._max_rows):  # not for every record: a switch of threads costs as much
                    self._wake.notify()
                return
            self.lost += 1

    def call(self, verb: Callable[..., T], *args: Any) -> Future[T]:
        """Run ``verb(conn, *args)`` in a transaction of its own, after everything that was submitted before it.

        The future raises what the verb raises, or the failure that ended saving.
        """
        future: Future[T] = Future()
        with self._lock:
            if self.failure is None and not self._closed:
                self._jobs.append(_Call(verb, args, future))
                self._urgent = True
                self._wake.notify()
                return future
        future.set_exception(self.failure or SaveFailed(f"{self._database}: its saver is closed"))
        return future

    def flush(self) -> None:
        """Wait until everything submitted before is committed. Raises the failure that ended saving, if one did."""
        self.call(_nothing).result()

    def close(self) -> None:
        """Commit what was submitted, end the thread, and raise the failure that ended saving if one did."""
        with self._lock:
            self._closed = self._urgent = True
            self._wake.notify()
        self._thread.join()
        if self.failure is not None:
            raise self.failure

    def _work(self) -> None:
        """Take jobs until `close`; a batch is written when it's full, old enough, or in the way of a call."""
        while jobs := self._next_jobs():
            batch: list[R] = []
            for job in jobs:
                if isinstance(job, _Record):
                    batch.append(job.record)
                    if len(batch) >= self._max_rows:
                        self._commit(batch)
                else:
                    self._commit(batch)
                    self._run(job)
            self._commit(batch)

    def _next_jobs(self) -> list[_Record[R] | _Call]:
        """Wait for a full batch, for ``max_wait_s`` since its first record, or for a call; [] when all is done."""
        with self._wake:
            self._wake.wait_for(lambda: self._jobs or self._closed)
            self._wake.wait_for(lambda: len(self._jobs) >= self._max_rows or self._urgent, timeout=self._max_wait_s)
            jobs = list(self._jobs)
            self._jobs.clear()
            self._urgent = self._closed
        return jobs

    def _commit(self, batch: list[R]) -> None:
        """Write the batch, empty it, and tell. Any error ends saving: a thread that died would hang the crawl."""
        records = batch.copy()
        batch.clear()
        if not records:
            return
        saved, failed = self._written(records)
        with self._lock:
            self._pending -= sum(map(self._weight, records))
            self.lost += 0 if saved is not None else len(records)
        try:
            if saved is not None:
                self._on_saved(saved)
        except Exception as error:
            failed = error
        if failed is not None:
            self._fail(failed)

    def _written(self, records: list[R]) -> tuple[Sequence[S] | None, Exception | None]:
        if self.failure is not None:
            return None, None
        try:
            return self._write(records), None
        except Exception as error:
            return None, error

    def _write(self, records: list[R]) -> Sequence[S]:
        try:
            return retrying(self._database, lambda conn: self._save(conn, records), waits_s=self._waits_s)
        except SPOILED as error:
            logger.warning("%s: a batch was refused and is saved one by one: %s", self._database, self._cause(error))
        return retrying(self._database, lambda conn: self._one_by_one(conn, records), waits_s=self._waits_s)

    def _one_by_one(self, conn: Connection, records: list[R]) -> list[S]:
        """Save each record behind a savepoint of its own, still in one transaction."""
        saved: list[S] = []
        for record in records:
            try:
                with conn.begin_nested():
                    saved += self._save(conn, [record])
            except SPOILED as error:
                logger.error("%s: one record was refused: %s", self._database, self._cause(error))
                instead = self._refused(record, error) if self._refused else None
                if instead is None:
                    raise SaveFailed(f"{self._database} refused a record: {self._cause(error)}") from error
                with conn.begin_nested():
                    saved += self._save(conn, [instead])
        return saved

    def _run(self, call: _Call) -> None:
        if not call.future.set_running_or_notify_cancel():
            return
        if self.failure is not None:
            call.future.set_exception(self.failure)
            return
        try:
            result = retrying(self._database, lambda conn: call.verb(conn, *call.args), waits_s=self._waits_s)
        except Exception as error:  # it's the caller's: the future carries it
            call.future.set_exception(error)
        else:
            call.future.set_result(result)

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, StorebotError):
            logger.error("%s: saving failed", self._database, exc_info=error)
            failure = SaveFailed(f"{self._database}: {self._cause(error)}; nothing of this batch is saved")
            failure.__cause__ = error
            error = failure
        with self._lock:
            self.failure = error
        self._on_failed(error)

    def _cause(self, error: Exception) -> str:
        return explained(error, self._database)


class _Record(Generic[R]):
    __slots__ = ("record",)

    def __init__(self, record: R) -> None:
        self.record = record


class _Call:
    __slots__ = ("args", "future", "verb")

    def __init__(self, verb: Callable[..., Any], args: tuple[Any, ...], future: Future[Any]) -> None:
        self.verb, self.args, self.future = verb, args, future


def _nothing(conn: Connection) -> None:
    """Do nothing: a call that returns when everything before it is committed."""
