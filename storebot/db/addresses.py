"""Database URLs: read with the driver that storebot ships for, and shown without their secrets."""

from __future__ import annotations

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from storebot.exceptions import ConfigurationError

_DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "mysql": "mysql+pymysql",
    "mariadb": "mysql+pymysql",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
}
EXTRAS = {"mysql": "storebot[mysql]", "postgresql": "storebot[postgresql]"}


def database_url(text: str) -> URL:
    """Read ``sqlite:///file``, ``mysql://…`` (MariaDB too) or ``postgresql://…``.

    Raises `ConfigurationError` for anything else. The text of the error never repeats the URL: it may hold a password.
    """
    try:
        url = make_url(text)
    except ArgumentError:
        raise ConfigurationError(
            "STOREBOT_DATABASE_URL is not a database URL: expected sqlite:///path/to/file.db, "
            "mysql://user:password@host/database or postgresql://user:password@host/database"
        ) from None
    backend = url.get_backend_name()
    if backend not in _DRIVERS:
        raise ConfigurationError(f"STOREBOT_DATABASE_URL: {backend!r} is not one of sqlite, mysql, mariadb, postgresql")
    if backend == "sqlite" and url.database in (None, "", ":memory:"):
        raise ConfigurationError(
            "STOREBOT_DATABASE_URL: name a file (sqlite:///storebot.db); a run outlives its memory"
        )
    return url if "+" in url.drivername and backend != "mariadb" else url.set(drivername=_DRIVERS[backend])


def shown(url: URL) -> str:
    """Return the URL as a person may read it: no driver, no password, and no query, which can hold one too."""
    return url.set(drivername=url.get_backend_name(), query={}).render_as_string(hide_password=True)


def without_secrets(text: str, url: URL) -> str:
    """Return a driver's message in one line, without the password wherever it appears."""
    line = " ".join(text.split())
    secrets = [str(url.password or ""), *(str(value) for value in url.query.values())]
    for secret in filter(None, secrets):
        line = line.replace(secret, "***")
    return line[:300]
