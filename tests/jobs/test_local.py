"""Jobs as processes: in a group of their own, with a log, and nothing of them stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from storebot.db.holders import Holder, is_alive, process, this_process
from storebot.db.job_runs import JobRun
from storebot.exceptions import NotLaunched
from storebot.jobs import local
from storebot.jobs.launching import Ended
from storebot.jobs.local import LocalProcesses
from tests.crawls.watched import wait_until

RUN = JobRun(
    id=1,
    job_id=1,
    store="acme",
    kind="refresh",
    token="t",
    holder="",
    node="",
    log="",
    run_id=0,
    started_at=1_800_000_000_000,
    finished_at=None,
    exit_code=None,
    verdict="",
    reason="",
)


class FakeJob:
    """As much of a job as starting one takes."""

    id, store, kind, args = 7, "acme", "refresh", {"budget": "5"}


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], local.LocalAttempt]:
    """Start a piece of Python in the place of ``scrapy crawl …``."""

    def started(code: str) -> local.LocalAttempt:
        (tmp_path / "scrapy").mkdir(exist_ok=True)
        (tmp_path / "scrapy" / "__init__.py").touch()
        (tmp_path / "scrapy" / "__main__.py").write_text(code)
        places = LocalProcesses(tmp_path / "logs", options=["-s", "A=1"], env={"PYTHONPATH": str(tmp_path)})
        return places.start(FakeJob(), "0123456789")  # type: ignore[arg-type]

    return started


def ended(attempt: local.LocalAttempt) -> Ended:
    wait_until(lambda: attempt.ended() is not None)
    found = attempt.ended()
    assert found is not None
    return found


def test_it_is_the_command_that_a_person_would_type_and_its_output_is_a_file(
    start: Callable[[str], local.LocalAttempt],
) -> None:
    attempt = start("import os, sys\nprint(sys.argv[1:], os.environ['STOREBOT_JOB'])\nsys.exit('no such thing\\n\\n')")
    assert ended(attempt) == Ended(1, "no such thing")
    text = Path(attempt.log).read_text()
    assert "['crawl', 'refresh', '-a', 'store=acme', '-a', 'budget=5', '-s', 'A=1'] 0123456789" in text
    assert Path(attempt.log).parent.name == "acme"


def test_what_it_left_behind_ends_with_it(start: Callable[[str], local.LocalAttempt], tmp_path: Path) -> None:
    """Case F04: a browser that outlives its crawl."""
    left = tmp_path / "left"
    child = f"import subprocess\nopen({str(left)!r}, 'w').write(str(subprocess.Popen(['sleep', '60']).pid))"
    attempt = start(child)
    assert ended(attempt).exit_code == 0
    wait_until(lambda: not is_alive(process(int(left.read_text()))))


def test_stopped_it_hears_sigterm_and_killed_it_is_gone(start: Callable[[str], local.LocalAttempt]) -> None:
    attempt = start(
        "import signal, time\n"
        "signal.signal(15, lambda *_: print('heard', flush=True))\n"
        "print('up', flush=True)\n"
        "while True: time.sleep(0.01)\n"
    )
    wait_until(lambda: "up" in Path(attempt.log).read_text())
    attempt.stop()
    wait_until(lambda: "heard" in Path(attempt.log).read_text())
    assert attempt.ended() is None
    attempt.kill()
    assert ended(attempt).exit_code == -9
    attempt.stop()  # harmless


def test_a_log_that_can_t_be_made_is_no_attempt(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    with pytest.raises(NotLaunched, match="its log not made"):
        LocalProcesses(tmp_path / "logs").start(FakeJob(), "t")  # type: ignore[arg-type]


def test_the_process_of_a_dead_worker_is_found_and_stopped(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    places, holder = LocalProcesses(tmp_path), process(child.pid)
    orphan = places.adopt(replace(RUN, holder=str(holder)))
    assert orphan is not None
    assert orphan.ended() is None
    orphan.stop()
    child.wait(10)
    assert orphan.ended() == Ended(None)
    assert places.adopt(replace(RUN, holder=str(holder))) is None


def test_a_number_that_another_process_has_by_now_is_left_alone(tmp_path: Path) -> None:
    """Case F03."""
    reused = replace(this_process(), started="1")
    assert LocalProcesses(tmp_path).adopt(replace(RUN, holder=str(reused))) is None
    elsewhere: Holder = replace(this_process(), host="elsewhere")
    assert LocalProcesses(tmp_path).adopt(replace(RUN, holder=str(elsewhere))) is None


def test_old_logs_go(tmp_path: Path) -> None:
    for name, age_days in (("old", 31), ("new", 1)):
        path = tmp_path / "acme" / f"{name}.log"
        path.parent.mkdir(exist_ok=True)
        path.touch()
        at = time.time() - age_days * 86_400
        os.utime(path, (at, at))
    assert LocalProcesses(tmp_path).prune(30) == 1
    assert [path.name for path in (tmp_path / "acme").iterdir()] == ["new.log"]
