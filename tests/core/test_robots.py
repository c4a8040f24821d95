"""Sitemap lines of robots.txt."""

from __future__ import annotations

import json

import pytest

from storebot.core.robots import Reading, asked_delay_s, reading_of, sitemaps_in_robots, text_of
from tests.shared_data import ROOT, shared

GOLDENS = sorted(
    path.name.removesuffix(".golden.json") for path in (ROOT / "sitemaps/files").glob("*robots*.golden.json")
)


@pytest.mark.parametrize("name", GOLDENS or ["cc-robots-dos.txt"])
def test_every_saved_robots_txt_gives_what_its_golden_says(name: str) -> None:
    golden = json.loads(shared(f"sitemaps/files/{name}.golden.json").read_text())
    assert sitemaps_in_robots(shared(f"sitemaps/files/{name}").read_bytes()) == golden["sitemaps"]


def test_relative_values_are_resolved_against_the_final_url() -> None:
    body = (
        b"\xef\xbb\xbfSITEMAP : /a.xml # the first\rsite-map:https://cdn.example/b.xml\r\nSitemap: //c.example/c.xml\n"
    )
    assert sitemaps_in_robots(body, "https://shop.example/robots.txt") == [
        "https://shop.example/a.xml",
        "https://cdn.example/b.xml",
        "https://c.example/c.xml",
    ]


@pytest.mark.parametrize(
    "body", [b"", b"Sitemap:", b"# Sitemap: /a.xml", b"<p>Sitemap: x</p>", b"Sitemap: <a href=x>", b"\xff\xfe\x00"]
)
def test_lines_without_an_address_give_none(body: bytes) -> None:
    assert sitemaps_in_robots(body) == []


@pytest.mark.parametrize(
    ("status", "reading"),
    [
        (200, Reading.RULES),
        (204, Reading.RULES),
        (302, Reading.ABSENT),
        (401, Reading.ABSENT),
        (404, Reading.ABSENT),
        (410, Reading.ABSENT),
        (429, Reading.UNREACHABLE),
        (500, Reading.UNREACHABLE),
        (503, Reading.UNREACHABLE),
        (599, Reading.UNREACHABLE),
    ],
)
def test_what_a_status_means(status: int, reading: Reading) -> None:
    """Case Z02."""
    assert reading_of(status) is reading


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /\n",
        "User-agent: *\nDisallow: /\n".encode("utf-16"),
        b"User-agent: *\nDisallow: /\n\0",
    ],
    ids=["UTF-8", "UTF-16", "with a nought"],
)
def test_text_that_is_kept_begins_with_its_first_group(body: bytes) -> None:
    """Case Z01."""
    assert text_of(body) == "User-agent: *\nDisallow: /\n"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [((None,), 0), ((2.5,), 2.5), ((None, 1, 10), 10), ((1.0, 4, 60), 15), ((30.0, 1, 10), 30), ((1.0, 0, 0), 1)],
)
def test_longer_of_delay_and_rate_is_kept(asked: tuple[float | None, ...], expected: float) -> None:
    assert asked_delay_s(*asked) == expected  # type: ignore[arg-type]  # whole numbers of a table


def test_a_line_that_is_no_address_costs_the_others_nothing() -> None:
    body = b"Sitemap: https://[\nSitemap: /a.xml"
    assert sitemaps_in_robots(body, "https://shop.example/robots.txt") == ["https://shop.example/a.xml"]
