"""JSON as shops write it."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.parsing.lenient import MAX_BYTES, Broken, load, load_literal


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "line1\nline2\tx"}', {"a": "line1\nline2\tx"}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ('{"a": "x"};', {"a": "x"}),
        ('\ufeff{"a": "x"}', {"a": "x"}),
        ('<!--\n{"a": "x"}\n-->', {"a": "x"}),
        ('/*<![CDATA[*/ {"a": "x"} /*]]>*/', {"a": "x"}),
        ('//<![CDATA[\n{"a": "x"}\n//]]>', {"a": "x"}),
        ('<![CDATA[{"a": "x"}]]>', {"a": "x"}),
        ('{"a": "http://x/y", /* note */ "b": 1 // end\n}', {"a": "http://x/y", "b": 1}),
        ('{"a": "/* kept */ // kept, ]"}', {"a": "/* kept */ // kept, ]"}),
        ("{'a': 'it\\'s', 'b': [1]}", {"a": "it's", "b": [1]}),
        ('{"a": "C:\\dir"}', {"a": "C:\\dir"}),
        ('{"a": NaN, "b": -Infinity}', {"a": None, "b": None}),
        ("null", None),
    ],
)
def test_repairs_do_not_change_what_is_meant(text: str, value: Any) -> None:
    assert as_text(load(text.encode())) == as_text(value)


def as_text(value: Any) -> Any:
    """Numbers come back as numbers or as their text, whichever parser got through: both mean the same."""
    if isinstance(value, dict):
        return {name: as_text(item) for name, item in value.items()}
    if isinstance(value, list):
        return [as_text(item) for item in value]
    return None if value is None else str(value)


@pytest.mark.parametrize("number", ["2879.2", "10.04", "49.90", "1e3", "123456789012345678901234567890", "0.1000"])
def test_numbers_keep_the_text_of_the_source(number: str) -> None:
    assert load(f'{{"price": {number}}}'.encode()) == {"price": number}


def test_the_literal_text_of_an_escape_survives_e06() -> None:
    assert load(b'{"name": "Path C:\\\\u0000dir"}') == {"name": "Path C:\\u0000dir"}


def test_real_nul_bytes_do_not_break_a_block_e05() -> None:
    assert load(b'{"name":\0 "Dr\0ill"}') == {"name": "Drill"}


@pytest.mark.parametrize("text", ['{"name":"19" rack"}', '{"a": 1', "", "var x = 1", "[" * 100_000])
def test_what_no_repair_reaches_is_broken(text: str) -> None:
    with pytest.raises(Broken):
        load(text.encode())


def test_a_block_beyond_the_limit_is_refused() -> None:
    with pytest.raises(Broken, match="more than the limit"):
        load(b" " * (MAX_BYTES + 1))


@pytest.mark.parametrize(
    "text", ['"' + '\\"' * 100_000, "/*" * 100_000, " '" * 100_000, ", " * 100_000, " " * 200_000 + "x"]
)
def test_hostile_text_costs_linear_time(text: str) -> None:
    started = time.process_time()
    with pytest.raises(Broken):
        load(("{" + text).encode())
    assert time.process_time() - started < 2


@given(st.binary(max_size=200))
def test_any_bytes_are_parsed_or_broken(block: bytes) -> None:
    with suppress(Broken):
        load(block)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": [1, "}"]}}; var c = {};',
        '{a: {b: [1, "}"]}}\nfor (;;) {}',
        "{ a: { 'b': [ 1, '}', ], }, } // the end",
        '{"a": /* { */ {"b": [1, "}",]}} trailing',
    ],
)
def test_the_literal_that_a_script_begins_with_is_read_and_the_rest_is_ignored(text: str) -> None:
    assert load_literal(text) == {"a": {"b": [1, "}"]}} or load_literal(text) == {"a": {"b": ["1", "}"]}}


@pytest.mark.parametrize("text", ['{"a": 1', "", "{a: function() {}}", "[" * 100_000, "x" * (MAX_BYTES + 1)])
def test_a_literal_that_is_no_data_is_broken(text: str) -> None:
    with pytest.raises(Broken):
        load_literal(text)


@given(st.text(alphabet="{}[]:,'\"ab1 /*\\", max_size=60))
def test_any_script_is_read_or_broken(text: str) -> None:
    with suppress(Broken):
        load_literal(text)


@pytest.mark.parametrize("depth", [101, 900, 1020, 100_000])
@pytest.mark.parametrize("shape", ['{"a":%s}', "[%s]", "[%s,]"])
def test_what_is_nested_deeper_than_any_shop_does_is_broken(depth: int, shape: str) -> None:
    before, after = shape.split("%s")
    with pytest.raises(Broken, match=r"nested more than 100 levels deep"):
        load((before * depth + "1" + after * depth).encode())


def test_what_is_nested_as_shops_do_is_read() -> None:
    assert load(b'{"a":' * 99 + b"1" + b"}" * 99) is not None


@pytest.mark.parametrize("text", ['{"a":"' + '\\"' * 100_000 + "\\", "{" + "'\\'" * 100_000])
def test_what_is_never_closed_costs_one_pass(text: str) -> None:
    started = time.process_time()
    with pytest.raises(Broken):
        load(text.encode())
    with pytest.raises(Broken):
        load_literal(text)
    assert time.process_time() - started < 2
