"""Frames with a process of their own, as DevTools tells of them: held until they're watched, however deep they lie."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError

from storebot.fetch.browsing.frames import Devtools, Frames

COMMANDS: list[tuple[str, dict[str, Any]]] = [("Network.enable", {}), ("Fetch.enable", {"patterns": []})]
BEGIN = ["Network.enable", "Fetch.enable", "Target.setAutoAttach", "Runtime.runIfWaitingForDebugger"]


class Page:
    """A DevTools session of a page: ``frames`` has what each of its frames was told, by session."""

    def __init__(self) -> None:
        self.frames: dict[str, list[str]] = {}
        self.silent: set[str] = set()  # sessions that answer nothing
        self.refused: set[str] = set()  # methods that are refused
        self._handlers: dict[str, Callable[[dict[str, Any]], None]] = {}

    def on(self, name: str, handler: Callable[[dict[str, Any]], None]) -> None:
        self._handlers[name] = handler

    async def send(self, method: str, params: dict[str, Any] | None = None) -> Any:
        if method == "Target.sendMessageToTarget":
            assert params is not None
            self._answer(params["sessionId"], json.loads(params["message"]), self.says)
        return {}

    def says(self, name: str, event: dict[str, Any]) -> None:
        self._handlers[name](event)

    def _answer(self, session: str, message: dict[str, Any], up: Callable[[str, dict[str, Any]], None]) -> None:
        if message["method"] == "Target.sendMessageToTarget":  # to a frame of this frame
            inner = message["params"]
            self._answer(inner["sessionId"], json.loads(inner["message"]), self.of(session, up))
        else:
            self.frames.setdefault(session, []).append(message["method"])
        if session in self.silent:
            return
        refused = message["method"] in self.refused
        said = {"error": {"message": f"{message['method']} isn't known"}} if refused else {"result": {}}
        answer = json.dumps({"id": message["id"], **said})
        up("Target.receivedMessageFromTarget", {"sessionId": session, "message": answer})

    def of(
        self, session: str, up: Callable[[str, dict[str, Any]], None] | None = None
    ) -> Callable[[str, dict[str, Any]], None]:
        """Return what tells an event of a frame's session."""
        outer = up or self.says

        def tell(name: str, event: dict[str, Any]) -> None:
            message = json.dumps({"method": name, "params": event})
            outer("Target.receivedMessageFromTarget", {"sessionId": session, "message": message})

        return tell


async def turns() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def watched(page: Page, told: list[tuple[Devtools, str, dict[str, Any]]]) -> Frames:
    frames = Frames(page, COMMANDS, lambda *event: told.append(event))  # type: ignore[arg-type]
    await frames.watch()
    return frames


def test_a_frame_is_told_everything_before_it_begins_and_so_is_one_inside_it() -> None:
    page, told = Page(), list[tuple[Devtools, str, dict[str, Any]]]()

    async def main() -> None:
        await watched(page, told)
        page.says("Target.attachedToTarget", {"sessionId": "outer"})
        await turns()
        page.of("outer")("Target.attachedToTarget", {"sessionId": "inner"})
        await turns()
        page.of("inner", page.of("outer"))("Fetch.requestPaused", {"requestId": "1"})
        ((devtools, name, event),) = told
        assert (name, event) == ("Fetch.requestPaused", {"requestId": "1"})
        await devtools.send("Fetch.continueRequest", {"requestId": "1"})

    asyncio.run(main())
    assert page.frames == {"outer": BEGIN, "inner": [*BEGIN, "Fetch.continueRequest"]}


def test_a_frame_that_can_not_be_watched_never_begins() -> None:
    page = Page()
    page.refused.add("Fetch.enable")

    async def main() -> None:
        await watched(page, [])
        page.says("Target.attachedToTarget", {"sessionId": "frame"})
        await turns()

    asyncio.run(main())
    assert page.frames == {"frame": BEGIN[:2]}


def test_nobody_waits_for_a_frame_that_is_gone() -> None:
    page, told = Page(), list[tuple[Devtools, str, dict[str, Any]]]()
    page.silent.add("frame")

    async def main() -> None:
        await watched(page, told)
        page.says("Target.attachedToTarget", {"sessionId": "frame"})
        page.of("frame")("Fetch.requestPaused", {"requestId": "1"})
        asking = asyncio.ensure_future(told[0][0].send("Fetch.continueRequest", {"requestId": "1"}))
        await turns()
        page.says("Target.detachedFromTarget", {"sessionId": "frame"})
        with pytest.raises(PlaywrightError, match="the frame is gone"):
            await asking
        await turns()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_frames_are_silenced_whatever_one_of_them_says() -> None:
    page = Page()
    page.refused.add("Emulation.setScriptExecutionDisabled")

    async def main() -> None:
        frames = await watched(page, [])
        for name in ("one", "two"):
            page.says("Target.attachedToTarget", {"sessionId": name})
        await turns()
        await frames.silence()

    asyncio.run(main())
    assert [said[-1] for said in page.frames.values()] == ["Emulation.setScriptExecutionDisabled"] * 2
