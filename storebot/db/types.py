"""Column types that mean the same on SQLite, MariaDB/MySQL and PostgreSQL."""

from __future__ import annotations

import hashlib
from typing import Any, TypeAlias

from sqlalchemy import BigInteger, Integer, Row, String, Text
from sqlalchemy import Connection as Connection  # for those who only hand one on
from sqlalchemy.types import TypeEngine

AnyRow: TypeAlias = Row[*tuple[Any, ...]]  # a row of whatever columns were selected

STORE_LENGTH = 64
URL_KEY_LENGTH = 1100  # with the store's name it stays below InnoDB's 3,072 bytes an index
WALK_LENGTH = 600  # in utf8mb4, with the store's name: the same limit
VARIANT_LENGTH = 255
STAGE_LENGTH = 64
GROUP_LENGTH = 255
ALERT_LENGTH = 200
PROXY_LENGTH = 320  # its address, and what tells it from others there
USER_LENGTH = 64
ORIGIN_LENGTH = 300  # a host name has 253 characters, an authority a port beside it


class _MediumText(Text):
    """MySQL's own type by its name: importing its dialect to say it would cost every start 30 ms."""

    __visit_name__ = "MEDIUMTEXT"


def key(length: int) -> TypeEngine[str]:
    """ASCII text that compares byte for byte: MySQL's default collation would merge ``/p/A`` and ``/p/a``."""
    return _by_bytes(length, "ascii")


def wide_key(length: int) -> TypeEngine[str]:
    """Text of any script that compares byte for byte; `bounded` cuts a value to ``length``."""
    return _by_bytes(length, "utf8mb4")


def _by_bytes(length: int, charset: str) -> TypeEngine[str]:
    in_mysql = String(length, collation=f"{charset}_bin")  # which says the character set, too
    in_postgresql = String(length, collation="C")
    return String(length).with_variant(in_mysql, "mysql", "mariadb").with_variant(in_postgresql, "postgresql")


def text() -> TypeEngine[str]:
    """Free text: up to 16 MB on MySQL, whose TEXT ends at 64 KB."""
    return Text().with_variant(_MediumText(), "mysql", "mariadb")


def identity() -> TypeEngine[int]:
    """A surrogate primary key: BIGINT, and INTEGER on SQLite, where only that makes the row's own id."""
    return BigInteger().with_variant(Integer, "sqlite")


def bounded(value: str, length: int) -> str:
    """Return ``value``; beyond ``length`` its start and a hash of the whole, so that it stays unique."""
    if len(value) <= length:
        return value
    digest = hashlib.sha256(value.encode(errors="backslashreplace")).hexdigest()
    return f"{value[: length - len(digest) - 1]}~{digest}"
