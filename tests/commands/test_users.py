"""``scrapy users``."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from scrapy.settings import Settings

from storebot.commands.users import Command
from storebot.core.dashboard.roles import Role
from storebot.db import users
from storebot.db.database import Database

PASSWORD = "correct horse battery"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.db'}"


def run(url: str, *words: str) -> int:
    command, parser = Command(), argparse.ArgumentParser()
    command.settings = Settings({"STOREBOT_DATABASE_URL": url})
    command.add_options(parser)
    options = parser.parse_args([one for one in words if one.startswith("--") or one in ("viewer", "operator", "root")])
    command.run(
        [one for one in words if not one.startswith("--") and one not in ("viewer", "operator", "root")], options
    )
    return command.exitcode


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def found(url: str) -> list[users.User]:
    database = Database.open(url)
    with database.read() as conn:
        rows = users.find(conn)
    database.dispose()
    return rows


def test_a_user_is_added_with_a_password_that_is_hashed(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, f"{PASSWORD}\n")
    assert run(url, "add", "anna", "--role", "operator", "--password-stdin") == 0
    (anna,) = found(url)
    assert (anna.name, anna.role) == ("anna", Role.OPERATOR)
    assert anna.password_hash.startswith("$argon2id$")
    assert PasswordHasher().verify(anna.password_hash, PASSWORD)
    assert run(url, "list") == 0
    out = capsys.readouterr().out
    assert "anna is added as operator" in out
    assert PASSWORD not in out


def test_password_role_and_removal(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, f"{PASSWORD}\n")
    run(url, "add", "anna", "--password-stdin")
    (before,) = found(url)
    assert before.role is Role.VIEWER  # nobody may act by a slip
    typed(monkeypatch, "another long password\n")
    assert run(url, "password", "anna", "--password-stdin") == 0
    assert run(url, "role", "anna", "--role", "operator") == 0
    (after,) = found(url)
    assert after.role is Role.OPERATOR
    assert PasswordHasher().verify(after.password_hash, "another long password")
    assert run(url, "remove", "anna", "--dry-run") == 0
    assert len(found(url)) == 1
    assert run(url, "remove", "anna") == 0
    assert found(url) == []


@pytest.mark.parametrize(
    ("words", "text", "why"),
    [
        (["add", "anna", "--password-stdin"], "short\n", "12 to 256 characters"),
        (["add", "anna"], "", "there is no terminal to ask for the password"),
        (["add", "a b", "--password-stdin"], f"{PASSWORD}\n", "expected up to 64 letters"),
        (["add", "anna", "--role", "root", "--password-stdin"], f"{PASSWORD}\n", "role 'root'"),
        (["add"], "", "expected list, or add"),
        (["shout", "anna"], "", "expected list, or add"),
        (["remove", "ben"], "", "user ben: there is none"),
        (["role", "ben"], "", "say which, --role viewer or --role operator"),
    ],
)
def test_wrong_use_is_exit_2_and_writes_nothing(
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    text: str,
    why: str,
) -> None:
    Database.open(url).dispose()
    typed(monkeypatch, text)
    assert run(url, *words) == 2
    assert why in capsys.readouterr().err
    assert found(url) == []
