"""Which requests are believed, and where they may lead."""

from __future__ import annotations

import pytest

from storebot.core.dashboard.requests import form_token, is_form_token, is_own_site, own_path


@pytest.mark.parametrize("path", ["/", "/holds?sort=-id&after=x", "/stores/a%20b", "/products/1#price"])
def test_a_path_of_this_site_is_gone_to(path: str) -> None:
    assert own_path(path) == path


@pytest.mark.parametrize(
    "elsewhere",
    [
        "",
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/a\r\nSet-Cookie: x=1",
        "/\t/evil.example",
        "holds",
    ],
)
def test_all_else_leads_to_the_first_page(elsewhere: str) -> None:
    assert own_path(elsewhere) == "/"


def test_a_form_token_belongs_to_one_cookie() -> None:
    token = form_token("cookie of anna")
    assert is_form_token(token, "cookie of anna")
    assert not is_form_token(token, "cookie of ben")
    assert not is_form_token("", "cookie of anna")
    assert not is_form_token("ümlaut", "cookie of anna")
    assert not is_form_token(form_token(""), "")  # who has no cookie has no form


@pytest.mark.parametrize(
    ("origin", "fetch_site", "own"),
    [
        ("", "", True),  # a client that is no browser: the token decides
        ("http://127.0.0.1:8080", "same-origin", True),
        ("https://dash.example", "same-origin", True),
        ("https://evil.example", "", False),
        ("https://evil.example", "cross-site", False),
        ("http://127.0.0.1:8080", "cross-site", False),
        ("http://127.0.0.1:9999", "same-site", False),
        ("null", "", False),
    ],
)
def test_a_page_of_another_site_is_known_by_its_headers(origin: str, fetch_site: str, own: bool) -> None:
    assert is_own_site(origin, fetch_site, "127.0.0.1:8080", "https://dash.example") is own


def test_without_a_public_url_its_origin_is_another_site() -> None:
    assert not is_own_site("https://dash.example", "", "127.0.0.1:8080", "")
