"""What a crawl and the worker whose job it is tell each other through the database, where no exit code can."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from storebot.db import job_runs
from storebot.db.database import Database
from storebot.db.retry import retrying
from storebot.exceptions import StorebotError
from storebot.jobs.nodes import DEPLOY
from storebot.jobs.own_code import own_code

if TYPE_CHECKING:
    from storebot.core.summary import Summary

logger = logging.getLogger(__name__)
T = TypeVar("T")


def given_up(url: str, token: str) -> bool:
    """Whether the worker has closed the attempt, and say so: a Scrapyd node may come back with a job that is done.

    Without a ``token`` the crawl is nobody's job.
    """
    if not token:
        return False
    try:
        run = _within(url, partial(job_runs.of_token, token=token))
    except StorebotError as error:  # without tables there is no job; the crawl itself says what is wrong
        logger.debug("job %s isn't looked up: %s", token, error)
        return False
    if run is None or run.finished_at is None:
        return False
    print(f"job {run.job_id}: this attempt was given up before it began: nothing was fetched", file=sys.stderr)
    return True


def unlike(wanted: str) -> str:
    """Return in a sentence how this code isn't the one that the worker found on the node; "" where it is, or none is.

    The version on the node says which code it is; its name may have been given to another checkout, and where the node
    has storebot installed, too, that may have come first.
    """
    if not wanted or (code := own_code()) == wanted:
        return ""
    return f"this node runs code {code}, and the worker's is {wanted}: nothing was fetched; {DEPLOY}"


def note_end(url: str, token: str, code: int, summary: Summary | None = None, reason: str = "") -> None:
    """Tell the worker how the crawl ended: it may be on another machine, or dead."""
    if not token:
        return
    run_id, reason = (summary.run_id, summary.reason) if summary else (0, reason)
    try:
        _within(url, partial(job_runs.note_end, token=token, exit_code=code, run_id=run_id, reason=reason))
    except StorebotError as error:  # it's the worker's record alone: how the crawl itself ended stays so
        print(f"the end of this job couldn't be noted: {error}", file=sys.stderr)


def _within(url: str, work: Callable[..., T]) -> T:
    database = Database.open(url, create=False)
    try:
        return retrying(database, work)
    finally:
        database.dispose()
