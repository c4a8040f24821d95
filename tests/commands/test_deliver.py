"""``scrapy deliver``: a subscription's life, and exit codes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.settings import Settings

from storebot.commands.deliver import Command
from storebot.db.database import Database
from tests.webhooks.receiving import NAME, SECRET, Receiver, receiver, status, tell

__all__ = ["receiver"]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv(NAME, SECRET)
    return Settings({"STOREBOT_DATABASE_URL": f"sqlite:///{tmp_path / 'store.db'}", "STOREBOT_STORES": ""})


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    made = Database.open(settings["STOREBOT_DATABASE_URL"])
    yield made
    made.dispose()


def run(settings: Settings, *args: str) -> int:
    command = Command()
    command.settings = settings
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    parser.add_argument("args", nargs="*")
    opts = parser.parse_intermixed_args(list(args))
    command.run(opts.args, opts)
    return command.exitcode


def test_a_subscription_is_added_tried_served_replayed_and_removed(
    settings: Settings, database: Database, receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(settings, "list") == 0
    assert "Nobody is subscribed" in capsys.readouterr().out
    add = ("add", "--url", f"{receiver.url}/TOKEN", "--secret-env", NAME, "--allow-private", "--type", "changed")
    assert run(settings, *add, "--dry-run") == 0
    assert run(settings, *add) == 0
    assert run(settings, "test", "1") == 0
    assert receiver.messages()[0]["type"] == "storebot.test"
    receiver.script = [status(500)]
    assert run(settings, "test", "1") == 1
    assert capsys.readouterr().out.endswith("subscription 1: taken (204)\nsubscription 1: it answered 500\n")

    receiver.got.clear()
    ids = tell(database, 2)
    assert run(settings, "run") == 0
    assert run(settings, "run", "--json") == 0
    assert run(settings, "replay", "--subscription", "1", "--after", "1", "--dry-run") == 0
    assert run(settings, "replay", "--subscription", "1", "--after", "1") == 0
    receiver.script = [status(503)]
    assert run(settings, "run") == 3
    assert [one["id"] for one in receiver.changes()] == ids
    capsys.readouterr()
    assert run(settings, "list", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["receiver"], shown["types"], shown["taken"]) == ("http://127.0.0.1/***", ["changed"], 1)
    assert (shown["waiting"]["last_error"], shown["waiting"]["changes"]) == ("it answered 503", 1)
    assert run(settings, "list") == 0
    assert "TOKEN" not in capsys.readouterr().out
    assert run(settings, "remove", "1") == 0
    assert run(settings, "remove", "1") == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("send", "expected [list"),
        ("add --url https://x.example", "--secret-env NAME"),
        ("add --url https://x.example --secret-env NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE isn't set"),
        (f"add --url https://x.example --secret-env {NAME} --type sold", "--type sold: expected one of new"),
        (f"add --url https://x.example --secret-env {NAME} --field price", "--field price: expected one of name"),
        (f"add --url https://x.example --secret-env {NAME} --store boks", "boks"),
        (f"add --url https://x.example --secret-env {NAME} --batch 0", "expected 1 to 500"),
        ("test 7", "7 is no subscription's number"),
        ("replay --subscription 1", "--after SEQ"),
        ("run now", "run [--follow]"),
        ("run --dry-run", "what waits is in scrapy deliver list"),
    ],
)
def test_wrong_use_is_exit_2_with_a_sentence(
    settings: Settings, database: Database, capsys: pytest.CaptureFixture[str], words: str, why: str
) -> None:
    assert run(settings, *words.split()) == 2
    assert why in capsys.readouterr().err
