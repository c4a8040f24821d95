"""``scrapy jobs``: what it shows, what it does, and its exit codes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from storebot.commands.jobs import Command, when
from storebot.core.jobs import Verdict
from storebot.core.schedule import Schedule
from storebot.db import job_claims, job_runs
from storebot.db.database import Database
from storebot.db.holders import this_process
from tests.stores.writing import LEAST, written


class Shell:
    """Runs the command over one database, and keeps what it printed."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        written(folder / "stores", f'{LEAST}[schedule]\nrefresh = "every 24h"\ntime_limit = "2h"\n')
        self.url, self._folder, self._capsys = f"sqlite:///{folder / 'store.db'}", folder, capsys

    def run(self, *args: str) -> tuple[int, str]:
        command = Command()
        command.settings = Settings(
            {"STOREBOT_DATABASE_URL": self.url, "STOREBOT_STORES": str(self._folder / "stores")}
        )
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        parser.add_argument("args", nargs="*")
        opts = parser.parse_intermixed_args(list(args))
        command.run(opts.args, opts)
        said = self._capsys.readouterr()
        return command.exitcode, said.out + said.err

    def listed(self, *args: str) -> list[dict[str, Any]]:
        code, said = self.run("list", "--json", *args)
        assert code == 0
        return [json.loads(line) for line in said.splitlines()]

    def fail(self) -> None:
        """Have the job run, and fail for good."""
        database = Database.open(self.url)
        with database.write() as conn:
            job = job_claims.claim(conn, "token", this_process(), 60)
            assert job is not None
            job_runs.note_start(conn, "token", log="acme.log")
            job_claims.finish(conn, job, Verdict.MISUSED, exit_code=2, reason="store.toml: no")
        database.dispose()


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, capsys)


def test_a_job_is_added_once_with_what_its_store_says(shell: Shell) -> None:
    assert shell.run("add", "refresh", "--store", "acme", "-a", "base_url=http://x/?a=b=c") == (
        0,
        "job 1 (refresh) is added and due now\n",
    )
    code, said = shell.run("add", "refresh", "--store", "acme")
    assert (code, "job 1 (refresh of acme) does that already" in said) == (7, True)
    (job,) = shell.listed()
    assert job["args"] == {"base_url": "http://x/?a=b=c"}, "a value may hold equal signs"
    assert (job["time_limit_s"], job["origin"], job["schedule"]) == (7200, "person", {"timezone": "UTC"})


def test_a_dry_run_says_the_same_and_does_nothing(shell: Shell) -> None:
    assert shell.run("add", "stage", "--dry-run") == (0, "job 1 (stage) would be added\n")
    assert shell.listed() == []
    shell.run("add", "stage")
    assert shell.run("pause", "1", "--dry-run") == (0, "job 1: would be paused\n")
    assert shell.listed()[0]["status"] == "pending"
    assert shell.run("add", "stage", "--dry-run")[0] == 7


def test_a_failed_one_is_shown_with_its_reason_and_retried(shell: Shell) -> None:
    shell.run("add", "refresh", "--store", "acme")
    shell.fail()
    code, said = shell.run()
    assert code == 0
    assert [word in said for word in ("failed", "misused", "1/5", "store.toml: no")] == [True] * 4
    code, said = shell.run("show", "1")
    assert "acme.log" in said
    assert json.loads(shell.run("show", "1", "--json")[1])["attempts"][0]["exit_code"] == 2
    assert shell.run("retry", "1") == (0, "job 1: due now\n")
    assert shell.listed()[0]["attempts"] == 0


def test_those_that_are_over_are_shown_when_asked_for(shell: Shell) -> None:
    shell.run("add", "stage")
    assert shell.run("cancel", "1") == (0, "job 1: cancelled\n")
    assert shell.listed() == []
    assert [job["status"] for job in shell.listed("--all")] == ["cancelled"]
    assert "There are no jobs" in shell.run()[1]


def test_all_of_a_store_are_paused_and_resumed(shell: Shell) -> None:
    for kind in ("refresh", "prune"):
        shell.run("add", kind, "--store", "acme")
    assert shell.run("pause", "--store", "acme")[0] == 0
    assert {job["status"] for job in shell.listed()} == {"paused"}
    code, said = shell.run("retry", "1")
    assert (code, said) == (
        7,
        "job 1 (refresh of acme) is paused: only a job that is failed or cancelled or done takes `retry`\n",
    )
    shell.run("resume", "--store", "acme")
    assert {job["status"] for job in shell.listed()} == {"pending"}


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("lst",), "expected one of list, show, add, run"),
        (("add",), "kinds: backfill, refresh"),
        (("add", "refesh", "--store", "acme"), "no kind of job 'refesh'"),
        (("add", "refresh"), "needs a store"),
        (("add", "refresh", "--store", "acme", "-a", "budgte=5"), "no argument 'budgte'"),
        (("add", "refresh", "--store", "amce"), "did you mean 'acme'?"),
        (("pause",), "which jobs?"),
        (("run", "x"), "expected numbers of jobs"),
        (("run", "99"), "no job 99"),
        (("show", "99"), "no job 99"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(shell: Shell, args: tuple[str, ...], why: str) -> None:
    shell.run("add", "stage")
    code, said = shell.run(*args)
    assert code == 2
    assert why in said
    assert len(said.splitlines()) == 1


def test_without_a_database_it_is_exit_8(shell: Shell) -> None:
    code, said = shell.run("list")
    assert (code, "no such file" in said) == (8, True)


@pytest.mark.parametrize(
    ("schedule", "shown"),
    [
        (Schedule(every_ms=86_400_000), "every 1d"),
        (Schedule(every_ms=5_400_000), "every 90m"),
        (Schedule(cron="17 3 * * *"), "17 3 * * *"),
        (Schedule(cron="17 3 * * *", timezone="Europe/Berlin"), "17 3 * * * Europe/Berlin"),
        (Schedule(), "once"),
    ],
)
def test_a_schedule_is_shown_as_the_file_says_it(schedule: Schedule, shown: str) -> None:
    assert when(schedule) == shown
