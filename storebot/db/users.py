"""Users of the dashboard and their logins; passwords are hashed before they come here."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from sqlalchemy import Connection, delete, select, update

from storebot.core.dashboard.roles import Role
from storebot.db.dialects import now_ms
from storebot.db.schema import logins, users
from storebot.db.types import AnyRow
from storebot.exceptions import ConfigurationError

IDLE_MS = 12 * 3_600_000
LONGEST_MS = 7 * 24 * 3_600_000
_TOUCH_MS = 60_000  # a login's use is noted once a minute: not each page is a write


class User(NamedTuple):
    """Times are milliseconds; ``seen_at`` 0: never logged in."""

    name: str
    role: Role
    password_hash: str
    created_at: int
    created_by: str
    seen_at: int


def any_user(conn: Connection) -> bool:
    """Whether there is a user: then nobody comes in without a login."""
    return conn.execute(select(users.c.name).limit(1)).first() is not None


def find(conn: Connection) -> list[User]:
    """Return all users by name."""
    return [_user(row) for row in conn.execute(select(users).order_by(users.c.name))]


def named(conn: Connection, name: str) -> User | None:
    """Return a user; None where there is none of this name."""
    row = conn.execute(select(users).where(users.c.name == name)).one_or_none()
    return _user(row) if row else None


def add(conn: Connection, name: str, role: Role, password_hash: str, *, by: str) -> None:
    """Add a user. Raises ConfigurationError where the name is taken."""
    if named(conn, name) is not None:
        raise ConfigurationError(f"user {name}: is there already; scrapy users password {name} sets another password")
    now = now_ms(conn)
    row = {"name": name, "role": role.value, "password_hash": password_hash, "created_at": now, "created_by": by}
    conn.execute(users.insert(), {**row, "password_at": now, "seen_at": 0})


def set_password(conn: Connection, name: str, password_hash: str) -> None:
    """Set another password, and end the user's logins."""
    _change(conn, name, {"password_hash": password_hash, "password_at": now_ms(conn)})
    conn.execute(delete(logins).where(logins.c.user == name))


def set_role(conn: Connection, name: str, role: Role) -> None:
    """Let a user do more, or less, from now on."""
    _change(conn, name, {"role": role.value})


def remove(conn: Connection, name: str) -> None:
    """Remove a user, and end its logins."""
    conn.execute(delete(logins).where(logins.c.user == name))
    if not conn.execute(delete(users).where(users.c.name == name)).rowcount:
        raise _unknown(name)


def log_in(conn: Connection, name: str, token: str) -> None:
    """Begin a login under a token; logins that are over are forgotten."""
    now = now_ms(conn)
    conn.execute(delete(logins).where((logins.c.used_at < now - IDLE_MS) | (logins.c.created_at < now - LONGEST_MS)))
    conn.execute(logins.insert(), {"token_hash": _hash(token), "user": name, "created_at": now, "used_at": now})
    conn.execute(update(users).where(users.c.name == name).values(seen_at=now))


def log_out(conn: Connection, token: str) -> None:
    """End a login."""
    conn.execute(delete(logins).where(logins.c.token_hash == _hash(token)))


def of_token(conn: Connection, token: str) -> tuple[User, bool] | None:
    """Return who logged in under a token, and whether `touch` is due; None where nobody did, or the login is over."""
    now = now_ms(conn)
    query = (
        select(users, logins.c.used_at)
        .join(logins, logins.c.user == users.c.name)
        .where(
            logins.c.token_hash == _hash(token),
            logins.c.used_at >= now - IDLE_MS,
            logins.c.created_at >= now - LONGEST_MS,
            logins.c.created_at >= users.c.password_at,
        )
    )
    row = conn.execute(query).one_or_none()
    return (_user(row), row.used_at < now - _TOUCH_MS) if row else None


def touch(conn: Connection, token: str) -> None:
    """Note that a login is in use."""
    conn.execute(update(logins).where(logins.c.token_hash == _hash(token)).values(used_at=now_ms(conn)))


def _change(conn: Connection, name: str, values: dict[str, object]) -> None:
    if not conn.execute(update(users).where(users.c.name == name).values(values)).rowcount:
        raise _unknown(name)


def _unknown(name: str) -> ConfigurationError:
    return ConfigurationError(f"user {name}: there is none; scrapy users list")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _user(row: AnyRow) -> User:
    return User(row.name, Role(row.role), row.password_hash, row.created_at, row.created_by, row.seen_at)
