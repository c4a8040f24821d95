"""Alerts are tended beside other work, whatever happens to them."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from storebot.exceptions import DatabaseUnavailable
from storebot.notify.alerts_file import AlertsFile
from storebot.notify.minding import minding
from storebot.notify.tending import Tended, Tending

TENDING = Tending(file=AlertsFile(), recipients={})


def test_they_are_tended_again_after_any_failure_and_once_more_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[Exception] = [DatabaseUnavailable("it's locked"), KeyError("a bug")]
    tended: list[int] = []
    thrice = threading.Event()

    def tend(*_: Any) -> Tended:
        tended.append(len(tended))
        if failures:
            raise failures.pop(0)
        thrice.set()
        return Tended(0, 0, 0, 0, 0)

    with minding(None, TENDING, every_s=0.01, tend=tend):  # type: ignore[arg-type]  # no database is asked
        assert thrice.wait(10)
    at_the_end = len(tended)
    assert at_the_end >= 4
    assert "alerts weren't tended: it's locked" in caplog.text
    assert "KeyError: 'a bug'" in caplog.text
    assert not [thread for thread in threading.enumerate() if thread.name == "storebot-alerts"]
    assert len(tended) == at_the_end
