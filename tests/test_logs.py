"""Log lines as JSON: what they hold, of which page they are, and where they go."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from scrapy.http import Request

from storebot.logs import key_of, write_json
from tests.stores.writing import read

URL = "http://shop.example/p/1?utm_source=x"
KEY = "https://shop.example/p/1"


def line(handler: logging.Handler, message: str, *args: object, **extra: object) -> dict[str, object]:
    record = logging.LogRecord("storebot.run", logging.WARNING, "run.py", 1, message, args, None)
    record.__dict__.update(extra)
    found: dict[str, object] = json.loads(handler.format(record))
    return found


def test_a_line_of_a_run_says_which_and_of_which_page(tmp_path: Path) -> None:
    handler = logging.NullHandler()
    write_json(handler, read(tmp_path), lambda: 7, "refresh")
    made = line(handler, '%s: invalid: "no\nname"', URL, spider=object())
    at = str(made.pop("at"))
    assert made == {
        "level": "WARNING",
        "logger": "storebot.run",
        "message": f'{URL}: invalid: "no\nname"',
        "run": 7,
        "store": "acme",
        "kind": "refresh",
        "key": KEY,
    }
    assert at.endswith("+00:00")


def test_a_line_outside_a_run_says_no_store() -> None:
    handler = logging.NullHandler()
    write_json(handler)
    assert line(handler, "hello").keys() == {"at", "level", "logger", "message"}


@pytest.mark.parametrize(
    ("args", "key"),
    [
        (("acme", URL), KEY),
        ({"request": Request(URL), "spider": "x"}, KEY),
        (("http://other.example/p/1",), None),
        (("http://shop.example/about",), None),
        (("http://shop.example:x/p/1",), None),
        ((), None),
        (None, None),
    ],
)
def test_the_key_is_of_the_first_product_that_a_line_names(tmp_path: Path, args: object, key: str | None) -> None:
    assert key_of(args, read(tmp_path)) == key
