"""What the three dialects say differently: the clock, and an insert that meets a row which is there already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Insert, Table, text

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

_CLOCK = {
    "sqlite": text("SELECT CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"),
    "mysql": text("SELECT CAST(ROUND(UNIX_TIMESTAMP(SYSDATE(3)) * 1000) AS SIGNED)"),
    "postgresql": text("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"),
}


def family(conn: Connection) -> str:
    """Return ``sqlite``, ``mysql`` (MariaDB too) or ``postgresql``."""
    name = conn.dialect.name
    return "mysql" if name == "mariadb" else name


def now_ms(conn: Connection) -> int:
    """Return the database's clock, in milliseconds since the epoch: the one clock that all machines share."""
    return int(conn.execute(_CLOCK[family(conn)]).scalar_one())


def insert_missing(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows whose key isn't there; leave those that are as they are. Other faults of a row still raise."""
    if rows:
        conn.execute(_upsert(family(conn), table, ()), rows)


def upsert(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows by their primary key, or give the row that is there all the values of the new one."""
    if rows:
        keys = {column.name for column in table.primary_key}
        changed = tuple(name for name in rows[0] if name not in keys)
        conn.execute(_upsert(family(conn), table, changed), rows)


def add_up(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows by their primary key, or add the numbers of each to the row that is there."""
    if rows:
        keys = {column.name for column in table.primary_key}
        added = tuple(name for name in rows[0] if name not in keys)
        conn.execute(_upsert(family(conn), table, added, adds=True), rows)


@lru_cache(maxsize=64)
def _upsert(dialect: str, table: Table, changed: tuple[str, ...], *, adds: bool = False) -> Insert:
    """Build it. MySQL does nothing by setting a key to itself: INSERT IGNORE would also cut values that don't fit.

    A dialect is imported where it is used: the other two would cost each start 0.1 s.
    """
    keys = [column.name for column in table.primary_key]
    if dialect == "mysql":
        from sqlalchemy.dialects.mysql import insert as mysql_insert

        into_mysql = mysql_insert(table)
        return into_mysql.on_duplicate_key_update(
            {name: _new_value(table, name, into_mysql.inserted[name], adds=adds) for name in changed}
            or {keys[0]: table.c[keys[0]]}
        )
    into = _other_insert(dialect, table)
    if not changed:
        return into.on_conflict_do_nothing()
    values = {name: _new_value(table, name, into.excluded[name], adds=adds) for name in changed}
    return into.on_conflict_do_update(index_elements=keys, set_=values)


def _new_value(table: Table, name: str, new: ColumnElement[Any], *, adds: bool) -> ColumnElement[Any]:
    return table.c[name] + new if adds else new


def _other_insert(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    if dialect == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        return sqlite_insert(table)
    from sqlalchemy.dialects.postgresql import insert as postgresql_insert

    return postgresql_insert(table)
