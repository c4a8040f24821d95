"""What SFTP needs besides fsspec: it trusts whatever key a server shows, and this doesn't."""

from __future__ import annotations

from pathlib import Path

from paramiko import HostKeys, MissingHostKeyPolicy, PKey, SSHClient, SSHException

SYSTEM = Path("/etc/ssh/ssh_known_hosts")


class OnlyKnown(MissingHostKeyPolicy):  # type: ignore[misc]  # paramiko ships no types
    """Lets nobody in whose key `ssh` itself wouldn't trust. No name or password has been sent by then."""

    def __init__(self) -> None:
        self._known = HostKeys()
        self._own = Path.home() / ".ssh" / "known_hosts"
        for file in (self._own, SYSTEM):
            if file.is_file():
                self._known.load(str(file))

    def missing_host_key(self, client: SSHClient, hostname: str, key: PKey) -> None:
        """Raise SSHException unless the host is known by this key; ``hostname`` has the port where it isn't 22."""
        if not self._known.check(hostname, key):
            raise SSHException(
                f"the {key.get_name()} key of {hostname} ({key.fingerprint}) isn't in {self._own} or {SYSTEM}: "
                "connect once with ssh, as the same user, and compare it with what its owner says"
            )
