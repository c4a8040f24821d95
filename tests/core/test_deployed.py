"""Versions on nodes: they sort by time, and say which code they are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from packaging.version import InvalidVersion, Version
from scrapyd.eggstorage import sorted_versions

from storebot.core.deployed import version_name, version_of

CODE, OTHER = "0123456789ab", "ba9876543210"
FIRST = datetime(2026, 9, 30, 23, 59, 59, tzinfo=UTC)
SECOND = FIRST + timedelta(seconds=1)


def test_scrapyd_sorts_them_by_time_whatever_their_code_is() -> None:
    """Case Y04: by a hash, or by `r9` and `r10`, an old one would be the newest."""
    names = [version_name(code, at) for at in (FIRST, SECOND) for code in (OTHER, CODE)]
    assert sorted_versions(names[::-1])[-1].startswith("20261001T000000-")
    assert sorted_versions(["r9", "r10"])[-1] == "r9", "what is found there without a time"


def test_scrapyd_keeps_them_as_they_are() -> None:
    """It replaces what isn't a letter, a digit, - or _, and reads versions as numbers where all of them are."""
    name = version_name(CODE, FIRST)
    assert name.replace("-", "").isalnum()
    try:
        Version(name)
    except InvalidVersion:
        return
    raise AssertionError(name)


def test_the_newest_of_this_code_is_found_among_others() -> None:
    names = [version_name(CODE, SECOND), version_name(CODE, FIRST), version_name(OTHER, SECOND), "r10", CODE + "0"]
    assert version_of(CODE, names) == version_name(CODE, SECOND)
    assert version_of("0" * 12, names) is None
    assert version_of(CODE, []) is None
