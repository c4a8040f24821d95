"""What a visit put on the wire is counted, and nothing else: events as Chromium sends them, in its own orders."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.fetch.browsing.traffic import Traffic


def sent(name: str, kind: str = "Script", url: str = "http://shop.example/a.js") -> tuple[str, dict[str, Any]]:
    return "requestWillBeSent", {"requestId": name, "type": kind, "request": {"url": url}}


def wired(name: str) -> tuple[str, dict[str, Any]]:
    return "requestWillBeSentExtraInfo", {"requestId": name}


def answered(name: str, *, cached: bool = False) -> tuple[str, dict[str, Any]]:
    return "responseReceived", {"requestId": name, "response": {"fromDiskCache": cached}}


def refused(name: str) -> tuple[str, dict[str, Any]]:
    return "loadingFailed", {"requestId": name, "blockedReason": "inspector"}


def finished(name: str) -> tuple[str, dict[str, Any]]:
    return "loadingFinished", {"requestId": name, "encodedDataLength": 100}


COUNTED = {
    "answered": ([sent("1"), wired("1"), answered("1"), finished("1")], 1),
    "wire-first": ([wired("1"), sent("1"), finished("1")], 1),
    "answer-first": ([sent("1"), answered("1"), wired("1"), finished("1")], 1),
    "unanswered-at-the-end": ([sent("1"), wired("1")], 1),
    "page-without-server": ([sent("1", "Document")], 1),
    "failed": ([sent("1"), ("loadingFailed", {"requestId": "1", "errorText": "net::ERR_CONNECTION_RESET"})], 1),
    "redirected": ([sent("1"), wired("1"), sent("1"), wired("1"), finished("1")], 2),
    "left-out": ([sent("1", "Image"), refused("1")], 0),
    "left-out-and-untold-at-the-end": ([sent("1", "Image"), sent("2", "Image"), refused("2")], 0),
    "cached": ([sent("1"), answered("1", cached=True), finished("1")], 0),
    "cached-in-memory": ([sent("1"), ("requestServedFromCache", {"requestId": "1"}), finished("1")], 0),
    "not-of-the-wire": ([sent("1", "Image", "data:image/png;base64,iVBO")], 0),
}


@pytest.mark.parametrize(("events", "requests"), COUNTED.values(), ids=COUNTED)
def test_requests_are_those_on_the_wire(events: list[tuple[str, dict[str, Any]]], requests: int) -> None:
    traffic = Traffic(1000, lambda: None)
    for name, event in events:
        traffic.note(f"Network.{name}", event)
    before = traffic.requests
    traffic.close()
    assert (before, traffic.requests) == (requests, requests)
