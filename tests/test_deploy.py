"""What lies in deploy/: each file is run, or checked by its own validator, or by what it names where there is none."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from storebot.core.jobs import VERDICTS, Verdict
from storebot.demo.running import DemoStore
from storebot.notify.recipients import VARIABLES
from tests.crawls.scrapy_process import ROOT, rows
from tests.crawls.watched import store_file

DEPLOY = ROOT / "deploy"
SCRAPY = str(Path(sys.executable).with_name("scrapy"))
UNITS = (
    "storebot-worker.service",
    "storebot-refresh@.service",
    "storebot-refresh@.timer",
    "storebot-dashboard.service",
)


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=5, page_size=5, sitemap_size=5) as shop:
        yield shop


@pytest.fixture
def machine(shop: DemoStore, tmp_path: Path) -> Path:
    """A machine's folders below one of ours; the store `acme` has a [schedule]."""
    stores = store_file(tmp_path, '[schedule]\nrefresh = "every 24h"', {"http://127.0.0.1:8400": shop.url})
    (stores / "demo").rename(stores / "acme")
    for name in ("var/lib/storebot", "var/log/storebot", "home/storebot/var"):
        (tmp_path / name).mkdir(parents=True)
    for name in (".venv", "storebot", "scrapy.cfg"):
        (tmp_path / "home" / "storebot" / name).symlink_to(ROOT / name)
    (tmp_path / "home" / "stores").symlink_to(stores)
    return tmp_path


def here(text: str, machine: Path) -> str:
    """Put the machine's folders, and this interpreter's scrapy, in the place of those of a real one."""
    moved = {"/opt/storebot/.venv/bin/scrapy": SCRAPY, "/etc/storebot/stores": str(machine / "stores")}
    for name in ("/var/lib/storebot", "/var/log/storebot"):
        moved[name] = f"{machine}{name}"
    for before, after in moved.items():
        text = text.replace(before, after)
    return text


def env_of(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"[A-Z_]+=", line))


def run(command: list[str], env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with nothing but this in its environment, as cron and systemd do."""
    least = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "STOREBOT_PROGRESS": "off"}
    return subprocess.run(command, env={**least, **env}, cwd=cwd, capture_output=True, text=True, timeout=120)


def settings_named(text: str) -> set[str]:
    return set(re.findall(r"\bSTOREBOT_[A-Z_]+", text))


def test_the_line_of_the_crontab_refreshes(machine: Path) -> None:
    text = here((DEPLOY / "crontab").read_text(), machine)
    (line,) = [line for line in text.splitlines() if re.match(r"[\d*]", line)]
    *when, command = line.split(None, 5)
    assert when == ["17", "3", "*", "*", "*"]
    env = env_of(text)
    done = run([env["SHELL"], "-c", command], env, machine)
    log = (machine / "var" / "log" / "storebot" / "acme.log").read_text()
    assert done.returncode == 0, log
    assert log.splitlines()[-1].startswith("refresh: checked=5 ")


def test_the_crontab_line_of_the_readme_refreshes(machine: Path) -> None:
    (line,) = re.findall(r"^    (17 3 \* \* \*  .*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    command = line.split(None, 5)[5]
    done = run(["/bin/sh", "-c", command], {"HOME": str(machine / "home")}, machine)
    log = (machine / "home" / "storebot" / "var" / "acme.log").read_text()
    assert done.returncode == 0, log
    assert log.splitlines()[-1].startswith("refresh: checked=5 ")


@pytest.mark.parametrize(
    ("unit", "option", "checked"),
    [("storebot-worker.service", " --once", "backfill"), ("storebot-refresh@.service", "", "refresh")],
)
def test_what_a_unit_starts_works(machine: Path, unit: str, option: str, checked: str) -> None:
    text = here((DEPLOY / unit).read_text(), machine)
    (command,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    env = env_of(here((DEPLOY / "storebot.env").read_text(), machine))
    done = run(shlex.split(command.replace("%i", "acme") + option), env, machine / "var" / "lib" / "storebot")
    assert done.returncode == 0, done.stderr
    database = machine / "var" / "lib" / "storebot" / "storebot.db"
    assert [(row["kind"], row["status"]) for row in rows(database, "SELECT * FROM runs")] == [(checked, "complete")]


def test_units_are_valid_by_systemd_s_own_word(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze isn't on this machine")
    for name in UNITS:
        text = (DEPLOY / name).read_text().replace("/opt/storebot/.venv/bin/scrapy", "/bin/true")
        (tmp_path / name.replace("@", "@acme")).write_text(text)
    units = [str(path) for path in tmp_path.iterdir()]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_alert_rules_are_valid_by_prometheus_s_own_word() -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool isn't on this machine: apt-get install prometheus")
    rules = DEPLOY / "prometheus" / "storebot-rules.yml"
    done = subprocess.run(["promtool", "check", "rules", str(rules)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_timer_s_service_calls_no_failure_what_is_none() -> None:
    """An overlap is no failure, and neither is what is left for a person or for the next run."""
    (codes,) = re.findall(r"^SuccessExitStatus=(.*)$", (DEPLOY / UNITS[1]).read_text(), re.MULTILINE)
    failures = (Verdict.FAILED, Verdict.MISUSED, Verdict.BLOCKED, Verdict.DONE)
    assert {int(code) for code in codes.split()} == {
        code for code, verdict in VERDICTS.items() if verdict not in failures and code != 130
    }


def test_the_compose_file_starts_a_worker_that_may_take_its_time_to_stop() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    services: dict[str, Any] = yaml.safe_load(text)["services"]
    worker = services["worker"]
    assert worker["build"]["dockerfile"] == "deploy/Dockerfile"
    assert (worker["stop_grace_period"], worker["restart"]) == ("90s", "unless-stopped")
    assert "ports" not in services["database"], "reachable by the worker alone"
    if shutil.which("docker") and not subprocess.run(["docker", "compose", "version"], capture_output=True).returncode:
        env = {**os.environ, "STOREBOT_DB_PASSWORD": "x"}
        command = ["docker", "compose", "-f", str(DEPLOY / "compose.yaml"), "config", "-q"]
        assert subprocess.run(command, env=env).returncode == 0


def test_the_image_has_all_that_it_copies_and_starts_a_command_that_is_there() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text()
    for line in re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE):
        for name in line.split():
            assert (ROOT / name).exists()
            assert f"!{name}" in ignored
    (command,) = re.findall(r"^CMD (.*)$", text, re.MULTILINE)
    name, verb = yaml.safe_load(command)
    assert name == "scrapy"
    assert (ROOT / "storebot" / "commands" / f"{verb}.py").exists()


def test_a_node_listens_on_this_machine_alone_and_asks_for_a_password() -> None:
    """Case Y06."""
    config = ConfigParser()
    config.read(DEPLOY / "scrapyd.conf")
    node = config["scrapyd"]
    assert node["bind_address"] == "127.0.0.1"
    assert node["username"]
    assert node["password"]
    assert node["jobstorage"].endswith("SqliteJobStorage")


def test_no_file_names_a_setting_that_does_not_exist() -> None:
    known = settings_named((ROOT / "storebot" / "settings.py").read_text())
    given = {"STOREBOT_DB_PASSWORD", "STOREBOT_STORES_DIR"}  # of the compose file itself
    given |= {*VARIABLES.values(), "STOREBOT_HEARTBEAT"}  # secrets, which are no settings
    for path in DEPLOY.iterdir():
        if path.is_file():
            assert settings_named(path.read_text()) <= known | given, path.name
