"""Bringing a database's schema to this version, and saying which one it has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, inspect, text

from storebot.db.dialects import family
from storebot.db.schema import REVISION, metadata, name_mysql_options
from storebot.exceptions import DatabaseUnavailable, NeedsMigration

_LOCK = 0x5704EB07  # any number that is ours: it keeps two processes from migrating one database at once


def revision_of(conn: Connection) -> str | None:
    """Return the revision that the database is at; None where it holds no table of storebot."""
    tables = set(inspect(conn).get_table_names())
    if "alembic_version" in tables:
        revision = conn.execute(text("SELECT version_num FROM alembic_version")).scalar()
        if revision is not None:
            return str(revision)
    taken = sorted(tables & set(metadata.tables))
    if taken:
        raise NeedsMigration(
            f"this database holds a table {taken[0]!r} that storebot's migrations didn't make: name an empty database"
        )
    return None


def check(revision: str | None, where: str) -> None:
    """Raise `NeedsMigration` unless ``revision`` is the one that this version works with."""
    if revision == REVISION:
        return
    if revision is not None and (not revision.isdecimal() or int(revision) > int(REVISION)):
        raise NeedsMigration(
            f"{where} is at revision {revision}, newer than {REVISION} of this storebot: install the newer version"
        )
    raise NeedsMigration(f"{where} is at revision {revision or 'none'}, not {REVISION}: run `scrapy db upgrade`")


def to_head(conn: Connection, where: str) -> None:
    """Run the migrations that are missing, inside the caller's write transaction; harmless where none is.

    One process does it at a time. On MariaDB/MySQL each CREATE commits by itself.
    """
    from alembic import command  # here, because it costs a tenth of a second that a run on a current schema needn't pay
    from alembic.config import Config

    with _alone(conn):
        revision = revision_of(conn)
        if revision == REVISION:
            return
        if revision is not None and (not revision.isdecimal() or int(revision) > int(REVISION)):
            check(revision, where)
        config = Config()
        config.set_main_option("script_location", "storebot.db:migrations")
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = conn
        command.upgrade(config, "head")


def create(conn: Connection, where: str) -> None:
    """Give an empty database the tables of this version, without the walk through its migrations (0.3 s of a start).

    A test holds the two ways to one schema.
    """
    with _alone(conn):
        revision = revision_of(conn)
        if revision is not None:  # another process was here first
            check(revision, where)
            return
        if family(conn) == "mysql":
            name_mysql_options()
        metadata.create_all(conn)
        conn.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        conn.execute(text("INSERT INTO alembic_version VALUES (:revision)"), {"revision": REVISION})


@contextmanager
def _alone(conn: Connection) -> Iterator[None]:
    """Keep other migrating processes out. SQLite's own write lock does so already."""
    if family(conn) == "postgresql":
        conn.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    if family(conn) != "mysql":
        yield
        return
    name = {"name": f"storebot-{conn.engine.url.database}"[:64]}
    if conn.execute(text("SELECT GET_LOCK(:name, 60)"), name).scalar() != 1:
        raise DatabaseUnavailable("another process has been migrating this database for a minute: try again")
    try:
        yield
    finally:
        conn.execute(text("SELECT RELEASE_LOCK(:name)"), name)
