"""Tending alerts each minute beside other work, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from storebot.db.database import Database
from storebot.exceptions import DatabaseError
from storebot.notify.tending import Tended, Tending, tend

EVERY_S = 60.0
WAIT_S = 10.0  # for the last look: nobody holds up the end of a worker for a mail server

logger = logging.getLogger(__name__)


@contextmanager
def minding(
    database: Database,
    tending: Tending,
    *,
    every_s: float = EVERY_S,
    tend: Callable[[Database, Tending], Tended] = tend,
) -> Iterator[None]:
    """Tend as long as the block runs, at once and then each minute, and once more at its end.

    A database that doesn't answer is a line in the log: the next minute tries again. Anything else that goes wrong is
    logged with its traceback, as nobody waits for it.
    """
    over = threading.Event()

    def work() -> None:
        while True:
            last = over.is_set()
            try:
                tend(database, tending)
            except DatabaseError as error:
                logger.warning("alerts weren't tended: %s", error)
            except Exception:  # any: the thread must live as long as the worker does
                logger.exception("alerts weren't tended")
            if last:
                return
            over.wait(every_s)

    thread = threading.Thread(target=work, name="storebot-alerts", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(WAIT_S)
