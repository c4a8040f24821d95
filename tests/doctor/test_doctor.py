"""What the doctor finds, what it says to do, and the exit code that follows."""

from __future__ import annotations

import argparse
import json
import socket
from pathlib import Path

import pytest
from scrapy.settings import Settings
from sqlalchemy import text

from storebot.commands.doctor import Command
from storebot.db.database import Database
from storebot.doctor import Check, Verdict, examine
from storebot.exceptions import ExitCode
from tests.notify.receiving import http_receiver
from tests.notify.standing import STORE, ran
from tests.stores.writing import LEAST, written

HOUR = 3_600_000


@pytest.fixture
def installation(tmp_path: Path) -> Settings:
    """An installation in which all is well, but that nobody is told of anything."""
    stores = tmp_path / "stores"
    written(stores, LEAST, STORE)
    url = f"sqlite:///{tmp_path / 'store.db'}"
    Database.open(url).dispose()
    values = {
        "STOREBOT_DATABASE_URL": url,
        "STOREBOT_STORES": str(stores),
        "STOREBOT_ARCHIVE": str(tmp_path / "pages"),
        "STOREBOT_FAILED_PAGES": "",
        "STOREBOT_JOB_LOGS": "",
        "STOREBOT_CONTACT": "ann@s.example",
        "STOREBOT_ALERTS": "",
        "STOREBOT_CHROMIUM": "",
        "STOREBOT_SCRAPYD_URLS": "",
    }
    return Settings(values)


def found(settings: Settings, name: str, **environ: str) -> list[Check]:
    """Return the checks of one name that aren't well."""
    return [one for one in examine(settings, environ) if one.name == name and one.verdict is not Verdict.OK]


def failed(settings: Settings, name: str, **environ: str) -> Check:
    """Return the one failure of a name."""
    (check,) = found(settings, name, **environ)
    assert check.verdict is Verdict.FAILURE
    assert check.advice
    return check


def run(settings: Settings, *args: str) -> int:
    command = Command()
    command.settings = settings
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    command.run([], parser.parse_args(args))
    return command.exitcode


def test_a_sound_installation_has_a_line_for_each_thing_and_exit_0(
    installation: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STOREBOT_ALERTS_OPERATOR", "STOREBOT_ALERTS_BUSINESS", "STOREBOT_HEARTBEAT"):
        monkeypatch.delenv(name, raising=False)
    assert run(installation, "--json") == 0
    checks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {check["name"] for check in checks} == {
        "versions", "extras", "database", "migrations", "clock", "disk", "permissions", "store files", "browser",
        "worker", "alerts",
    }  # fmt: skip
    assert [check["name"] for check in checks if check["verdict"] != "ok"] == ["alerts"]
    assert run(installation) == 0
    assert "ok       migrations    its tables are this version's" in capsys.readouterr().out


def test_old_tables_are_exit_8_with_the_command_that_upgrades_them(installation: Settings) -> None:
    database = Database.open(installation["STOREBOT_DATABASE_URL"])
    with database.write() as conn:
        conn.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    database.dispose()
    check = failed(installation, "migrations")
    assert "scrapy db upgrade" in check.advice
    assert check.code is ExitCode.DATABASE
    assert run(installation) == 8


def test_a_database_that_does_not_answer_shows_no_password(installation: Settings) -> None:
    installation.set("STOREBOT_DATABASE_URL", "postgresql://ann:SECRET@127.0.0.1:1/none")
    check = failed(installation, "database")
    assert check.code is ExitCode.DATABASE
    assert "127.0.0.1" in check.text
    assert "SECRET" not in repr(check)
    installation.set("STOREBOT_DATABASE_URL", "oracle://x")
    assert failed(installation, "database").code is ExitCode.USAGE


def test_a_clock_that_went_back_is_found_by_what_was_written(installation: Settings) -> None:
    database = Database.open(installation["STOREBOT_DATABASE_URL"])
    with database.write() as conn:
        ran(conn, 4_000_000_000_000)
    database.dispose()
    assert "it went back" in failed(installation, "clock").text


def test_a_full_disk_is_found_by_the_limit_of_the_alerts_file(installation: Settings, tmp_path: Path) -> None:
    path = tmp_path / "alerts.toml"
    path.write_text('[operator]\ndisk_free = "900000TB"\n')
    installation.set("STOREBOT_ALERTS", str(path))
    checks = found(installation, "disk")
    assert [check.text.split(" where ")[1].split(" is ")[0] for check in checks] == ["the database", "the page archive"]
    path.write_text("[operator]\ndisk = 1\n")
    assert "operator.disk: unknown key" in failed(installation, "alerts file").text


def test_a_folder_that_is_a_file_cannot_be_written(installation: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    installation.set("STOREBOT_FAILED_PAGES", str(tmp_path / "file" / "pages"))
    check = failed(installation, "permissions")
    assert check.text.startswith("failed pages: ")
    assert "STOREBOT_FAILED_PAGES" in check.advice


def test_broken_store_files_and_what_they_need_are_named(installation: Settings, tmp_path: Path) -> None:
    stores = tmp_path / "stores"
    written(stores, "base_url = 7\n", "broken")
    written(stores, f'{LEAST}[fetch]\ntiers = ["browser"]\n', "rendered")
    installation.set("STOREBOT_CHROMIUM", str(tmp_path / "no-chromium"))
    assert "base_url: expected an absolute" in failed(installation, "store files").text
    assert "rendered" in failed(installation, "browser").text


def test_proxies_are_tried_and_their_list_is_to_be_private(installation: Settings, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        stores = tmp_path / "stores"
        written(stores, f'{LEAST}[fetch.proxies]\nfile = {{http = "proxies.txt"}}\n', STORE)
        path = stores / STORE / "proxies.txt"
        path.write_text(f"http://ann:SECRET@127.0.0.1:{proxy.getsockname()[1]}\nhttp://ann:SECRET@127.0.0.1:1\n")
        path.chmod(0o644)
        (check,) = found(installation, "proxies")
        assert (check.verdict, check.text) == (
            Verdict.WARNING,
            "acme: 1 of 2 proxies that were tried don't answer: http://127.0.0.1:1",
        )
        (readable,) = found(installation, "permissions")
        assert readable.advice == f"chmod 600 {path}"
        path.chmod(0o600)
        assert found(installation, "permissions") == []
    path.write_text("nonsense://x\n")
    assert f"{path}:1:" in failed(installation, "proxies").text


def test_scrapyd_nodes_are_asked_and_no_password_is_shown(installation: Settings) -> None:
    installation.set("STOREBOT_SCRAPYD_URLS", "http://ann:SECRET@127.0.0.1:1")
    check = failed(installation, "scrapyd")
    assert check.text.startswith("http://127.0.0.1:1: ")
    assert "SECRET" not in repr(check)


def test_recipients_and_the_heartbeat_are_read(installation: Settings) -> None:
    with http_receiver() as receiver:
        url = f"json://127.0.0.1:{receiver.port}/SECRET"
        assert found(installation, "alerts", STOREBOT_ALERTS_OPERATOR=url) == []
        assert receiver.paths == [], "nothing is sent"
    assert "number 1 is no URL" in failed(installation, "alerts", STOREBOT_ALERTS_BUSINESS="SECRET").text
    check = failed(installation, "heartbeat", STOREBOT_HEARTBEAT="file:///SECRET")
    assert check.text == "STOREBOT_HEARTBEAT: expected an http:// or https:// URL"
