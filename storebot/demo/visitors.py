"""Who asks: what a shop can tell of a client, and how it tells one identity from the next."""

from __future__ import annotations

from storebot.demo.answers import Asked

COOKIE = "visitor"


class Visitors:
    """Numbers visitors from 1, in the order in which they came.

    A visitor is known again by the cookie that holds its number. Who comes without it is new if the address is; at a
    known address it is the one that came from there last (it asked before its cookie could arrive), but for one who
    asks again for what that one was refused: that is somebody with a new cookie jar.
    """

    def __init__(self) -> None:
        self._count = 0
        self._last: dict[str, int] = {}  # address -> visitor
        self._refused: set[tuple[int, str]] = set()

    def number(self, asked: Asked) -> int:
        """Return the number of whoever sent this request."""
        cookie = asked.cookies.get(COOKIE, "")
        if cookie.isdecimal() and 1 <= int(cookie) <= self._count:
            return int(cookie)
        last = self._last.get(asked.address)
        if last is None or (last, asked.path) in self._refused:
            self._count += 1
            last = self._last[asked.address] = self._count
        return last

    def refuse(self, number: int, path: str) -> None:
        """Remember that a visitor was refused a page."""
        self._refused.add((number, path))
