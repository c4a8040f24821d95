"""Real Scrapyd nodes on loopback, which a checkout was deployed to by scrapyd-client."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from configparser import ConfigParser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storebot.jobs.nodes import Node
from tests.crawls.scrapy_process import ROOT
from tests.crawls.watched import wait_until

USER, PASSWORD = "storebot", "p@ss word"


@dataclass
class ScrapydNode:
    """One daemon: its folder has eggs, logs and queues."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, folder: Path, env: dict[str, str]) -> ScrapydNode:
        """Start a node with the configuration that deploy/scrapyd.conf gives, but for folders, port and password."""
        folder.mkdir(parents=True, exist_ok=True)
        port = _free_port()
        config = ConfigParser(interpolation=None)
        config.read(ROOT / "deploy" / "scrapyd.conf")
        own = {"http_port": str(port), "username": USER, "password": PASSWORD}
        config["scrapyd"].update({**own, **{f"{name}_dir": str(folder / name) for name in ("eggs", "logs", "dbs")}})
        with (folder / "scrapyd.conf").open("w") as file:
            config.write(file)
        with (folder / "daemon.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "scrapyd.__main__", f"--pidfile={folder / 'twistd.pid'}"],
                cwd=folder,
                env={**os.environ, **env},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        node = cls(folder, port, process)
        wait_until(node.answers)
        return node

    @property
    def api(self) -> Node:
        return Node(f"http://127.0.0.1:{self.port}", USER, PASSWORD)

    def answers(self) -> bool:
        with suppress(OSError):
            self.api.call("daemonstatus.json")
            return True
        return False

    def running(self) -> list[dict[str, Any]]:
        """Return the jobs that run, each with its ``id`` and ``pid``."""
        found: list[dict[str, Any]] = self.api.call("listjobs.json?project=storebot")["running"]
        return found

    def log_of(self, spider: str, job: str) -> str:
        return (self.folder / "logs" / "storebot" / spider / f"{job}.log").read_text()

    def kill(self) -> None:
        """Cut its power: the daemon and its crawls."""
        pids = [job["pid"] for job in self.running()]
        self.process.kill()
        self.process.wait()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """End the daemon, if it lives."""
        self.process.terminate()
        self.process.wait(10)


def deploy(checkout: Path, node: ScrapydNode) -> tuple[str, str]:
    """Run ``scrapyd-deploy`` in a checkout as docs/operating.md says; return the version, and what it said."""
    config = ConfigParser(interpolation=None)
    config.read(checkout / "scrapy.cfg")
    config["deploy"] = {"url": node.api.url, "project": "storebot", "username": USER, "password": PASSWORD}
    with (checkout / "scrapy.cfg").open("w") as file:
        config.write(file)
    asked = [sys.executable, "-m", "scrapy", "worker", "--deploy-version"]
    version = subprocess.run(asked, cwd=checkout, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    command = [str(Path(sys.executable).with_name("scrapyd-deploy")), "--version", version]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return version, done.stdout


def checkout(folder: Path, base_url: str) -> Path:
    """Copy what a deployment takes of this checkout, the demo store's file with another address."""
    folder.mkdir()
    for name in ("pyproject.toml", "setup.py", "scrapy.cfg", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "storebot", folder / "storebot", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "storebot" / "stores" / "demo" / "store.toml"
    path.write_text(path.read_text().replace("http://127.0.0.1:8400", base_url))
    return folder


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
