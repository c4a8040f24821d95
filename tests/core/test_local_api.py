"""What a local API is asked, and what its answers say, in the shapes that vendors document."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.local_api import filled, named, read, refusal

ADSPOWER = {"code": 0, "msg": "success", "data": {"ws": {"puppeteer": "ws://127.0.0.1:5/devtools"}, "debug_port": "5"}}
PORT = {"status": {"http_code": 200, "message": ""}, "data": {"id": "x", "port": 4711}}


@pytest.mark.parametrize(
    ("answer", "template", "endpoint"),
    [
        (ADSPOWER, "{data.ws.puppeteer}", "ws://127.0.0.1:5/devtools"),
        (ADSPOWER, "http://127.0.0.1:{data.debug_port}", "http://127.0.0.1:5"),
        (PORT, "http://127.0.0.1:{data.port}", "http://127.0.0.1:4711"),
        ({"list": [{"wsUrl": "ws://h"}]}, "{list.0.wsUrl}", "ws://h"),
    ],
)
def test_an_endpoint_is_read_from_an_answer(answer: Any, template: str, endpoint: str) -> None:
    assert read(answer, template) == endpoint


@pytest.mark.parametrize("answer", [{}, [], None, {"data": {"port": None}}, {"data": {"port": {}}}, {"data": True}])
def test_an_answer_without_it_is_an_error(answer: Any) -> None:
    with pytest.raises(ValueError, match=r"^its answer has no data\.port$"):
        read(answer, "http://127.0.0.1:{data.port}")


def test_a_call_is_filled_wherever_it_has_placeholders() -> None:
    template = {"name": "{name}", "proxy": {"host": "{proxy.host}"}, "tags": ["a", "{profile}"], "n": 1}
    assert named((template, "http://x/{key}")) == {"name", "proxy.host", "profile", "key"}
    values = {"name": "storebot 1", "proxy.host": "h", "profile": "p"}
    assert filled(template, values) == {"name": "storebot 1", "proxy": {"host": "h"}, "tags": ["a", "p"], "n": 1}
    assert filled("{proxy.username}", {}) == "", "an identity without a proxy"


def test_what_differs_from_success_is_said_with_the_vendors_words() -> None:
    assert refusal(ADSPOWER, {"code": 0}) == ""
    assert refusal(PORT, {"status.http_code": 200}) == ""
    assert refusal({"code": -1, "msg": "profile in use"}, {"code": 0}) == 'code is -1, not 0: "profile in use"'
    assert refusal({"status": {"http_code": 400}}, {"status.http_code": 200}) == "status.http_code is 400, not 200"
    assert refusal({}, {"ok": True}) == "ok is None, not True"
