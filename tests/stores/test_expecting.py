"""`[expect]`: what it says reaches the core, and what is wrong is said with its key and the nearest right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.core.expect import Expected
from storebot.exceptions import StoreFileError
from tests.stores.writing import LEAST, read

ALL = """
[expect]
min_listings = 0
fill = {price = 1, brand = 0.8}
max_age = "3d"
max_run_time = "1h30m"
learned = false
"""


def test_what_it_says_reaches_a_refresh_and_what_fits_it_a_backfill(tmp_path: Path) -> None:
    expect = read(tmp_path, LEAST + ALL).expect
    fill = {"price": 1.0, "brand": 0.8}
    assert expect.of("refresh") == Expected(
        min_listings=0, fill=fill, max_age_ms=3 * 86_400_000, max_run_time_s=5400, learned=False
    )
    assert expect.of("backfill") == Expected(fill=fill, max_run_time_s=5400, learned=False)


def test_without_it_runs_are_compared_with_those_before_them(tmp_path: Path) -> None:
    assert read(tmp_path).expect.of("refresh") == Expected(learned=True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "fill = {prize = 0.9}",
            "expect.fill: expected names of product fields, got \"prize\" (did you mean 'price'?)",
        ),
        ("fill = {price = 1.1}", "with shares from 0 to 1, but price is the number 1.1"),
        ("fill = {price = true}", "with shares from 0 to 1, but price is the boolean true"),
        ("fill = 0.9", "expect.fill: expected a table such as {price = 0.95, brand = 0.8}, got the number 0.9"),
        ('max_age = "0s"', "expect.max_age: expected a time above nought, got 0s; leave the key out instead"),
        ("max_age = 3", 'expect.max_age: expected a duration such as "24h"'),
        ("max_runtime = '1h'", "expect.max_runtime: unknown key (did you mean 'expect.max_run_time'?)"),
        ("min_listings = -1", "expect.min_listings: expected a number of at least 0, got the number -1"),
        ("learned = 'no'", 'expect.learned: expected true or false, got the text "no"'),
    ],
)
def test_what_is_wrong_is_one_line_with_its_key(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(StoreFileError) as error:
        read(tmp_path, f"{LEAST}[expect]\n{line}\n")
    assert said in str(error.value)
