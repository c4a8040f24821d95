"""Which address a watchdog is called at, and what a run's end is to it."""

from __future__ import annotations

import pytest

from storebot.core.heartbeat import Beat, address, beat_of
from storebot.exceptions import ExitCode


@pytest.mark.parametrize(
    ("template", "beat", "called"),
    [
        ("https://hc.example/uuid", Beat.START, "https://hc.example/uuid/start"),
        ("https://hc.example/uuid/", Beat.SUCCESS, "https://hc.example/uuid"),
        ("https://hc.example/key/{store}-{kind}?create=1&a=b=c", Beat.FAILURE, "https://hc.example/key/acme-refresh/fail?create=1&a=b=c"),
    ],
)  # fmt: skip
def test_the_beat_stands_behind_the_path(template: str, beat: Beat, called: str) -> None:
    assert address(template, beat, "acme", "refresh") == called


@pytest.mark.parametrize("template", ["file:///etc/SECRET", "SECRET", "https:///SECRET"])
def test_what_is_no_web_address_is_refused_and_not_shown(template: str) -> None:
    with pytest.raises(ValueError, match="expected an http") as error:
        address(template, Beat.START, "acme", "refresh")
    assert "SECRET" not in str(error.value)


def test_a_run_that_ended_by_itself_is_alive_one_that_could_not_is_not_and_of_others_nothing_is_said() -> None:
    told = {code: beat_of(code) for code in ExitCode}
    assert [code for code, beat in told.items() if beat is Beat.SUCCESS] == [0, 3, 5, 6]
    assert [code for code, beat in told.items() if beat is None] == [7, 130, 143]
