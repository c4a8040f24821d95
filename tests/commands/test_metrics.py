"""``scrapy metrics``: served until a signal comes, printed, written, or refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from storebot.db.database import Database
from tests.crawls.scrapy_process import ROOT


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    Database.open(url).dispose()
    return {**os.environ, "STOREBOT_DATABASE_URL": url, "STOREBOT_ARCHIVE": "", "STOREBOT_STORES": ""}


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "scrapy", "metrics", *args]


def test_they_are_served_until_a_signal_comes(env: dict[str, str]) -> None:
    process = subprocess.Popen(command("--port", "0"), cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with urlopen(url, timeout=20) as answer:
            text = answer.read().decode()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    assert url.startswith("http://127.0.0.1:")
    assert "\nstorebot_up 1.0\n" in text


def test_they_are_printed_or_written_and_wrong_use_is_exit_2(env: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "storebot.prom"
    done = subprocess.run(
        command("--textfile", str(path)), cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert "storebot_build_info{" in path.read_text(encoding="utf-8")
    both = command("--textfile", str(path), "--port", "1")
    done = subprocess.run(both, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected --port N, or --textfile PATH" in done.stderr
