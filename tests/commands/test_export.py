"""``scrapy export`` and ``scrapy changes``: arguments, exit codes, and what is told of an export."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from storebot.commands import changes, export
from storebot.core.alerts.message import Channel
from storebot.db import outbox
from storebot.db.database import Database
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings({"STOREBOT_DATABASE_URL": f"sqlite:///{tmp_path / 'store.db'}"})


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    made = Database.open(settings["STOREBOT_DATABASE_URL"])
    worker = Worker(made)
    worker.known("1")
    (target,) = worker.due()
    worker.save(parsed(target, listing(price_minor=2500), at=NOW + HOUR))
    yield made
    made.dispose()


def run(command: ScrapyCommand, settings: Settings, *args: str) -> int:
    command.settings = settings
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    parser.add_argument("args", nargs="*")
    opts = parser.parse_intermixed_args(list(args))
    command.run(opts.args, opts)
    return command.exitcode


def exported(settings: Settings, *args: str) -> int:
    return run(export.Command(), settings, *args)


def test_an_export_is_written_said_and_verified(
    settings: Settings, database: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "exports")
    assert exported(settings, "--store", STORE, "--format", "csv, jsonl,csv", "--out", out) == 0
    assert f"{STORE}: 1 rows of listings, partial (no crawl of this store has ended yet)" in capsys.readouterr().out
    assert exported(settings, "verify", f"{out}/{STORE}") == 0
    (file,) = Path(out).glob(f"{STORE}/*/listings.csv")
    file.write_text("")
    capsys.readouterr()
    assert exported(settings, "verify", str(file.parent), "--json") == 8
    assert "has 0 bytes" in json.loads(capsys.readouterr().out)["faults"][0]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--format", "doc"], "there is no format 'doc'"),
        (["--columns", "colour"], "listings have no column 'colour'"),
        (["--filter", "price<cheap"], "'cheap' is no number"),
        (["--since", "soon"], "--since soon: expected a time"),
        (["--store", "elsewhere"], "elsewhere: no run of such a store is in"),
    ],
)
def test_what_does_not_exist_is_exit_2_and_writes_nothing(
    settings: Settings,
    database: Database,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    args: list[str],
    says: str,
) -> None:
    assert exported(settings, "--store", STORE, "--out", str(tmp_path / "exports"), *args) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "exports").exists()


def test_a_store_has_to_be_named(settings: Settings) -> None:
    with pytest.raises(UsageError, match="--store NAME"):
        exported(settings, "--format", "csv")


def test_whoever_is_on_the_business_channel_is_told_of_it(
    settings: Settings, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOREBOT_ALERTS_BUSINESS", "json://127.0.0.1:9/a json://127.0.0.1:9/b")
    link = ["--link", "https://files.example/shops/"]
    assert exported(settings, "--store", STORE, "--out", str(tmp_path), "--tell", *link) == 0
    with database.read() as conn:
        told = outbox.waiting(conn)
    assert set(told) == {Channel.BUSINESS}
    with database.write() as conn:
        messages = [letter.message for letter in _letters(conn)]
    assert len(messages) == 2
    assert messages[0] == messages[1]
    assert messages[0].title == f"{STORE}: 1 rows of listings exported, partial"
    assert "no crawl of this store has ended yet\n\n1 active\n\nlistings.csv: 1 rows, " in messages[0].body
    assert f"\n\nhttps://files.example/shops/{STORE}/20" in messages[0].body


def _letters(conn: Any) -> list[outbox.Letter]:
    from storebot.notify.recipients import read_recipients

    recipients = read_recipients({"STOREBOT_ALERTS_BUSINESS": "json://127.0.0.1:9/a json://127.0.0.1:9/b"})
    return [
        letter
        for one in recipients[Channel.BUSINESS]
        for letter in outbox.due(conn, Channel.BUSINESS, one.id, 2**60, 9)
    ]


def test_changes_are_printed_after_a_number(
    settings: Settings, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(changes.Command(), settings, "--store", STORE, "--json") == 0
    (line,) = capsys.readouterr().out.splitlines()
    change = json.loads(line)
    assert change["fields"] == [{"field": "price_minor", "before": 1999, "after": 2500}]
    assert run(changes.Command(), settings, "--store", STORE, "--after", str(change["seq"])) == 0
    assert capsys.readouterr().out == ""
    assert run(changes.Command(), settings, "--store", STORE, "--limit", "1") == 0
    assert capsys.readouterr().out.endswith("price_minor: 1999 → 2500\n")
