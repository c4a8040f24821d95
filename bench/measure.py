"""Runs one command to its end, and says what it cost by the kernel's own account."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_POLL_S = 0.02
# ru_maxrss counts KiB on Linux and bytes on macOS. https://man7.org/linux/man-pages/man2/getrusage.2.html
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one process and its descendants cost, all threads and the start of the interpreter included."""

    cpu_s: float  # user + system
    wall_s: float
    peak_rss_bytes: int
    summary: dict[str, Any]  # the last line of stdout that is a JSON object


class RunFailed(RuntimeError):
    """Raised when a measured command fails, hangs or prints no summary: it holds the end of what it wrote."""


def run(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, timeout_s: float = 1800) -> Usage:
    """Run a command, wait for it, and return its usage. Raises RunFailed unless it exits 0 with a summary line.

    The peak of a child can't read lower than this process's own at the time of its start, so callers stay small.
    """
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        started = time.perf_counter()
        process = subprocess.Popen(
            argv, env=os.environ | dict(env), cwd=cwd, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
        )
        status, usage = _wait(process, timeout_s)
        wall_s = time.perf_counter() - started
        if status != 0:
            raise RunFailed(
                f"exit code {status} after {wall_s:.1f} s: {' '.join(argv)}\n{_tail(stdout)}{_tail(stderr)}"
            )
        summary = _last_object(stdout)
        if summary is None:
            raise RunFailed(f"no JSON summary on stdout: {' '.join(argv)}\n{_tail(stdout)}{_tail(stderr)}")
    return Usage(
        cpu_s=usage.ru_utime + usage.ru_stime,
        wall_s=wall_s,
        peak_rss_bytes=usage.ru_maxrss * _MAXRSS_UNIT,
        summary=summary,
    )


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> tuple[int, Any]:
    """Return the exit code and the rusage of a child, which is killed when its time is up."""
    deadline = time.monotonic() + timeout_s
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)  # Popen would look for the child again
            return process.returncode, usage
        if time.monotonic() > deadline:
            process.kill()
            deadline = float("inf")
        time.sleep(_POLL_S)


def _last_object(stream: IO[bytes]) -> dict[str, Any] | None:
    stream.seek(0)
    for line in reversed(stream.read().decode(errors="replace").splitlines()):
        if line.startswith("{"):
            value = json.loads(line)
            return value if isinstance(value, dict) else None
    return None


def _tail(stream: IO[bytes], size_bytes: int = 4_000) -> str:
    stream.seek(0)
    return stream.read()[-size_bytes:].decode(errors="replace")
