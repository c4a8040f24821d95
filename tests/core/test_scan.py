"""Searching by the C library finds what Python's own search finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core import scan

FEW = st.binary(max_size=60) | st.text("ab<\0", max_size=60).map(str.encode)


@given(FEW, FEW.filter(bool), st.integers(0, 70))
def test_it_finds_what_python_finds(haystack: bytes, needle: bytes, start: int) -> None:
    assert scan.holds(haystack, needle) == (needle in haystack)
    assert scan.find(haystack, needle, start) == haystack.find(needle, start)


@given(FEW, FEW.filter(bool), st.integers(0, 70))
def test_it_finds_the_same_where_the_c_library_is_another(haystack: bytes, needle: bytes, start: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_memmem", None)
        assert scan.holds(haystack, needle) == (needle in haystack)
        assert scan.find(haystack, needle, start) == haystack.find(needle, start)


def test_what_stands_behind_a_nul_is_found() -> None:
    assert scan.find(b"a\0itemtype", b"itemtype") == 2
    assert scan.find(b"a\0itemtype\0itemtype", b"itemtype", 3) == 11
