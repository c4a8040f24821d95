"""Where a shop may send its visitor, decided once per host: to no private address, unless it is on one itself."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from storebot.core.addresses import is_private, refusal


class Reach:
    """Verdicts about the hosts that one shop names, by URL and by what a name resolves to.

    ``home`` is the shop's own address. If that is private, by name or by what it resolves to, so may its neighbours be.
    Nothing is resolved here: `unresolved` says which names have to be, `resolved` takes what they stand for, and a name
    is judged by its first addresses for as long as this lives (DNS rebinding).
    """

    def __init__(self, home: str) -> None:
        self._home = _host(home)
        self._addresses: dict[str, tuple[str, ...]] = {}
        self._peers: dict[object, str] = {}

    @property
    def _private_ok(self) -> bool:
        return is_private(self._home) or any(map(is_private, self._addresses.get(self._home, ())))

    def unresolved(self, url: str) -> list[str]:
        """Return the names that must be resolved before a URL can be judged: its host, and the shop's own."""
        if self.spelling(url):
            return []
        hosts = dict.fromkeys((self._home, _host(url)))
        return [host for host in hosts if host and host not in self._addresses and not _is_address(host)]

    def resolved(self, host: str, addresses: Iterable[str]) -> None:
        """Take what a name stands for; no addresses: nobody knows, and connecting to it will fail by itself."""
        self._addresses.setdefault(host, tuple(addresses))

    def spelling(self, url: str) -> str:
        """Say why a URL isn't asked for, by scheme and host alone: what a proxy is asked for isn't resolved here."""
        return refusal(url, private_ok=self._private_ok)

    def verdict(self, url: str) -> str:
        """Say in half a sentence why a URL isn't asked for; "" where it may be."""
        return refusal(url, private_ok=self._private_ok, addresses=self._addresses.get(_host(url), ()))

    def peer(self, address: object) -> str:
        """Say why what came from this address isn't read: the name stood for another one when it was resolved."""
        said = self._peers.get(address)
        if said is None:
            said = refusal(f"http://{_authority(str(address))}/", private_ok=self._private_ok)
            self._peers[address] = said
        return said

    def rebound(self, host: str, address: str) -> str:
        """Say why a client that is led to ``address`` by a name mustn't ask there; "" where it may.

        Asked of names that were `resolved` here: of others nobody has said that they are a shop's.
        """
        return self.peer(address) if host.lower() in self._addresses else ""


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


def _authority(address: str) -> str:
    return f"[{address}]" if ":" in address else address
