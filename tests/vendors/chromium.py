"""A real Chromium with its debugging port open: what stands behind every browser vendor of this folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Self

from tests.db.backends import missing

_START_S = 30.0
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium_path() -> str:
    """Return the Chromium of this machine; skip the test without one, or fail it where STOREBOT_REQUIRE names it."""
    found = os.environ.get("STOREBOT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        missing("chromium", "there is none on PATH, and STOREBOT_CHROMIUM names none")
    return found


class Chromium:
    """One running Chromium with a profile folder of its own; ``ws`` is its DevTools endpoint.

    ``arguments`` are more command line switches; ``proxy`` a URL without a password (``--proxy-server``).
    """

    def __init__(self, *arguments: str, proxy: str = "") -> None:
        self._folder = Path(mkdtemp(prefix="storebot-chromium-"))
        more = [*arguments, f"--proxy-server={proxy}", "--proxy-bypass-list=<-loopback>"] if proxy else list(arguments)
        command = [chromium_path(), *_FLAGS, *more, "--remote-debugging-port=0", f"--user-data-dir={self._folder}"]
        self.process = subprocess.Popen(
            [*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self.ws = self._endpoint()

    @property
    def port(self) -> int:
        """The port of its DevTools."""
        return int(self.ws.split("/")[2].rpartition(":")[2])

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self.process.poll() is None

    def _endpoint(self) -> str:
        """Wait until it says, in a file of its profile, where its DevTools are."""
        said = self._folder / "DevToolsActivePort"
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and self.running:
            if said.exists() and len(lines := said.read_text().splitlines()) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            time.sleep(0.02)
        self.kill()
        raise OSError(f"Chromium did not open its DevTools within {_START_S} s")

    def kill(self) -> None:
        """End it with all its processes, as a crash does, and remove its profile."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
