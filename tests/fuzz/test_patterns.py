"""Every regular expression of the core on texts that would make it backtrack: its time grows as the text does."""

from __future__ import annotations

import re
import time

import pytest

from tests.fuzz.bounded import cpu_seconds
from tests.fuzz.patterns import Named, attacks, patterns

SIZE = 5_000
QUICK_S = (
    0.002  # what a text of that size takes where the time grows as it does; a hundred thousand letters are tried else
)
CPU_S = 1.0  # of those: a millisecond or two are usual, and what is quadratic takes more than a second
GENERAL = (
    *(
        "a",
        " ",
        "<",
        "1 ",
        "1.000,",
        "\n",
        "&",
        "{",
        "[",
        '"',
        "'",
        "=",
        ",",
        "-",
        "/",
        "\\",
        "a=",
        "<!--",
        "https://",
        "\t",
    ),
    *("<a", "é", "/a", "1", "a ", "a.", "&#", "x", "\u200c", "(", "'\\", '"\\', "<a>", "</", "A-", "0", ":", ";", "a,"),
)
# What is only ever asked of short texts may take their square: the bound, and where it stands.
SHORT = {
    "storebot.core.availability._patterns": 300,  # availability._MAX_TEXT
    "storebot.core.parsing.visible_words.LABELS": 30,  # visible_labels._MAX_LABEL
    "storebot.core.soft404._SAYS_GONE": 160,  # soft404._LONGEST_HEADING: hundreds of phrases, in no square
}
_ALL = patterns()


@pytest.mark.parametrize("named", _ALL, ids=[f"{number}-{one.name}" for number, one in enumerate(_ALL)])
def test_a_long_text_costs_a_pattern_little(named: Named) -> None:
    pattern, size = named.pattern, SHORT.get(named.name, SIZE)
    general = [part * (size // len(part)) for part in GENERAL]
    texts = [text.encode() if isinstance(pattern.pattern, bytes) else text for text in general]
    for text in dict.fromkeys((*attacks(pattern, size), *texts)):
        started = time.process_time()
        with cpu_seconds(CPU_S, (named.name, text[:60])):
            _try(named, text)
        if size == SIZE and time.process_time() - started > QUICK_S:
            with cpu_seconds(CPU_S, (named.name, text[:60])):
                _try(named, text * 20)


def _try(named: Named, text: str | bytes) -> None:
    if named.scans:
        for _ in named.pattern.finditer(text):
            pass
    else:
        named.pattern.match(text)
        named.pattern.fullmatch(text)


def test_the_patterns_are_found() -> None:
    names = {one.name for one in _ALL}
    assert {"storebot.core.parsing.tags._ATTRIBUTE", "storebot.core.urls._PLAIN", *SHORT} <= names
    assert len(_ALL) > 150


def test_a_pattern_that_backtracks_is_found_out() -> None:
    for bad in (r"(?:<!--.*?-->|\s)*<rss", r",\s+(?=[^:,]+:)"):  # exponential, quadratic
        with pytest.raises(BaseException, match="took more than"):
            test_a_long_text_costs_a_pattern_little(Named("bad", re.compile(bad), True))
