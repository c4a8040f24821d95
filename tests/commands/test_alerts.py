"""``scrapy alerts``: what it lists, whom it reaches, and its exit codes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from scrapy.settings import Settings
from sqlalchemy import update

from storebot.commands.alerts import Command
from storebot.db.database import Database
from storebot.db.dialects import now_ms
from storebot.db.schema import outbox
from storebot.items import RunStatus
from tests.notify.receiving import Receiver, http_receiver
from tests.notify.standing import STORE, ran
from tests.stores.writing import LEAST, written

WHO = ("STOREBOT_ALERTS_OPERATOR", "STOREBOT_ALERTS_BUSINESS")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A store whose last run was blocked, and nobody who is told."""
    for name in WHO:
        monkeypatch.delenv(name, raising=False)
    written(tmp_path, LEAST, STORE)
    url = f"sqlite:///{tmp_path / 'store.db'}"
    database = Database.open(url)
    with database.write() as conn:
        ran(conn, now_ms(conn) - 600_000, RunStatus.BLOCKED, reason="it says no")
    database.dispose()
    values = {
        "STOREBOT_DATABASE_URL": url,
        "STOREBOT_STORES": str(tmp_path),
        "STOREBOT_ALERTS": "",
        "STOREBOT_ARCHIVE": "",
    }
    return Settings(values)


def run(settings: Settings, *args: str) -> int:
    command = Command()
    command.settings = settings
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    parser.add_argument("args", nargs="*")
    opts = parser.parse_intermixed_args(list(args))
    command.run(opts.args, opts)
    return command.exitcode


def test_send_tells_whoever_the_environment_names_and_list_shows_what_is_open(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with http_receiver() as receiver:
        monkeypatch.setenv(WHO[0], f"json://127.0.0.1:{receiver.port}/SECRETTOKEN")
        assert run(settings, "send") == 0
        assert run(settings, "send", "--json") == 0
    assert [one["title"] for one in receiver.got] == ["acme: the shop blocks"]
    first, second = capsys.readouterr().out.splitlines()
    assert first == "alerts: 1 new, 0 over; messages: 1 written, 1 delivered, 0 not"
    assert json.loads(second)["sent"] == 0
    assert run(settings, "list", "--last", "5") == 0
    *_, alert, message = capsys.readouterr().out.splitlines()
    assert "acme   the shop blocks  told   run 1 was blocked: it says no" in alert
    assert message.endswith("operator sent: acme: the shop blocks")
    assert run(settings, "list", "--json") == 0
    assert json.loads(capsys.readouterr().out)["alert"]["kind"] == "blocked"


def test_a_test_reaches_each_recipient_and_says_which_it_did_not(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(settings, "test") == 2
    assert "set STOREBOT_ALERTS_OPERATOR or STOREBOT_ALERTS_BUSINESS to Apprise URLs" in capsys.readouterr().err

    def url(receiver: Receiver) -> str:
        return f"json://127.0.0.1:{receiver.port}/SECRETTOKEN"

    with http_receiver() as good, http_receiver() as bad:
        bad.status = 500
        monkeypatch.setenv(WHO[0], url(good))
        assert run(settings, "test") == 0
        monkeypatch.setenv(WHO[1], f"{url(good)} {url(bad)}")
        assert run(settings, "test") == 1
    out = capsys.readouterr().out
    assert [line.partition(": ")[0] for line in out.splitlines()] == ["operator", "operator", "business", "business"]
    assert "error=500" in out.splitlines()[-1]
    assert "SECRETTOKEN" not in out
    assert len(good.got) == 3


def test_retry_has_dead_letters_delivered(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with http_receiver() as receiver:
        receiver.status = 500
        monkeypatch.setenv(WHO[0], f"json://127.0.0.1:{receiver.port}/")
        assert run(settings, "send") == 0
        database = Database.open(settings["STOREBOT_DATABASE_URL"])
        with database.write() as conn:
            conn.execute(update(outbox).values(status="dead"))
        database.dispose()
        receiver.status = 200
        assert run(settings, "retry") == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("dead letters: 1 tried again; ")
    assert [one["title"] for one in receiver.got] == ["acme: the shop blocks"]


def test_a_dry_run_says_what_is_wrong_and_writes_nothing(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(settings, "send", "--dry-run") == 0
    assert capsys.readouterr().out == "acme: the shop blocks: run 1 was blocked: it says no\n"
    assert run(settings) == 0
    assert capsys.readouterr().out == "Nothing is wrong, as of the last look.\n"


@pytest.mark.parametrize("args", [("sent",), ("list", "more"), ("list", "--last", "-1")])
def test_wrong_use_is_exit_2(settings: Settings, args: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(settings, *args) == 2
    assert "expected one of list, test, send, retry" in capsys.readouterr().err
