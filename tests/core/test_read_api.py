from __future__ import annotations

import pytest

from storebot.core.read_api import host_of, is_known, is_loopback, moment, one_of, read_tokens
from storebot.exceptions import ConfigurationError

FIRST, SECOND = "first-token-of-somebody", "second-token-of-somebody"


@pytest.mark.parametrize(
    ("header", "known"),
    [
        (f"Bearer {FIRST}", True),
        (f"bearer  {SECOND}", True),
        (f"Bearer {FIRST} {SECOND}", False),
        ("Bearer ", False),
        ("Bearer \udcff", False),
        (FIRST, False),
    ],
)
def test_each_token_opens_and_nothing_else_does(header: str, known: bool) -> None:
    assert is_known(header, (FIRST, SECOND)) is known
    assert not is_known(header, ())


def test_a_short_token_is_refused_without_being_told() -> None:
    assert read_tokens(f" {FIRST}\n{SECOND} ") == (FIRST, SECOND)
    with pytest.raises(ConfigurationError, match="token 2 has to be 20 ASCII characters") as caught:
        read_tokens(f"{FIRST} hunter2")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "is_one"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("api.example", False),
        ("", False),
    ],
)
def test_only_this_machine_is_loopback(host: str, is_one: bool) -> None:
    assert is_loopback(host) is is_one


@pytest.mark.parametrize(
    ("header", "host"),
    [("127.0.0.1:80", "127.0.0.1"), ("LOCALHOST", "localhost"), ("[::1]:80", "::1"), ("evil.example", "evil.example")],
)
def test_the_host_of_a_header_has_no_port(header: str, host: str) -> None:
    assert host_of(header) == host


def test_times_and_names_of_an_address_are_read_or_refused_in_words() -> None:
    assert moment("since", "2026-11-30T08:00:00Z") == moment("since", "2026-11-30T09:00 01:00") == 1_796_025_600_000
    assert one_of("type", "new", ("new", "changed")) == "new"
    for text in ("", "soon", "1", "9999-99-99"):
        with pytest.raises(ValueError, match=r"^since: expected a time such as 2026-11-30T08:00:00Z$"):
            moment("since", text)
    with pytest.raises(ValueError, match=r"^type: expected one of new, changed$"):
        one_of("type", "News", ("new", "changed"))
