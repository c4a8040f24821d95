"""``scrapy requeue``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from scrapy.settings import Settings

from storebot.commands.requeue import Command
from storebot.db.database import Database
from tests.db.shop import STORE
from tests.db.test_requeueing import failed


def run(url: str, *words: str) -> int:
    command, parser = Command(), argparse.ArgumentParser()
    command.settings = Settings({"STOREBOT_DATABASE_URL": url})
    command.add_options(parser)
    command.run([], parser.parse_args(words))
    return command.exitcode


def test_it_says_how_many_pages_are_due(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    database = Database.open(url)
    failed(database)
    database.dispose()
    assert run(url, "--store", STORE, "--blocked", "--dry-run") == 0
    assert "2" in capsys.readouterr().out
    assert run(url, "--store", STORE, "--blocked", "--errors", "--json") == 0
    assert 5 in json.loads(capsys.readouterr().out).values()


@pytest.mark.parametrize("words", [[], ["--store", STORE], ["--errors"]])
def test_without_a_store_or_a_kind_it_is_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert run(f"sqlite:///{tmp_path / 'store.db'}", *words) == 2
    assert "expected a store, and one of the three" in capsys.readouterr().err
