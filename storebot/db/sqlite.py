"""How SQLite is set up: a write-ahead log, waiting writers, and transactions that take the write lock at once."""

from __future__ import annotations

import logging
from pathlib import Path, PurePath

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

logger = logging.getLogger(__name__)

WRITES = "storebot_writes"  # the execution option of a connection that will write
BUSY_TIMEOUT_MS = 10_000  # far above a group commit, which takes milliseconds
JOURNAL_LIMIT_BYTES = 64 * 2**20  # what a checkpoint leaves of the log on disk
LARGE_LOG_BYTES = 256 * 2**20
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "9p", "ceph", "glusterfs", "lustre", "ocfs2", "gpfs"}
    | {"davfs", "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.gcsfuse", "fuse.davfs2"}
)


def set_up(engine: Engine, *, wal: bool) -> None:
    """Have each connection of ``engine`` set up, and each transaction begun by us instead of by the driver.

    The driver would begin DEFERRED: a transaction that reads and then writes fails at once with "database is locked",
    without waiting (https://sqlite.org/lang_transaction.html). One that will write says BEGIN IMMEDIATE.
    """

    def on_connect(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        cursor.execute(f"PRAGMA journal_mode = {'WAL' if wal else 'DELETE'}")
        cursor.execute(f"PRAGMA synchronous = {'NORMAL' if wal else 'FULL'}")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute(f"PRAGMA journal_size_limit = {JOURNAL_LIMIT_BYTES}")
        cursor.close()

    def on_begin(conn: Connection) -> None:
        conn.exec_driver_sql("BEGIN IMMEDIATE" if conn.get_execution_options().get(WRITES) else "BEGIN")

    event.listen(engine, "connect", on_connect)
    event.listen(engine, "begin", on_begin)


def checkpoint(engine: Engine) -> None:
    """Move the log into the file and cut it; warn where a reader that stays open has let it grow large."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute("PRAGMA busy_timeout = 100")  # never wait for a reader: the next run tries again
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        cursor.close()
    finally:
        connection.close()
    log = Path(f"{engine.url.database}-wal")
    size_bytes = log.stat().st_size if log.exists() else 0
    if size_bytes > LARGE_LOG_BYTES:
        logger.warning(
            "%s has grown to %d MB: a reader keeps an old snapshot open; close database browsers and dashboards",
            log,
            size_bytes >> 20,
        )


def network_file_system(path: PurePath, mounts: str) -> str | None:
    """Return the type of the network file system that the absolute ``path`` lies on by /proc/mounts, or None.

    A write-ahead log needs memory that all its users share: https://sqlite.org/wal.html
    """
    best, kind = -1, ""
    for line in mounts.splitlines():
        words = line.split()
        if len(words) < 3:
            continue
        mount = PurePath(words[1].replace("\\040", " "))
        if path.is_relative_to(mount) and len(mount.parts) >= best:
            best, kind = len(mount.parts), words[2]
    return kind if kind in _NETWORK else None
