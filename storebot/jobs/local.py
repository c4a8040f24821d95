"""Jobs as processes of this machine: each its own, so that its memory goes with it, with a log file of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from storebot.core.job_kinds import command
from storebot.db.holders import Holder, is_alive, process
from storebot.db.job_runs import JobRun
from storebot.db.jobs import Job
from storebot.exceptions import NotLaunched
from storebot.jobs.launching import Ended

JOB = "STOREBOT_JOB"  # the environment variable by which a process learns whose attempt it is
_TAIL_BYTES = 4096
_REASON_LENGTH = 500


class LocalProcesses:
    """Starts ``scrapy …`` for each job. Logs are files below ``logs``, one folder a store."""

    def __init__(self, logs: Path, *, options: Sequence[str] = (), env: Mapping[str, str] | None = None) -> None:
        self._logs, self._options, self._env = logs, list(options), dict(env or {})

    def start(self, job: Job, token: str) -> LocalAttempt:
        """Start a job in a process group of its own: a Ctrl-C of a terminal reaches it through the worker alone."""
        words = [sys.executable, "-m", "scrapy", *command(job.kind, job.store, job.args), *self._options]
        now = datetime.now(UTC)
        log = self._logs / (job.store or "all") / f"{now:%Y%m%dT%H%M%S}-{job.kind}-{job.id}-{token[:8]}.log"
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("xb") as file:
                started = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **self._env, JOB: token},
                    start_new_session=True,
                )
        except OSError as error:
            raise NotLaunched(f"{job}: no process could be started, or its log not made: {error}") from error
        return LocalAttempt(started, log)

    def adopt(self, run: JobRun) -> Orphan | None:
        """Return the process of a dead worker's attempt, if it's one of this machine and lives."""
        holder = Holder.read(run.holder)
        if holder is None or run.node:
            return None
        here = process(holder.pid)
        if (holder.host, holder.boot_id, holder.pid_namespace) != (here.host, here.boot_id, here.pid_namespace):
            return None  # another machine's: its lease and its claim have to expire
        return Orphan(holder, run) if is_alive(holder) else None

    def prune(self, keep_days: int) -> int:
        """Delete logs that weren't written to for so many days; return how many."""
        before = (datetime.now(UTC) - timedelta(days=keep_days)).timestamp()
        old = [path for path in self._logs.glob("*/*.log") if path.stat().st_mtime < before]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)


class LocalAttempt:
    """A process that this worker started."""

    node = ""

    def __init__(self, started: subprocess.Popen[bytes], log: Path) -> None:
        self._process, self._path = started, log
        self.holder, self.log = str(process(started.pid)), str(log)

    def ended(self) -> Ended | None:
        """See `Attempt`. What the process left behind in its group, such as a browser, ends with it."""
        if self._process.returncode is None:
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT  # its number stays taken until the group has been told
            if os.waitid(os.P_PID, self._process.pid, options) is None:
                return None
            self.kill()
        code = self._process.wait()
        return Ended(code, "" if code == 0 else _last_line(self._path))

    def stop(self) -> None:
        """See `Attempt`: SIGTERM to the process alone, which looks after its own children."""
        self._process.terminate()

    def kill(self) -> None:
        """See `Attempt`."""
        if self._process.returncode is None:
            _kill_group(self._process.pid)


class Orphan:
    """A process of this machine whose worker died."""

    node = ""

    def __init__(self, holder: Holder, run: JobRun) -> None:
        self._holder = holder
        self.holder, self.log = run.holder, run.log

    def ended(self) -> Ended | None:
        """See `Attempt`; its exit code is known only if it noted it."""
        return None if is_alive(self._holder) else Ended(None)

    def stop(self) -> None:
        """See `Attempt`."""
        if is_alive(self._holder):
            os.kill(self._holder.pid, signal.SIGTERM)

    def kill(self) -> None:
        """See `Attempt`."""
        if is_alive(self._holder):
            _kill_group(self._holder.pid)


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # gone; on macOS a group of zombies says the latter
        return


def _last_line(log: Path) -> str:
    """Return the last line of a log that says something: a command's error, or a crawl's summary."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
        lines = [line for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:_REASON_LENGTH] if lines else ""
