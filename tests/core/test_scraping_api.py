"""What is sent to a scraping API and what is read from its answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from storebot.core.scraping_api import Answer, Paths, answer_of, at, cost_of, filled, filled_url, loaded, placeholders
from storebot.exceptions import ApiAnswerUnreadable

URL = "https://shop.example/p/ü?a=1&b=2#top"
VALUES: dict[str, str | bool] = {"url": URL, "key": "k{url}", "render": True, "country": "DE"}
PATHS = Paths(("data.rawHtml", "body"), "status_code", "meta.final_url", "tokens_used")


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{url}", URL),
        ("see {url}!", f"see {URL}!"),
        ("{render}", True),
        ("render={render}", "render=true"),
        ({"a": {"b": ["{country}", 7, None]}}, {"a": {"b": ["DE", 7, None]}}),
        ("{key}", "k{url}"),
        ("Bearer {key}", "Bearer k{url}"),
        (False, False),
        ("{}", "{}"),
    ],
    ids=lambda value: json.dumps(value),
)
def test_placeholders_of_a_template_become_values(template: Any, expected: Any) -> None:
    assert filled(template, VALUES) == expected


def test_a_url_takes_values_as_one_parameter_each() -> None:
    found = filled_url("https://api.example/get?u={url}&js={render}", VALUES)
    assert found == "https://api.example/get?u=https%3A%2F%2Fshop.example%2Fp%2F%C3%BC%3Fa%3D1%26b%3D2%23top&js=true"


def test_placeholders_are_found_at_any_depth() -> None:
    assert placeholders({"a": ["{url}", {"b": "x {key} {render}"}], "c": 3}) == {"url", "key", "render"}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"data": {"rawHtml": "<p>"}}, Answer("<p>")),
        ({"data": None, "body": "<p>"}, Answer("<p>")),
        ({"data": {"rawHtml": ""}, "body": "<p>"}, Answer("<p>")),
        ({"body": "<p>", "status_code": 404}, Answer("<p>", 404)),
        ({"body": "<p>", "status_code": 0}, Answer("<p>")),
        ({"body": "<p>", "status_code": True}, Answer("<p>")),
        ({"body": "<p>", "status_code": "404"}, Answer("<p>")),
        ({"body": "", "status_code": 403}, Answer("", 403)),
        (
            {"body": "<p>", "meta": {"final_url": "https://shop.example/p/2"}},
            Answer("<p>", 200, "https://shop.example/p/2"),
        ),
        ({"body": "<p>", "meta": {"final_url": "file:///etc/passwd"}}, Answer("<p>")),
        ({"body": "<p>", "meta": {"final_url": 5}}, Answer("<p>")),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_an_answer_says_the_page_its_status_and_where_it_ended(document: dict[str, Any], expected: Answer) -> None:
    assert answer_of(document, PATHS) == expected


@pytest.mark.parametrize(
    ("document", "has"),
    [
        ({"success": False, "error": "fd_secret"}, "success, error"),
        ({}, "nothing"),
        ([1, 2], "list"),
        ({"body": 7, "status_code": 200}, "body, status_code"),
    ],
    ids=["refused", "empty", "list", "no-text"],
)
def test_an_answer_without_a_page_is_told_by_what_it_has_and_not_by_values(document: Any, has: str) -> None:
    with pytest.raises(ApiAnswerUnreadable) as raised:
        answer_of(document, PATHS)
    assert str(raised.value) == f"the scraping API's answer has no HTML at data.rawHtml or body; it has {has}"


NO_JSON = {
    "html": b"<html>Bad gateway</html>",
    "empty": b"",
    "cut": b'{"a":',
    "bytes": b"\xff\xfd",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("body", NO_JSON.values(), ids=NO_JSON)
def test_what_is_no_json_is_told(body: bytes) -> None:
    with pytest.raises(ApiAnswerUnreadable, match=rf"answered no JSON, but {len(body):,} bytes text/html$"):
        loaded(body, "text/html")


def test_half_a_surrogate_pair_is_read() -> None:
    assert loaded(b'{"html": "\\ud83d"}') == {"html": "\ud83d"}


@pytest.mark.parametrize(
    ("told", "cost"),
    [(6, 6), (0, 0), (1.2, 2), (-1, None), (True, None), ("6", None), (None, None), (float("inf"), None)],
    ids=str,
)
def test_cost_is_what_the_answer_says_in_whole_units(told: object, cost: int | None) -> None:
    assert cost_of({"tokens_used": told}, "tokens_used") == cost
    assert cost_of({"tokens_used": told}, None) is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a.0.b", 1), ("a.1", None), ("a.b", None), ("a.0.b.c", None), ("x", None), ("c", 2)],
)
def test_a_path_leads_through_tables_and_lists(path: str, expected: object) -> None:
    assert at({"a": [{"b": 1}], "c": 2}, path) == expected
