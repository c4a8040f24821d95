"""The dictionary of one type of page of a store: learnt from its first pages, made better, learnt anew."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Sequence

import zstandard

LEVEL = 3
# Measured on a real shop and on the demo store (docs/decisions/0019). Three whole pages as the dictionary of all others
# make these 1/62 to 1/91 and 1/20 of their size, by luck; eight 1/87 and 1/60. The lines of ninety-six make 1/60 and
# 1/190: the demo store's pages are put together of pieces that not each of them has. So they are tried where eight
# pages don't do.
FIRST_SAMPLES = 3
SAMPLES = 8
STEPS = (24, 96)  # pages behind a dictionary of lines
JUDGES = 8  # pages that a dictionary is tried on, which are none of its own
_SAMPLE_BYTES = 400_000  # of each page
_MOST_BYTES = 1_500_000  # of a dictionary: it's held in memory, and a window at this level sees little further
_GOOD = 1 / 60  # of its size: a dictionary that makes pages so small is left as it is
_BETTER = 0.8  # what a new dictionary must make of what the present one does
_STUB_BYTES = 8_192
_WATCHED = 50  # pages over which a dictionary is judged
_WORSE = 3.0  # a redesign: pages grow to so many times what they were with this dictionary


class Learner:
    """Compresses with ``compressor`` and watches how well that goes.

    It takes the first three pages as its dictionary, then eight if these serve better, and where they don't do, the
    lines of many. Where pages grow to three times their packed size it tries the latest ones, and takes them only if
    they halve the others: three odd pages in a row must not become the dictionary of a store.
    """

    def __init__(self, dictionary: bytes = b"") -> None:
        self._sizes: deque[tuple[int, int]] = deque(maxlen=_WATCHED)  # packed, and as it came
        self._latest: deque[bytes] = deque(maxlen=SAMPLES + JUDGES)
        self._lines: Lines | None = Lines()
        self._usual = 0.0  # what is left of pages since the dictionary is settled, by bytes
        self._use(dictionary)

    def note(self, body: bytes, packed: int) -> None:
        """Take note of one page, and of what became of it."""
        if len(body) < _STUB_BYTES:  # fifty redirect stubs in a row aren't a redesign
            return
        self._latest.append(body)
        self._count(packed, len(body))
        if not self.dictionary:
            if len(self._latest) == FIRST_SAMPLES:
                self._use(whole(self._latest))
        elif self._lines is not None:
            if len(self._latest) == SAMPLES + JUDGES:
                self._grow(self._lines)
        elif len(self._sizes) == _WATCHED:
            self._watch()

    def _grow(self, lines: Lines) -> None:
        """Try more pages, and where they stay large, at each step the lines of many; then gather no more."""
        samples, judges = list(self._latest)[:SAMPLES], list(self._latest)[SAMPLES:]
        if not lines.pages:
            self._usual = self._take_the_better(whole(samples), judges, _BETTER)
            if self._usual < _GOOD:
                self._lines = None
                return
        for body in samples if not lines.pages else samples[-1:]:
            lines.add(body)
        if lines.pages in STEPS:
            self._usual = self._take_the_better(lines.joined(), judges, _BETTER)
            if lines.pages == STEPS[-1]:
                self._lines = None

    def _count(self, packed: int, size: int) -> None:
        """Keep the sizes of the latest pages, and their sums: those are asked for with every page."""
        if len(self._sizes) == _WATCHED:
            oldest_packed, oldest = self._sizes[0]
            self._packed_sum -= oldest_packed
            self._size_sum -= oldest
        self._sizes.append((packed, size))
        self._packed_sum += packed
        self._size_sum += size

    def _count_anew(self) -> None:
        self._sizes.clear()
        self._packed_sum = self._size_sum = 0

    def _watch(self) -> None:
        if self._packed_sum <= _WORSE * self._usual * max(self._size_sum, 1):
            return
        latest, before = list(self._latest), self.name
        self._usual = self._take_the_better(whole(latest[-FIRST_SAMPLES:]), latest[:-FIRST_SAMPLES], 0.5)
        self._count_anew()
        if self.name != before:
            self._latest.clear()
            self._lines = Lines()

    def _take_the_better(self, dictionary: bytes, judges: Sequence[bytes], share: float) -> float:
        """Use a dictionary if it packs the judges to at most ``share`` of what the present one does.

        Return what is left of the judges by the one that is used then.
        """
        now, then = _packed(self.compressor, judges), _packed(compressor_of(dictionary), judges)
        if then > share * now:
            return now / max(sum(map(len, judges)), 1)
        self._use(dictionary)
        return then / max(sum(map(len, judges)), 1)

    def _use(self, dictionary: bytes) -> None:
        self.dictionary = dictionary
        self.name = hashlib.sha256(dictionary).digest()[:16] if dictionary else b""
        self.compressor = compressor_of(dictionary)
        self._count_anew()


def compressor_of(dictionary: bytes, level: int = LEVEL) -> zstandard.ZstdCompressor:
    """Return a compressor with a dictionary; b"" is none."""
    if not dictionary:
        return zstandard.ZstdCompressor(level=level)
    raw = zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    raw.precompute_compress(level=level)  # once, ever: a second call for one dictionary crashes the process (0.25)
    return zstandard.ZstdCompressor(dict_data=raw)


def whole(bodies: Iterable[bytes]) -> bytes:
    """Return a dictionary of pages as they are."""
    return b"".join(body[:_SAMPLE_BYTES] for body in bodies)[-_MOST_BYTES:]


class Lines:
    """A dictionary of pages in which no line is repeated, up to the most bytes that one may have."""

    def __init__(self) -> None:
        self.pages = self._size = 0
        self._seen: set[bytes] = set()
        self._new: list[bytes] = []

    def add(self, body: bytes) -> None:
        """Add what a page has that no earlier one had."""
        self.pages += 1
        fresh = [line for line in body[:_SAMPLE_BYTES].splitlines(keepends=True) if line not in self._seen]
        if self._size < _MOST_BYTES:
            self._seen.update(fresh)
            self._new.append(b"".join(fresh))
            self._size += len(self._new[-1])

    def joined(self) -> bytes:
        """Return it. The first page, which is whole, comes last: what lies further back is found less well."""
        return b"".join(reversed(self._new))[-_MOST_BYTES:]


def _packed(compressor: zstandard.ZstdCompressor, bodies: Iterable[bytes]) -> int:
    return sum(len(compressor.compress(body)) for body in bodies)
