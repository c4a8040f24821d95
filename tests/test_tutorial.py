"""docs/adding-a-store.md, followed word for word: its files are right, its commands exist, its output is what comes."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from storebot.core.page import Page
from storebot.core.parsing.reading import read_product
from storebot.demo.running import DemoStore
from storebot.guest import Guest
from storebot.stores import Store, load_store
from storebot.stores.goldens import reading
from tests.inside import Place

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = (ROOT / "docs" / "adding-a-store.md").read_text(encoding="utf-8")
PATH = "/p/juniper-lane-stackable-oak-espresso-cup-m198-11"
WRITTEN = "http://127.0.0.1:8400"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


TWO_LINES, WHOLE_FILE, PLATFORM = blocks("toml")[:3]
PRODUCT, CATALOGUE = blocks("python")
_, SAVED, LAST_LINES = blocks("text")  # what a probe prints is held by its own tests


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=60, seed=7, markup="plain") as shop:
        yield shop


def fetched(shop: DemoStore) -> Page:
    page = Guest("test/1", "test", 0).get(shop.url + PATH).page
    assert page is not None
    return page


def written(folder: Path, toml: str, **code: str) -> Store:
    path = folder / "mine" / "store.toml"
    path.parent.mkdir(parents=True)
    path.write_text(toml, encoding="utf-8")
    for kind, text in code.items():
        (path.parent / f"{kind}.py").write_text(text, encoding="utf-8")
    return load_store("mine", [folder])


@pytest.mark.parametrize("place", range(len(blocks("toml"))))
def test_every_file_of_the_tutorial_is_right(tmp_path: Path, place: int) -> None:
    """What shows a part of a file is right behind the two lines that every file has, and the prices it speaks of."""
    known = blocks("toml")
    text = known[place]
    needs = [TWO_LINES, *(prices for prices in known if "[costs]" in prices and "money =" in text)]
    assert written(tmp_path, text if "base_url" in text else "\n".join([*needs, text])).product_pattern


def test_saved_page_has_the_record_of_the_tutorial(tmp_path: Path, shop: DemoStore) -> None:
    store = written(tmp_path, WHOLE_FILE.replace(WRITTEN, shop.url))
    shown = json.loads(SAVED[: SAVED.rindex("}") + 1].replace(WRITTEN.split(":", 1)[1], shop.url.split(":", 1)[1]))
    found = reading(store, fetched(shop))
    assert {name: shown[name] for name in found} == found
    assert f"{PATH} --store mine --id cup" in DOCUMENT


def test_crawls_end_as_the_tutorial_says(tmp_path: Path, shop: DemoStore) -> None:
    written(tmp_path, WHOLE_FILE)
    place = Place(shop.url, tmp_path / "store.db", "mine", tmp_path)
    for phase, line in zip(("backfill", "refresh"), LAST_LINES.splitlines(), strict=True):
        summary = place.crawl(phase).summary.line()
        assert comparable(summary) == comparable(line)


def comparable(line: str) -> str:
    """Return a last line without what depends on the machine, and on whether the client asks twice."""
    return re.sub(r"(elapsed|bytes|requests|run)=\S+", "", line)


def test_code_of_the_tutorial_reads_what_it_says(tmp_path: Path, shop: DemoStore) -> None:
    store = written(tmp_path, WHOLE_FILE.replace(WRITTEN, shop.url), product=PRODUCT)
    (found,) = read_product(fetched(shop), store.rules).extracted
    assert found.values["rating_value"] == "4.0"
    assert found.values["review_count"] == "8"
    assert found.sources["name"] == "css:h1"


def test_catalogue_code_of_the_tutorial_names_products_and_the_next_page(tmp_path: Path) -> None:
    store = written(tmp_path, TWO_LINES + '[catalogue]\nurl = "/all"\n', catalogue=CATALOGUE)
    body = b'<script>window.items = [{"slug": "mug-1"}, {"slug": "about"}];</script><a class="more" data-after="7">'
    found = store.read_catalogue(Page(url=f"{WRITTEN}/all", body=body))
    assert found == ([f"{WRITTEN}/p/mug-1"], f"{WRITTEN}/all?after=7", "")


def commands() -> list[str]:
    lines = re.findall(r"^    scrapy (.+?)(?:\s+#.*)?$", DOCUMENT, re.MULTILINE)
    return [line for line in lines if "…" not in line]


@pytest.mark.parametrize("line", commands())
def test_every_command_of_the_tutorial_takes_its_arguments(line: str) -> None:
    name, *arguments = shlex.split(line)
    command: ScrapyCommand = importlib.import_module(f"storebot.commands.{name}").Command()
    command.settings = Settings()
    parser = argparse.ArgumentParser(exit_on_error=False)
    command.add_options(parser)
    parser.add_argument("args", nargs="*")
    parser.parse_args(arguments)
