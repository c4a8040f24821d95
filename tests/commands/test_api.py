"""``scrapy api`` as a process: it says where it listens, answers, and ends at a signal."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from scrapy.settings import Settings

from storebot.commands.api import Command
from storebot.db.database import Database
from tests.crawls.scrapy_process import ROOT
from tests.db.shop import STORE, Worker


def test_it_serves_this_machine_until_it_is_told_to_stop(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    database = Database.open(url)
    Worker(database).known("1")
    database.dispose()
    command = [sys.executable, "-W", "error", "-m", "scrapy", "api", "--port", "0"]
    environ = {**os.environ, "STOREBOT_DATABASE_URL": url, "STOREBOT_API_TOKENS": ""}
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip().removesuffix("/openapi.json")
            with urlopen(f"{address}/v1/stores/{STORE}/listings", timeout=20) as answer:
                assert [one["name"] for one in json.load(answer)["data"]] == ["Mug"]
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


@pytest.mark.parametrize(
    ("tokens", "words", "why"),
    [
        ("", ["--host", "0.0.0.0"], "without a token the API is for this machine alone"),
        ("short", [], "token 1 has to be 20 ASCII characters"),
        ("", ["--port", "99999"], "--port 99999: expected a number from 0 to 65535"),
    ],
)
def test_what_must_not_be_served_is_exit_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tokens: str,
    words: list[str],
    why: str,
) -> None:
    monkeypatch.setenv("STOREBOT_API_TOKENS", tokens)
    url = f"sqlite:///{tmp_path / 'store.db'}"
    Database.open(url).dispose()
    command, parser = Command(), argparse.ArgumentParser()
    command.settings = Settings({"STOREBOT_DATABASE_URL": url})
    command.add_options(parser)
    command.run([], parser.parse_args(words))
    assert command.exitcode == 2
    assert why in capsys.readouterr().err
