"""``scrapy dashboard`` as a process: it says where it listens, answers, ends at a signal, refuses what is unsafe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from storebot.core.dashboard.roles import Role
from storebot.dashboard.serving import serve
from storebot.dashboard.site import Site
from storebot.db import users
from storebot.db.database import Database
from storebot.exceptions import ConfigurationError
from tests.crawls.scrapy_process import ROOT


def test_it_serves_this_machine_until_it_is_told_to_stop(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "scrapy", "dashboard", "--port", "0"]
    environ = {**os.environ, "STOREBOT_DATABASE_URL": f"sqlite:///{tmp_path / 'store.db'}", "STOREBOT_API_TOKENS": ""}
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            with urlopen(f"{address}/audit", timeout=20) as answer:
                assert "Nobody did anything yet" in answer.read().decode()
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


@pytest.mark.parametrize(
    ("host", "public_url", "has_user", "why"),
    [
        ("0.0.0.0", "", False, "without a user the dashboard is for this machine alone.*put TLS in front"),
        ("::", "", False, "scrapy users add NAME --role operator"),
        ("127.0.0.1", "https://dash.example", False, "add a user first"),
        ("127.0.0.1", "dash.example", True, "expected something like https://"),
        ("127.0.0.1", "https://dash.example/path", True, "expected something like https://"),
        ("127.0.0.1", "https://a@dash.example", True, "expected something like https://"),
    ],
)
def test_what_is_not_safe_is_refused(tmp_path: Path, host: str, public_url: str, has_user: bool, why: str) -> None:
    database = Database.open(f"sqlite:///{tmp_path / 'store.db'}")
    if has_user:
        with database.write() as conn:
            users.add(conn, "anna", Role.OPERATOR, "hash", by="root")
    site = Site(database=database, public_url=public_url)
    with pytest.raises(ConfigurationError, match=why):
        serve(site, host, 0, (), lambda url: pytest.fail(f"it serves at {url}"))
    database.dispose()
