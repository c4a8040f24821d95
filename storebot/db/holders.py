"""Who holds a lease: a process, told apart from a later one that got the same number."""

from __future__ import annotations

import getpass
import os
import socket
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Holder:
    """One process of one machine since one boot. Parts that a system doesn't tell are empty."""

    host: str
    boot_id: str
    pid_namespace: str  # a container's process numbers are its own
    pid: int
    started: str  # clock ticks since boot, which no change of the clock moves

    def __str__(self) -> str:
        return f"{self.host}|{self.boot_id}|{self.pid_namespace}|{self.pid}|{self.started}"

    @classmethod
    def read(cls, text: str) -> Holder | None:
        """Read what `str` wrote; None for anything else."""
        parts = text.split("|")
        if len(parts) != 5 or not parts[3].isdecimal():
            return None
        return cls(parts[0], parts[1], parts[2], int(parts[3]), parts[4])


def person() -> str:
    """Return who runs this process, for a record of who did something: the name that it goes by."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # in a container, a user without a name
        return "unknown"


def this_process() -> Holder:
    """Return the process that calls."""
    return process(os.getpid())


def process(pid: int) -> Holder:
    """Return a process of this machine by its number."""
    boot = _PROC / "sys/kernel/random/boot_id"
    return Holder(
        host=socket.gethostname()[:64].replace("|", "_"),
        boot_id=boot.read_text().strip() if boot.exists() else "",
        pid_namespace=_pid_namespace(),
        pid=pid,
        started=_started(pid) or "",
    )


def is_alive(holder: Holder) -> bool:
    """Whether the process may still run: False only where its death is certain.

    Another host, another boot of this one or another container can't be looked into: their lease has to expire.
    """
    here = this_process()
    if (holder.host, holder.boot_id, holder.pid_namespace) != (here.host, here.boot_id, here.pid_namespace):
        return True
    if here.started:
        return _started(holder.pid) == holder.started
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _started(pid: int) -> str | None:
    """Return when a process started, by field 22 of its stat (proc_pid_stat(5)); None if it's gone or a zombie."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()  # its name comes before, in brackets, and may hold anything
    return None if fields[0] in "ZX" else fields[19]


def _pid_namespace() -> str:
    namespace = _PROC / "self/ns/pid"
    return os.readlink(namespace) if namespace.exists() else ""
