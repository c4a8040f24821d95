"""One database: opened at the right revision, with transactions to read and to write."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from storebot.db import migrate, sqlite
from storebot.db.addresses import EXTRAS, database_url, shown, without_secrets
from storebot.db.dialects import now_ms as now_ms
from storebot.db.schema import REVISION
from storebot.exceptions import ConfigurationError, DatabaseUnavailable

logger = logging.getLogger(__name__)


class Database:
    """A database that answers and has this version's tables. Made by `open`; safe to share between threads.

    `write` and `read` give a connection inside a transaction, which is committed when the block ends and rolled back
    when it raises. Keep a reading one short: on SQLite it keeps the log from being cut.
    """

    def __init__(self, url: URL, engine: Engine) -> None:
        self.url = url
        self._engine = engine
        self._writing = engine.execution_options(**{sqlite.WRITES: True})

    def __str__(self) -> str:
        return shown(self.url)

    @classmethod
    def open(cls, url: str, *, create: bool = True, require_absolute: bool = False) -> Database:
        """Connect, and see that the schema is this version's; an empty database gets it unless ``create`` is False.

        ``require_absolute`` refuses a relative SQLite path, whose meaning changes with the working directory.

        Raises `ConfigurationError` for a URL that can't be used, `DatabaseUnavailable` when nothing answers there or
        it's damaged, `NeedsMigration` when the schema is older or newer.
        """
        database = cls._connected(url, create=create, require_absolute=require_absolute)
        try:
            with database.explaining():
                with database.read() as conn:
                    revision = migrate.revision_of(conn)
                if revision is None and create:
                    with database.write() as conn:
                        migrate.create(conn, str(database))
                else:
                    migrate.check(revision, str(database))
        except BaseException:
            database._engine.dispose()
            raise
        return database

    @classmethod
    def _connected(cls, text: str, *, create: bool, require_absolute: bool) -> Database:
        url = database_url(text)
        if url.get_backend_name() != "sqlite":
            return cls(url, _served(url))
        path = Path(str(url.database))
        if require_absolute and not path.is_absolute():
            raise ConfigurationError(
                f"{shown(url)}: give an absolute path (sqlite:////…), the same from every directory"
            )
        if not create and not path.is_file():
            raise DatabaseUnavailable(f"{shown(url)}: no such file; a crawl makes it, or check STOREBOT_DATABASE_URL")
        return cls(url, _file(url, path.absolute()))

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a connection whose transaction may write; SQLite's write lock is taken at its start."""
        with self._writing.begin() as conn:
            yield conn

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection whose transaction only reads."""
        with self._engine.begin() as conn:
            yield conn

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Give a connection that reads, however long, what was committed when it read first, and nothing later."""
        served = self.url.get_backend_name() != "sqlite"  # there each transaction is one
        engine = self._engine.execution_options(isolation_level="REPEATABLE READ") if served else self._engine
        with engine.begin() as conn:
            yield conn

    def upgrade(self) -> None:
        """Run the migrations that are missing."""
        with self.explaining(), self.write() as conn:
            migrate.to_head(conn, str(self))

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn a driver's error into a `DatabaseUnavailable` that names the database and no password."""
        try:
            yield
        except DBAPIError as error:
            reason = without_secrets(str(error.orig), self.url)
            raise DatabaseUnavailable(f"{self} can't be used: {reason}") from error

    def dispose(self) -> None:
        """Close all connections; on SQLite cut the write-ahead log first, so that it doesn't grow from run to run."""
        if self.url.get_backend_name() == "sqlite" and Path(f"{self.url.database}-wal").exists():
            with self.explaining():
                sqlite.checkpoint(self._engine)
        self._engine.dispose()


def upgrade(url: str) -> str:
    """Bring the database at ``url`` to this version's revision, creating it if it's empty; return that revision."""
    database = Database._connected(url, create=True, require_absolute=False)
    try:
        database.upgrade()
    finally:
        database.dispose()
    return REVISION


def current_revision(url: str) -> str | None:
    """Return the revision of the database at ``url``; None where it's empty."""
    database = Database._connected(url, create=False, require_absolute=False)
    try:
        with database.explaining(), database.read() as conn:
            return migrate.revision_of(conn)
    finally:
        database.dispose()


def _engine(url: URL, **options: object) -> Engine:
    try:
        return create_engine(url, hide_parameters=True, **options)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(url.get_backend_name(), "storebot[all]")
        raise ConfigurationError(f"{shown(url)}: {error}; install it with `pip install '{extra}'`") from error


def _file(url: URL, path: Path) -> Engine:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseUnavailable(f"{shown(url)}: its folder can't be made: {error}") from error
    mounts = Path("/proc/mounts")
    kind = sqlite.network_file_system(path.resolve(), mounts.read_text()) if mounts.exists() else None
    if kind:
        logger.warning(
            "%s lies on a network file system (%s), where a write-ahead log can be corrupted: it's written slowly, "
            "without one; move it to a local disk, or use MariaDB or PostgreSQL",
            path,
            kind,
        )
    engine = _engine(url)
    sqlite.set_up(engine, wal=kind is None)
    return engine


def _served(url: URL) -> Engine:
    """Make the engine of a database server: READ COMMITTED, as claims and upserts need no more."""
    options: dict[str, object] = {"isolation_level": "READ COMMITTED", "pool_pre_ping": True}
    if url.get_backend_name() == "postgresql":
        return _engine(url, connect_args={"connect_timeout": 10}, **options)
    engine = _engine(url.update_query_dict({"charset": "utf8mb4"}), connect_args={"connect_timeout": 10}, **options)

    def on_connect(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        """Have values that don't fit refused instead of cut, and the clock free of summer time."""
        cursor = connection.cursor()
        cursor.execute("SET SESSION time_zone = '+00:00', sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')")
        cursor.close()

    event.listen(engine, "connect", on_connect)
    return engine
