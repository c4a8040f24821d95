"""Telling a dead process from a living one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from storebot.db.holders import Holder, is_alive, this_process


def test_a_holder_is_read_back_from_its_text() -> None:
    assert Holder.read(str(this_process())) == this_process()


@pytest.mark.parametrize("text", ["", "host", "a|b|c|d|e", "a|b|c|1|2|3"])
def test_other_text_is_no_holder(text: str) -> None:
    assert Holder.read(text) is None


def test_this_process_lives() -> None:
    assert is_alive(this_process())


def test_a_process_that_ended_is_dead_even_before_its_parent_looks() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert child.stdin is not None
    running = replace(this_process(), pid=child.pid, started=_started(child.pid))
    assert is_alive(running)
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it's a zombie from here on
    assert not is_alive(running)
    child.wait()
    assert not is_alive(running)


def test_a_later_process_with_the_same_number_is_another() -> None:
    assert not is_alive(replace(this_process(), started="1"))


@pytest.mark.parametrize("part", ["host", "boot_id", "pid_namespace"])
def test_what_can_not_be_looked_into_counts_as_alive(part: str) -> None:
    elsewhere = replace(this_process(), pid=2**22 + 1, **{part: "elsewhere"})
    assert is_alive(elsewhere)


def _started(pid: int) -> str:
    from pathlib import Path

    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
