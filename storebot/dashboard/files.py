"""Files of the worker and of crawls, shown as text: only below the folder that they belong to (case H04)."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

TAIL_BYTES = 64 * 1024
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Tail(NamedTuple):
    """The end of a text file, or why it isn't shown."""

    text: str = ""
    size_bytes: int = 0
    cut: bool = False  # whether there is more before it
    why_not: str = ""


def inside(folder: Path | None, path: str | Path) -> Path | None:
    """Return where a path leads, all links followed; None where that isn't below the folder, or nothing is there."""
    if folder is None:
        return None
    try:
        root, found = folder.resolve(), Path(path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):  # nothing there, a NUL in it, links in a circle
        return None
    return found if found.is_relative_to(root) and found != root else None


def tail(folder: Path | None, path: str, most: int = TAIL_BYTES) -> Tail:
    """Return the end of a log as text without control characters."""
    found = inside(folder, path)
    if found is None:
        return Tail(why_not="its file isn't in the folder of the worker's logs (STOREBOT_JOB_LOGS), or is gone by now")
    try:
        with open(found, "rb", opener=_unblocked) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                return Tail(why_not="it's no file")
            start = max(0, about.st_size - most)
            file.seek(start)
            text = file.read(most).decode(errors="replace")
    except OSError as error:
        return Tail(why_not=f"it can't be read: {error.strerror}")
    return Tail(printable(text.partition("\n")[2] if start else text), about.st_size, start > 0)


def printable(text: str) -> str:
    """Return text without what a terminal would obey; a carriage return is a new line."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


def _unblocked(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe that somebody put there must not be waited for
