"""Calling a watchdog that answers, refuses, or never says a word."""

from __future__ import annotations

import socket

import pytest

from storebot import heartbeat
from storebot.heartbeat import Pinging, ping
from tests.notify.receiving import http_receiver


def test_a_watchdog_gets_the_text_and_a_refusal_is_told_without_the_path() -> None:
    with http_receiver() as watchdog:
        url = f"http://127.0.0.1:{watchdog.port}/SECRET"
        assert ping(url, "refresh: checked=1") == ""
        watchdog.status = 404
        assert ping(url) == "HTTP 404"
    assert watchdog.bodies == [b"refresh: checked=1", b""]
    assert "SECRET" not in ping(url)
    assert ping(url) != ""


def test_nobody_waits_for_one_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        pinging = Pinging(f"http://127.0.0.1:{silent.getsockname()[1]}/")
        assert pinging.daemon
        pinging.start()
        pinging.join(10)
    assert pinging.error
    assert "timed out" in pinging.error
