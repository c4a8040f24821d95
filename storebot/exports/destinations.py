"""Where exports go: a local folder, or anything that fsspec reaches (S3-compatible stores, SFTP …)."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from storebot.core.export.manifest import LATEST, NAME
from storebot.exceptions import ConfigurationError, ExportFailed

_WITHOUT_FOLDERS = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az"})  # to make one would make a bucket
_SFTP = ("sftp", "ssh")
_SECRETS = re.compile(r"//[^/@]*@")


class Destination(ABC):
    """One export's place: ``base/store/stamp``. `put` makes it visible at once, its manifest last."""

    def __init__(self, base: str, store: str, what: str, stamp: str) -> None:
        self.base, self.store, self.stamp = base, store, f"{stamp}-{what}"
        self.latest = LATEST.format(what=what)

    @property
    @abstractmethod
    def shown(self) -> str:
        """The place in words, without passwords."""

    @abstractmethod
    def put(self, files: Sequence[Path], manifest: Path) -> None:
        """Bring finished files there, then the manifest, then the pointer ``latest``.

        Raises `ExportFailed` where the place refuses; without its manifest what has arrived is no export.
        """

    def _pointer(self) -> bytes:
        return orjson.dumps({"folder": self.stamp, "manifest": f"{self.stamp}/{NAME}"}) + b"\n"


def destination(base: str, store: str, what: str, stamp: str) -> Destination:
    """Return the destination for a folder or a URL; `ConfigurationError` where it can't be used."""
    return (Remote if "://" in base else Folder)(base, store, what, stamp)


class Folder(Destination):
    """A local folder. The files are there when the folder is: it's renamed into its place."""

    @property
    def shown(self) -> str:
        return str(Path(self.base) / self.store / self.stamp)

    @property
    def scratch(self) -> Path:
        """Where the files are made: beside their place, on the same disk."""
        return Path(self.base) / self.store / f".{self.stamp}.part"

    def put(self, files: Sequence[Path], manifest: Path) -> None:
        scratch, place = self.scratch, Path(self.shown)
        try:
            for path in (*files, manifest):
                _synced(path)
            scratch.rename(place)
            beside = place.parent / f".{self.latest}.new"
            beside.write_bytes(self._pointer())
            _synced(beside)
            beside.replace(place.parent / self.latest)
            _synced(place.parent)
        except OSError as error:
            raise ExportFailed(
                f"{self.store}: the export can't be put into {place}: {error}; the one before it is still there"
            ) from error


class Remote(Destination):
    """A place that fsspec knows. Its own settings (endpoint, keys) come from its own environment variables.

    It's tried at once, so that nobody waits for an export that can't be put anywhere: `ExportFailed`.
    """

    def __init__(self, base: str, store: str, what: str, stamp: str) -> None:
        super().__init__(base, store, what, stamp)
        self._scheme = urlsplit(base).scheme
        try:
            with _reached(base):
                pass
        except ConfigurationError:
            raise
        except Exception as error:
            raise ExportFailed(f"{store}: {self._unreached(error)}; nothing was exported") from error

    @property
    def shown(self) -> str:
        return _SECRETS.sub("//***@", f"{self.base.rstrip('/')}/{self.store}/{self.stamp}")

    def put(self, files: Sequence[Path], manifest: Path) -> None:
        try:
            with _reached(self.base) as (fs, root):
                store = f"{root.rstrip('/')}/{self.store}"
                folder = f"{store}/{self.stamp}"
                if self._scheme not in _WITHOUT_FOLDERS:
                    fs.makedirs(folder, exist_ok=True)
                for path in files:
                    fs.put_file(str(path), f"{folder}/{path.name}")
                    size = fs.info(f"{folder}/{path.name}")["size"]
                    if size != path.stat().st_size:
                        raise OSError(f"{path.name} arrived with {size} of {path.stat().st_size} bytes")
                self._appear(fs, folder, NAME, manifest.read_bytes())
                self._appear(fs, store, self.latest, self._pointer())
        except Exception as error:  # each file system raises its own: whatever it is, this export isn't there
            raise ExportFailed(
                f"{self.store}: {self._unreached(error)}; the one before it is still what {self.latest} names"
            ) from error

    def _appear(self, fs: Any, folder: str, name: str, content: bytes) -> None:
        """Write a file that is there whole or not at all; an S3-compatible store has no others."""
        if self._scheme in _SFTP:
            beside = f"{folder}/.{name}.new"
            fs.pipe_file(beside, content)
            fs.mv(beside, f"{folder}/{name}")
        else:
            fs.pipe_file(f"{folder}/{name}", content)

    def _unreached(self, error: Exception) -> str:
        why = _SECRETS.sub("//***@", str(error))
        return f"the export can't be put into {self.shown}: {type(error).__name__}: {why}"


@contextmanager
def _reached(base: str) -> Iterator[tuple[Any, str]]:
    """Give the file system of a URL, and the place in it. A connection of SFTP's lasts for the block."""
    sftp = urlsplit(base).scheme in _SFTP
    fs, root = _file_system(base, sftp=sftp)
    try:
        yield fs, root
    finally:
        if sftp:
            fs.client.close()


def _file_system(base: str, *, sftp: bool) -> tuple[Any, str]:
    scheme = urlsplit(base).scheme
    try:
        import fsspec

        options: dict[str, Any] = {}
        if sftp:
            from storebot.exports.sftp import OnlyKnown

            options = {"host_key_policy": OnlyKnown(), "skip_instance_cache": True}
        fs, root = fsspec.url_to_fs(base, **options)
    except ImportError as error:
        raise ConfigurationError(
            f"--out {scheme}://…: {error}; `pip install 'storebot[export,sftp]'`, or what fsspec asks for (s3fs …)"
        ) from error
    except ValueError as error:
        raise ConfigurationError(f"--out {scheme}://…: {error}") from error
    return fs, str(root)


def _synced(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
