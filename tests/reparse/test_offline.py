"""No network where kept pages are read again: whatever way a parser takes, it gets the error."""

from __future__ import annotations

import _socket
import os
import socket
import subprocess
import urllib.request
from collections.abc import Callable

import pytest

from storebot.exceptions import NetworkForbidden
from storebot.reparse.offline import offline

WAYS: dict[str, Callable[[], object]] = {
    "socket": socket.socket,
    "a class below socket's": lambda: _socket.socket(),
    "connection": lambda: socket.create_connection(("127.0.0.1", 9)),
    "name": lambda: socket.getaddrinfo("localhost", 80),
    "old name": lambda: socket.gethostbyname("localhost"),
    "urllib": lambda: urllib.request.urlopen("http://127.0.0.1:9/", timeout=1),
    "program": lambda: subprocess.run(["true"], check=False),
    "shell": lambda: os.system("true"),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_would_reach_the_network_raises(way: str) -> None:
    with offline(), pytest.raises(NetworkForbidden, match="read again without a network"):
        WAYS[way]()


def test_the_network_is_back_when_the_block_ends_and_an_inner_block_does_not_open_it() -> None:
    with offline():
        with offline():
            pass
        with pytest.raises(NetworkForbidden):
            socket.socket()
    socket.socket().close()


def test_files_and_pipes_are_not_the_network() -> None:
    with offline():
        for end in os.pipe():
            os.close(end)
