"""``scrapy db``: its answers and its exit codes."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from scrapy.settings import Settings

from storebot.commands.db import Command
from storebot.db.database import Database, current_revision
from storebot.db.schema import REVISION


def run(url: str, *args: str) -> int:
    command = Command()
    command.settings = Settings({"STOREBOT_DATABASE_URL": url})
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    parser.add_argument("args", nargs="*")
    opts = parser.parse_args(list(args))
    command.run(opts.args, opts)
    return command.exitcode


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.db'}"


def test_upgrade_makes_the_tables_and_says_so(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url, "upgrade") == 0
    assert f"is at revision {REVISION}" in capsys.readouterr().out
    assert current_revision(url) == REVISION


def test_check_counts_the_rows_of_a_sound_database(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    Database.open(url).dispose()
    assert run("sqlite:///other.db", "check", "--url", url) == 0
    out = capsys.readouterr().out
    assert "is sound" in out
    assert "0 pages" in out


def test_check_of_a_database_that_is_not_there_exits_8(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url, "check") == 8
    assert "no such file" in capsys.readouterr().err


def test_backup_writes_a_file(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Database.open(url).dispose()
    assert run(url, "backup", str(tmp_path / "copy.db")) == 0
    assert "bytes" in capsys.readouterr().out
    assert current_revision(f"sqlite:///{tmp_path / 'copy.db'}") == REVISION


@pytest.mark.parametrize("args", [[], ["downgrade"], ["backup"], ["upgrade", "now"]])
def test_anything_else_exits_2_with_the_usage(url: str, args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url, *args) == 2
    assert "usage: scrapy db upgrade | check | backup PATH" in capsys.readouterr().err


def test_a_server_is_backed_up_by_its_own_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("postgresql://u:s3cret@h/d", "backup", str(tmp_path / "copy")) == 2
    err = capsys.readouterr().err
    assert "pg_dump" in err
    assert "s3cret" not in err
