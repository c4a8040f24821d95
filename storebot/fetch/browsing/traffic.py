"""What one visit puts on the wire: requests and bytes, by the browser's own account."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

Event = dict[str, Any]

_ON_THE_WIRE = ("http:", "https:")


class Traffic:
    """Counts the events of DevTools' Network domain. https://chromedevtools.github.io/devtools-protocol/tot/Network/

    ``requests`` are those that were sent: what the cache answered and what was left out aren't, nor what the browser
    had only announced when the visit ended. ``size_bytes`` is compressed, heads included. ``decoded_bytes`` is what the
    page gets from it, and ``too_large`` is called once when that exceeds ``max_bytes``. Requests that were sent before
    it was made are nobody's.
    """

    COUNTS: ClassVar = (
        "Network.requestWillBeSent",
        "Network.requestWillBeSentExtraInfo",
        "Network.requestServedFromCache",
        "Network.responseReceived",
        "Network.dataReceived",
        "Network.loadingFinished",
        "Network.loadingFailed",
    )

    def __init__(self, max_bytes: int, too_large: Callable[[], None]) -> None:
        self.size_bytes = self.decoded_bytes = 0
        self._announced = 0
        self._max_bytes, self._too_large = max_bytes, too_large
        self._unfinished: dict[str, int] = {}  # request -> bytes so far
        self._on_the_wire: set[str] = set()  # requests of which that is known, maybe before they are announced
        of_requests = (self._sent, self._hit_the_wire, self._unsent)
        counters = (*of_requests, self._answered, self._received, self._finished, self._failed)
        self._counters: dict[str, Callable[[Event], None]] = dict(zip(self.COUNTS, counters, strict=True))

    @property
    def requests(self) -> int:
        """How many were sent by now."""
        return self._announced - self._held

    @property
    def _held(self) -> int:
        return sum(name not in self._on_the_wire for name in self._unfinished)

    def note(self, name: str, event: Event) -> None:
        """Count an event, one of `COUNTS`."""
        self._counters[name](event)

    def close(self) -> int:
        """Return the bytes received, those of requests that never finished included."""
        self.size_bytes += sum(self._unfinished.values())
        self._announced -= self._held
        self._unfinished.clear()
        return self.size_bytes

    def _sent(self, event: Event) -> None:  # each step of a redirect is a request
        if event["request"]["url"].startswith(_ON_THE_WIRE):
            self._announced += 1
            self._unfinished[event["requestId"]] = 0
            if event.get("type") == "Document":
                self._hit_the_wire(event)  # a try that finds no server is one, as with the other tiers
            self.size_bytes += int(event.get("redirectResponse", {}).get("encodedDataLength", 0))

    def _hit_the_wire(self, event: Event) -> None:  # DevTools says this of heads that are written to a connection
        self._on_the_wire.add(event["requestId"])

    def _failed(self, event: Event) -> None:
        if event.get("blockedReason"):
            self._unsent(event)
        else:
            self.size_bytes += self._unfinished.pop(event["requestId"], 0)

    def _unsent(self, event: Event) -> None:
        if self._unfinished.pop(event["requestId"], None) is not None:
            self._announced -= 1

    def _answered(self, event: Event) -> None:
        if event["response"].get("fromDiskCache"):
            self._unsent(event)
        self._hit_the_wire(event)

    def _received(self, event: Event) -> None:
        if event["requestId"] not in self._unfinished:
            return
        self._unfinished[event["requestId"]] += event["encodedDataLength"]
        was_fine = self.decoded_bytes <= self._max_bytes
        self.decoded_bytes += event["dataLength"]
        if was_fine and self.decoded_bytes > self._max_bytes:
            self._too_large()

    def _finished(self, event: Event) -> None:
        if self._unfinished.pop(event["requestId"], None) is not None:
            self.size_bytes += int(event["encodedDataLength"])
