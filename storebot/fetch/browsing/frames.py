"""Frames of other sites: Chromium runs them in processes of their own, of which a page's DevTools session sees nothing.

Their sessions lie inside the page's: Playwright's own would come when their scripts run already.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from storebot.fetch.browsing.traffic import Event

logger = logging.getLogger(__name__)

Command = tuple[str, dict[str, Any]]

_WATCH: Command = (
    "Target.setAutoAttach",
    {
        "autoAttach": True,
        "waitForDebuggerOnStart": True,
        "flatten": False,
        # Workers ask by their frame's process: its session sees that.
        "filter": [{"type": "iframe"}, {"exclude": True}],
    },
)
_NUMBERS = itertools.count(1)


class Devtools(Protocol):
    """Whom DevTools' commands are sent to. Raises PlaywrightError for one that is refused, or gone."""

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Return what a command answers."""


class Frames:
    """All frames with a process of their own below a page, whatever lies between.

    Each is held until ``commands`` were sent to its session, before it asks for anything but its document, which is its
    parent's to ask for. ``told`` gets its events: the session, the event's name, the event.
    """

    def __init__(
        self, page: CDPSession, commands: Sequence[Command], told: Callable[[Devtools, str, Event], None]
    ) -> None:
        self._page, self._commands, self._told = page, (*commands, _WATCH), told
        self._sessions: dict[str, _Session] = {}
        self._beginning: set[asyncio.Future[None]] = set()

    async def watch(self) -> None:
        """Begin; to be called before the page goes anywhere."""
        for name in ("Target.attachedToTarget", "Target.receivedMessageFromTarget", "Target.detachedFromTarget"):
            self._page.on(name, partial(self._note, self._page, name))
        await self._page.send(*_WATCH)

    async def silence(self) -> None:
        """Let no script of theirs run any more: they end when the page goes on to another one."""
        stopping = ("Emulation.setScriptExecutionDisabled", {"value": True})
        sent = (session.send(*stopping) for session in list(self._sessions.values()))
        for said in await asyncio.gather(*sent, return_exceptions=True):
            if isinstance(said, PlaywrightError):
                logger.debug("a frame isn't silenced: %s", said)  # as a rule it's gone

    def _note(self, parent: Devtools, name: str, event: Event) -> None:
        if name == "Target.attachedToTarget":
            session = self._sessions[event["sessionId"]] = _Session(parent, event["sessionId"])
            self._beginning.add(task := asyncio.ensure_future(self._begin(session)))
            task.add_done_callback(self._beginning.discard)
        elif name == "Target.detachedFromTarget":
            if gone := self._sessions.pop(event["sessionId"], None):
                gone.end()
        elif name == "Target.receivedMessageFromTarget":
            if session_of := self._sessions.get(event["sessionId"]):
                self._receive(session_of, json.loads(event["message"]))
        else:
            self._told(parent, name, event)

    def _receive(self, session: _Session, message: dict[str, Any]) -> None:
        if "method" in message:
            self._note(session, message["method"], message.get("params", {}))
        else:
            session.answered(message)

    async def _begin(self, session: _Session) -> None:
        try:
            for command in self._commands:
                await session.send(*command)
            await session.send("Runtime.runIfWaitingForDebugger")
        except PlaywrightError as error:
            logger.debug("a frame isn't watched, and so never begins: %s", error)  # as a rule it's gone


class _Session:
    """A DevTools session inside another one. https://chromedevtools.github.io/devtools-protocol/tot/Target/."""

    def __init__(self, parent: Devtools, name: str) -> None:
        self._parent, self._name = parent, name
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
        number = next(_NUMBERS)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        message = json.dumps({"id": number, "method": method, "params": params or {}})
        try:
            await self._parent.send("Target.sendMessageToTarget", {"sessionId": self._name, "message": message})
            return await answer
        finally:
            self._waiting.pop(number, None)

    def answered(self, message: dict[str, Any]) -> None:
        """Take the answer to a command."""
        answer = self._waiting.get(message["id"])
        if answer is None or answer.done():
            return
        if "error" in message:
            answer.set_exception(PlaywrightError(str(message["error"].get("message"))))
        else:
            answer.set_result(message.get("result"))

    def end(self) -> None:
        """Let nobody wait for answers any more."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(PlaywrightError("the frame is gone"))
