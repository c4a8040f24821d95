"""Which sources of product pages a crawl asks, by its store file and its phase."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.inside import Place, store_folder
from tests.scripted import ScriptedShop, listing, product, sitemap


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        shop.says("/sitemap.xml", sitemap(f"{shop.url}/p/1"))
        shop.says("/all", listing("/p/2"))
        for number in (1, 2):
            shop.says(f"/p/{number}", product(f"Mug {number}"))
        yield shop


@pytest.mark.parametrize(
    ("text", "backfill", "refresh"),
    [
        ("", {"/sitemap.xml"}, {"/sitemap.xml"}),
        ('[catalogue]\nurl = "/all"', {"/sitemap.xml", "/all"}, {"/sitemap.xml", "/all"}),
        ('[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"', {"/all"}, {"/all"}),
        ('[discover]\ncatalogue = false\n[catalogue]\nurl = "/all"', {"/sitemap.xml"}, {"/sitemap.xml"}),
        ('[refresh]\nsitemaps = false\nhead_pages = 0\n[catalogue]\nurl = "/all"', {"/sitemap.xml", "/all"}, set()),
    ],
)
def test_phase_asks_only(shop: ScriptedShop, tmp_path: Path, text: str, backfill: set[str], refresh: set[str]) -> None:
    stores = store_folder(tmp_path, f"[politeness]\ndelay_s = 0\n{text}")
    here = Place(shop.url, tmp_path / "store.db", "shop", stores)
    for phase, expected in (("backfill", backfill), ("refresh", refresh)):
        shop.asked.clear()
        assert here.crawl(phase).summary.status == "complete"
        assert {path for path in shop.paths() if path in ("/sitemap.xml", "/all")} == expected
