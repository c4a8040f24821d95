"""Runs the oscar shop: its back office and its server, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

ROOT = Path(__file__).resolve().parents[2]
_DESK_S = 120.0
Edit = tuple[str, int, object]  # verb, the good's number, value (`desk.VERBS`)


class Offer(NamedTuple):
    """What a customer is to see on one page."""

    name: str
    price_minor: int | None
    currency: str | None
    availability: str


class OscarShop:
    """A shop in an empty folder, filled at once and served while it is entered: ``with OscarShop(folder) as shop``.

    ``url`` is its address, ``offers`` what it sells, by path. What its server says is in ``server.log`` of the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._log = folder / "server.log"
        self._environment = {
            **os.environ,
            "OSCAR_SHOP": str(folder),
            "DJANGO_SETTINGS_MODULE": "tests.live.oscar_shop.settings",
            # Oscar and its packages use what the next Django drops: nothing that these tests could mend.
            "PYTHONWARNINGS": "ignore",
        }
        self.offers = self._desk("open")

    def edit(self, *edits: Edit) -> None:
        """Change what is on sale, through oscar's models, while the server runs."""
        self.offers = self._desk("edit", json.dumps(edits))

    def __enter__(self) -> Self:
        with self._log.open("w") as log:
            self._server = subprocess.Popen(
                self._command("serve"),
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._server.stdout is not None
        if not (port := self._server.stdout.readline().strip()):
            self.__exit__()
            raise RuntimeError(f"the oscar shop's server didn't start:\n{self._log.read_text()}")
        self.url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        with self._server:  # closes its pipe and waits
            self._server.kill()

    def _desk(self, command: str, edits: str = "") -> dict[str, Offer]:
        done = subprocess.run(
            [*self._command("desk"), command],
            cwd=ROOT,
            env=self._environment,
            input=edits,
            capture_output=True,
            text=True,
            check=False,
            timeout=_DESK_S,
        )
        if done.returncode:
            raise RuntimeError(f"the oscar shop's desk failed:\n{done.stderr}")
        return {offer.pop("path"): Offer(**offer) for offer in json.loads(done.stdout)}

    def _command(self, module: str) -> Sequence[str]:
        return (sys.executable, "-m", f"tests.live.oscar_shop.{module}")
