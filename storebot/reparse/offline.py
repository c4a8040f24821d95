"""No network in this process: what opens a socket, looks a name up or starts a program raises.

By an audit hook of the interpreter (PEP 578), which a parser can neither miss nor take away: it sees `_socket` as well
as `socket`, and whatever library stands above them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from storebot.exceptions import NetworkForbidden

_SOCKETS = ("__new__", "bind", "connect", "getaddrinfo", "gethostbyaddr", "gethostbyname", "getnameinfo", "sendto")
_REFUSED = frozenset(
    {*(f"socket.{name}" for name in _SOCKETS), "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"}
)


class _Gate:
    """Whether the network is shut; the hook is set once a process, for it can't be taken away."""

    shut = False
    hooked = False


def forbid() -> None:
    """Shut the network of this process for good."""
    if not _Gate.hooked:
        sys.addaudithook(_refuse)
        _Gate.hooked = True
    _Gate.shut = True


@contextmanager
def offline() -> Iterator[None]:
    """Shut the network of this process as long as the block lasts."""
    before = _Gate.shut
    forbid()
    try:
        yield
    finally:
        _Gate.shut = before


def _refuse(event: str, _: object) -> None:
    if _Gate.shut and event in _REFUSED:
        raise NetworkForbidden(f"{event}: kept pages are read again without a network; a parser fetches nothing")
