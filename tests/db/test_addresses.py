"""Database URLs: what is accepted, and that no message shows a password."""

from __future__ import annotations

import pytest

from storebot.db.addresses import database_url, shown, without_secrets
from storebot.exceptions import ConfigurationError


@pytest.mark.parametrize(
    ("text", "driver"),
    [
        ("sqlite:///shop.db", "sqlite+pysqlite"),
        ("mysql://u@h/d", "mysql+pymysql"),
        ("mariadb://u@h/d", "mysql+pymysql"),
        ("mariadb+pymysql://u@h/d", "mysql+pymysql"),
        ("postgres://u@h/d", "postgresql+psycopg"),
        ("postgresql://u@h/d", "postgresql+psycopg"),
        ("postgresql+psycopg://u@h/d", "postgresql+psycopg"),
    ],
)
def test_a_url_gets_the_driver_that_is_shipped_for_it(text: str, driver: str) -> None:
    assert database_url(text).drivername == driver


@pytest.mark.parametrize(
    "text", ["", "shop.db", "oracle://u:secret@h/d", "://u:secret@h", "sqlite://", "sqlite:///:memory:"]
)
def test_another_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        database_url(text)
    assert "secret" not in str(refused.value)
    assert "STOREBOT_DATABASE_URL" in str(refused.value)


def test_a_url_is_shown_without_password_and_query() -> None:
    url = database_url("postgresql://u:s3cret@h:1/d?password=other")
    assert shown(url) == "postgresql://u:***@h:1/d"


def test_a_drivers_message_loses_its_secrets_and_line_breaks() -> None:
    url = database_url("postgresql://u:s%40cret@h/d?sslpassword=other")
    assert without_secrets("no way\nfor s@cret, other", url) == "no way for ***, ***"
