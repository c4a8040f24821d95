"""Which database errors pass by themselves, and a transaction that is tried again whole."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from orjson import JSONEncodeError
from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from storebot.db.addresses import without_secrets
from storebot.exceptions import SaveFailed

if TYPE_CHECKING:
    from storebot.db.database import Database

logger = logging.getLogger(__name__)
T = TypeVar("T")

WAITS_S = (0.1, 0.4, 1.5, 4.0)  # between five tries: longer than a fail-over's blink, shorter than a lease
SPOILED = (
    DataError,
    IntegrityError,
    UnicodeError,
    OverflowError,
    JSONEncodeError,
)  # one row is at fault, not the database

_SQLITE = frozenset({5, 6})  # busy, locked: https://sqlite.org/rescode.html
_MYSQL = frozenset(  # connections, lock waits, deadlock, gone away; and a savepoint that a deadlock took along
    {1040, 1053, 1205, 1213, 1305, 1927, 2002, 2003, 2006, 2013, 2055, 4031}
)
_POSTGRESQL = frozenset({"40001", "40P01", "55P03", "57P01", "57P02", "57P03", "53300"})  # and class 08: connections


def is_transient(error: BaseException) -> bool:
    """Whether the same transaction may well succeed when it's tried again. Told by code: drivers move their classes."""
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    original = error.orig
    sqlite_code = getattr(original, "sqlite_errorcode", None)
    if sqlite_code is not None:
        return (sqlite_code & 0xFF) in _SQLITE
    code = original.args[0] if original is not None and original.args else None
    if isinstance(code, int):  # only pymysql's errors begin with a number
        return code in _MYSQL
    state = getattr(original, "sqlstate", None)
    if state is None:  # psycopg, before a server answered
        return "connection" in str(original)
    return state in _POSTGRESQL or str(state).startswith("08")


def retrying(
    database: Database, work: Callable[[Connection], T], *, waits_s: Sequence[float] = WAITS_S, writes: bool = True
) -> T:
    """Run ``work`` in a transaction of its own, and the whole of it again after an error that passes by itself.

    Raises `SaveFailed` when the tries are used up or the error won't pass; errors of a row (`SPOILED`) and our own
    come through unchanged. In all cases the transaction was rolled back whole.
    """
    for tried in range(len(waits_s) + 1):
        try:
            with database.write() if writes else database.read() as conn:
                return work(conn)
        except SPOILED:
            raise
        except SQLAlchemyError as error:
            cause = explained(error, database)
            if not is_transient(error):
                raise SaveFailed(f"{database}: {cause}; nothing of this transaction is saved") from error
            if tried == len(waits_s):
                raise SaveFailed(
                    f"{database}: {cause}, {tried + 1} times; nothing of this transaction is saved"
                ) from error
            logger.warning("%s: %s; trying the transaction again in %.1f s", database, cause, waits_s[tried])
            time.sleep(waits_s[tried])
    raise AssertionError("unreachable")


def explained(error: BaseException, database: Database) -> str:
    """Return the driver's own words, in one line without secrets."""
    original = error.orig if isinstance(error, DBAPIError) else error
    return f"{type(original).__name__}: {without_secrets(str(original), database.url)}"
