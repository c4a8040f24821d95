"""Runs ``scrapy reparse`` and ``scrapy archive`` as a user does, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.crawls.scrapy_process import ROOT, pairs
from tests.inside import Place


@dataclass(frozen=True, slots=True)
class Done:
    """What one command gave."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def line(self) -> str:
        """The last line."""
        return self.stdout.rstrip("\n").rpartition("\n")[2]

    @property
    def fields(self) -> dict[str, str]:
        """Its key=value pairs, as text."""
        return pairs(self.line)

    @property
    def json(self) -> list[dict[str, Any]]:
        """The lines that are JSON objects."""
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]


def environment(place: Place, url: str = "") -> dict[str, str]:
    """Return the environment in which commands find what crawls of a place left; ``url`` is another database."""
    return {
        **os.environ,
        "STOREBOT_DATABASE_URL": url or f"sqlite:///{place.database}",
        "STOREBOT_STORES": str(place.stores or ""),
        "STOREBOT_ARCHIVE": str(place.database.parent / "pages"),
        "STOREBOT_SUMMARY": "",
    }


def start(place: Place, *args: str, url: str = "", cwd: Path = ROOT) -> subprocess.Popen[str]:
    """Start a command over the place's store; the caller waits for it, or kills it."""
    command = [sys.executable, "-m", "scrapy", *args, "--store", place.store]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=cwd, env=environment(place, url), stdout=pipe, stderr=pipe, text=True)


def run(place: Place, *args: str, url: str = "") -> Done:
    """Run a command to its end."""
    with start(place, *args, url=url) as process:
        stdout, stderr = process.communicate(timeout=120)
    return Done(process.returncode, stdout, stderr)
