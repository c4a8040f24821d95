"""Sitemap lines of robots.txt."""

from __future__ import annotations

import json

import pytest

from storebot.core.robots import sitemaps_in_robots
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
