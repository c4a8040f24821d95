"""A destination behind SFTP: a real server on this machine, which is known, unknown, or dies on the way."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from storebot.db.database import Database
from storebot.exceptions import ExportFailed
from storebot.exports.destinations import Remote, destination
from storebot.exports.running import export, scratch_for
from storebot.exports.verifying import faults, manifest_in
from tests.db.shop import STORE
from tests.exports.test_export import NAMES, fill, order

USER, PASSWORD = "shop", "pass-word"


class Place:
    """The server: what it has under ``root``, what was done to it, and after how many bytes of a file it hangs up."""

    def __init__(self, root: Path) -> None:
        self.root, self.key = root, asyncssh.generate_private_key("ssh-ed25519")
        self.done: list[str] = []
        self.logins: list[str] = []
        self.dies_in = ""
        self.connections: list[asyncssh.SSHServerConnection] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = self._wait(self._start())
        self.port = int(self._server.get_port())

    def url(self, password: str = PASSWORD) -> str:
        return f"sftp://{USER}:{password}@127.0.0.1:{self.port}/exports"

    def known(self, key: asyncssh.SSHKey | None = None) -> str:
        """Return the line of a known_hosts file."""
        return f"[127.0.0.1]:{self.port} {(key or self.key).export_public_key().decode()}"

    def stop(self) -> None:
        self._wait(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _start(self) -> Any:
        return await asyncssh.create_server(
            lambda: _Login(self),
            "127.0.0.1",
            0,
            server_host_keys=[self.key],
            sftp_factory=lambda channel: _Files(self, channel),
        )

    async def _stop(self) -> None:
        self._server.close()
        await self._server.wait_closed()
        for connection in self.connections:
            connection.abort()
            await connection.wait_closed()


class _Login(asyncssh.SSHServer):
    def __init__(self, place: Place) -> None:
        self._place = place

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._place.connections.append(conn)

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        self._place.logins.append(username)
        return (username, password) == (USER, PASSWORD)


class _Files(asyncssh.SFTPServer):
    def __init__(self, place: Place, channel: Any) -> None:
        super().__init__(channel, chroot=str(place.root).encode())
        self._place = place

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        self._place.done.append(f"open {Path(path.decode()).name}")
        return super().open(path, pflags, attrs)

    def write(self, file_obj: Any, offset: int, data: bytes) -> Any:
        if self._place.dies_in and file_obj.name.decode().endswith(self._place.dies_in):
            self.channel.get_connection().abort()
            raise asyncssh.SFTPFailure("power cut")
        return super().write(file_obj, offset, data)

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        self._place.done.append(f"rename {Path(newpath.decode()).name}")
        return super().posix_rename(oldpath, newpath)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Give a server that the user's own known_hosts knows."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    (tmp_path / "served").mkdir()
    made = Place(tmp_path / "served")
    (home / ".ssh" / "known_hosts").write_text(made.known())
    yield made
    made.stop()


@pytest.fixture
def filled(sqlite_url: str) -> Iterator[Database]:
    database = Database.open(sqlite_url)
    fill(database)
    yield database
    database.dispose()


def put(database: Database, place: Place, stamp: str) -> dict[str, Any]:
    to = destination(place.url(), STORE, "listings", stamp)
    assert isinstance(to, Remote)
    with scratch_for(to) as scratch:
        return export(database, order(names="csv,jsonl"), to, scratch)


def test_files_come_first_then_the_manifest_whole_then_the_pointer(place: Place, filled: Database) -> None:
    found = put(filled, place, "1")
    folder, written = manifest_in(place.root / "exports" / STORE)
    assert folder.name == "1-listings"
    assert written == found
    assert [*faults(folder, written)] == []
    assert len((folder / "listings.jsonl").read_bytes().splitlines()) == len(NAMES)
    data, visible = place.done[:3], place.done[3:]
    assert sorted(data) == ["open listings.csv", "open listings.jsonl", "open listings.schema.json"]
    assert visible == [
        "open .manifest.json.new",
        "rename manifest.json",
        "open .latest-listings.json.new",
        "rename latest-listings.json",
    ]
    assert {path.name for path in folder.parent.iterdir()} == {"1-listings", "latest-listings.json"}
    put(filled, place, "2")
    assert manifest_in(place.root / "exports" / STORE)[0].name == "2-listings"


@pytest.mark.parametrize("dies_in", ["listings.jsonl", ".manifest.json.new", ".latest-listings.json.new"])
def test_a_server_that_dies_on_the_way_still_has_the_export_before(
    place: Place, filled: Database, dies_in: str
) -> None:
    put(filled, place, "1")
    place.dies_in = dies_in
    with pytest.raises(ExportFailed) as caught:
        put(filled, place, "2")
    assert f"can't be put into sftp://***@127.0.0.1:{place.port}/exports/{STORE}/2-listings: " in str(caught.value)
    assert "the one before it is still what latest-listings.json names" in str(caught.value)
    assert PASSWORD not in str(caught.value)
    store = place.root / "exports" / STORE
    folder, found = manifest_in(store)
    assert folder.name == "1-listings"
    assert [*faults(folder, found)] == []
    if dies_in != ".latest-listings.json.new":
        with pytest.raises(ExportFailed, match=r"no manifest\.json in it"):
            manifest_in(store / "2-listings")
    place.dies_in = ""
    put(filled, place, "3")
    assert manifest_in(store)[0].name == "3-listings"


@pytest.mark.parametrize("line", ["", "another key"])
def test_a_server_whose_key_is_not_known_gets_no_password(place: Place, filled: Database, line: str) -> None:
    known = Path.home() / ".ssh" / "known_hosts"
    known.write_text(place.known(asyncssh.generate_private_key("ssh-ed25519")) if line else "")
    with pytest.raises(ExportFailed) as caught:
        put(filled, place, "1")
    assert f"the ssh-ed25519 key of [127.0.0.1]:{place.port} (SHA256:" in str(caught.value)
    assert f"isn't in {known} or /etc/ssh/ssh_known_hosts: connect once with ssh" in str(caught.value)
    assert str(caught.value).endswith("; nothing was exported")
    assert place.logins == []
    assert not (place.root / "exports").exists()


def test_a_password_that_is_wrong_is_said_before_anything_is_exported(place: Place) -> None:
    with pytest.raises(ExportFailed) as caught:
        destination(place.url("wrong-word"), STORE, "listings", "1")
    assert "AuthenticationException" in str(caught.value)
    assert "wrong-word" not in str(caught.value)
    assert place.logins == [USER]


def test_the_manifest_tells_of_the_place_without_its_password(place: Place, filled: Database) -> None:
    found = put(filled, place, "1")
    assert PASSWORD not in json.dumps(found)
    assert destination(place.url(), STORE, "listings", "1").shown.startswith("sftp://***@127.0.0.1:")
