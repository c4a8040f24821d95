"""A measured run is charged what it used, and one that fails or says nothing isn't a measurement."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.measure import RunFailed, run


def python(code: str, tmp_path: Path, timeout_s: float = 60) -> dict[str, object]:
    return run([sys.executable, "-S", "-c", code], env={}, cwd=tmp_path, timeout_s=timeout_s).summary


def test_usage_holds_the_cpu_of_all_threads_and_the_peak(tmp_path: Path) -> None:
    code = """
import threading, time
def burn():
    until = time.thread_time() + 0.15
    while time.thread_time() < until: pass
threads = [threading.Thread(target=burn) for _ in range(2)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
data = bytearray(64 << 20)
print('noise'); print('{"pages": 3}')
"""
    usage = run([sys.executable, "-S", "-c", code], env={}, cwd=tmp_path)
    assert usage.summary == {"pages": 3}
    assert usage.cpu_s >= 0.29
    assert usage.peak_rss_bytes > 64 << 20


def test_a_command_that_fails_is_told_with_what_it_wrote(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match=r"exit code 3 .*\n.*the reason"):
        python("import sys; sys.stderr.write('the reason'); sys.exit(3)", tmp_path)


def test_a_command_without_a_summary_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="no JSON summary"):
        python("print('done')", tmp_path)


def test_a_command_that_hangs_is_killed(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="exit code -9"):
        python("import time; time.sleep(60)", tmp_path, timeout_s=0.2)
