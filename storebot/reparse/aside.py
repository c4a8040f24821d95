"""Visits that wait on disk until the write gate has judged all of them: memory doesn't grow with the store."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator, Sequence

import zstandard

from storebot.exceptions import StorebotError
from storebot.items import Visit

_IN_MEMORY_BYTES = 4 * 1024 * 1024  # a small store's never reach the disk
_LEVEL = 1
_SIZE_BYTES = 4  # of the number that says how long a chunk is


def packed(visits: Sequence[Visit]) -> bytes:
    """Return visits as bytes, for another process of this very run or a file of its own: nothing else may read them."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(pickle.dumps(list(visits), pickle.HIGHEST_PROTOCOL))


def unpacked(chunk: bytes) -> list[Visit]:
    """Return the visits of which `packed` made bytes."""
    visits: list[Visit] = pickle.loads(zstandard.ZstdDecompressor().decompress(chunk))
    return visits


class Aside:
    """Chunks in the order in which they came, in a file that has no name and goes with the process."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115 - closed by `close`

    def put(self, chunk: bytes) -> None:
        """Add a chunk. Raises `StorebotError` where the disk has no room for it."""
        try:
            self._file.write(len(chunk).to_bytes(_SIZE_BYTES, "big") + chunk)
        except OSError as error:
            raise StorebotError(
                f"{tempfile.gettempdir()}: what was read can't be put aside until it's judged: {error}; nothing was "
                "written; make room, or set TMPDIR to a folder that has some"
            ) from error

    def chunks(self) -> Iterator[bytes]:
        """Yield all chunks; none may be added meanwhile."""
        self._file.seek(0)
        while size := self._file.read(_SIZE_BYTES):
            yield self._file.read(int.from_bytes(size, "big"))

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
