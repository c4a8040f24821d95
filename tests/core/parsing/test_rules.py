"""Selectors of store files: compiled, or refused with a sentence."""

from __future__ import annotations

import pytest

from storebot.core.parsing.rules import compile_rule
from storebot.core.parsing.selectors import select
from tests.core.parsing.pages import page

BODY = """<div class=p><h1> A  <b>B</b></h1><img src=/1.jpg><i data-sku=' S1 '>Tom &amp; Jerry</i></div>
<script>var price = "49.90"; var gone = "";</script>"""


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("h1", "css", ["A B"]),
        ("h1::text", "css", ["A"]),
        ("css:.p h1 b::text", "css", ["B"]),
        ("i::attr(data-sku)", "css", ["S1"]),
        ("i::text", "css", ["Tom & Jerry"]),
        (".none::text", "css", []),
        ("xpath://i/@data-sku", "xpath", ["S1"]),
        ("xpath:string(//h1)", "xpath", ["A B"]),
        ("xpath:count(//h1)", "xpath", ["1"]),
        ("xpath://*[re:test(@src, '[0-9]')]/@src", "xpath", ["/1.jpg"]),
        (r're:price = "([\d.]+)"', "re", ["49.90"]),
        (r"re:Tom &amp; \w+", "re", ["Tom & Jerry"]),
        (r're:gone = "(.*?)"', "re", []),
    ],
)
def test_each_kind_finds_its_texts(text: str, kind: str, found: list[str]) -> None:
    rule = compile_rule(text)
    assert rule.kind == kind
    assert select(page(BODY), rule) == found


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("xpath:", "empty"),
        ("h1[", "CSS selector"),
        ("h1::nonsense", "CSS selector"),
        ("xpath://h1[", "xpath://h1["),
        ("xpath:no-such-function(//h1)", "no-such-function"),
        ("xpath://ns:h1", "ns:h1"),
        ("xpath:count(//h1) = 1", "true or false"),
        ("re:(", "regular expression"),
    ],
)
def test_what_is_wrong_is_named(text: str, part: str) -> None:
    with pytest.raises(ValueError, match=r"selector|regular expression") as error:
        compile_rule(text)
    assert part in str(error.value)


def test_the_source_of_a_field_shows_the_rule() -> None:
    assert compile_rule("h1::text").source == "css:h1::text"
    assert compile_rule("re:a").source == "re:a"
