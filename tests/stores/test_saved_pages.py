"""The saved pages of the stores of this project give the records that somebody reviewed. A new store needs no test.

`scrapy check --save URL --store NAME` makes a page of `tests/stores/NAME/`; it fails here until it is accepted.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pytest

from storebot.core.page import Page
from storebot.exceptions import ConfigurationError
from storebot.stores import list_stores, load_store, saved_pages
from storebot.stores.goldens import Golden, goldens

GOLDENS = [golden for name in list_stores() for golden in goldens(load_store(name))]


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: f"{golden.store.name}-{golden.id}")
def test_saved_page_gives_the_record_that_was_reviewed(golden: Golden) -> None:
    assert golden.differences() == []
    assert golden.reviewed, f"look at {saved_pages.facts_path(golden.path)}, then: scrapy check --accept {golden.id}"


def test_every_folder_of_saved_pages_belongs_to_a_store() -> None:
    here = Path(__file__).parent
    folders = {path.parent.name for path in here.glob("*/*.json")}
    assert folders <= set(list_stores())
    assert {"books", "demo"} <= folders


# --- the files --------------------------------------------------------------------------------------------------------

URL = "https://shop.example/c/Größe/Blue Mug_12/index.html?v=1"


def page(body: bytes = b"<h1>A</h1>", url: str = URL) -> Page:
    headers = {"content-type": "text/html; charset=latin-1", "set-cookie": "secret=1"}
    return Page(url=url, body=body, status=404, headers=headers)


@pytest.mark.parametrize("size", [10, 100_000])
def test_page_that_is_read_again_is_the_page_that_was_fetched(tmp_path: Path, size: int) -> None:
    fetched = page(b"\xe4" * size)
    path = saved_pages.write(tmp_path, "one", fetched, saved_pages.about(fetched), compress=True)
    again = saved_pages.read_page(path, saved_pages.read_facts(path))
    assert (again.url, again.status, again.body, again.text) == (URL, 404, fetched.body, "ä" * size)
    assert path.name == ("one.html" if size == 10 else "one.html.gz")
    assert "secret" not in saved_pages.facts_path(path).read_text()
    assert [saved_pages.name_of(found) for found in saved_pages.bodies(tmp_path)] == ["one"]


def test_page_of_the_same_name_is_replaced_in_whatever_form_it_was(tmp_path: Path) -> None:
    for size in (100_000, 10, 100_000):
        saved_pages.write(tmp_path, "one", page(b"a" * size), {}, compress=True)
        assert len(list(tmp_path.iterdir())) == 2


def test_compressed_page_is_the_same_bytes_at_any_time(tmp_path: Path) -> None:
    first = saved_pages.write(tmp_path, "a", page(b"a" * 100_000), {}, compress=True).read_bytes()
    assert first == gzip.compress(b"a" * 100_000, mtime=0)


def test_name_of_a_page_tells_urls_apart_and_is_made_of_plain_letters() -> None:
    names = {saved_pages.page_id(url) for url in (URL, URL + "&x=1", "https://shop.example/", f"{URL[:-4]}{'x-' * 99}")}
    assert len(names) == 4
    assert all(len(name) < 60 and name.replace("-", "").isalnum() and name.isascii() for name in names)


@pytest.mark.parametrize(
    ("facts", "said"),
    [(None, "there is none"), (b"{", "unexpected"), (b"[]", '"url"'), (orjson.dumps({"url": 7}), '"url"')],
)
def test_page_without_facts_that_can_be_read_is_an_error_with_its_path(
    tmp_path: Path, facts: bytes | None, said: str
) -> None:
    (tmp_path / "one.html").write_bytes(b"")
    if facts is not None:
        (tmp_path / "one.json").write_bytes(facts)
    with pytest.raises(ConfigurationError, match=r"one\.(html|json)") as caught:
        saved_pages.read_facts(tmp_path / "one.html")
    assert said in str(caught.value)


def test_body_that_was_cut_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "one.html.gz").write_bytes(gzip.compress(b"a" * 9999)[:-20])
    with pytest.raises(OSError, match="can't be read"):
        saved_pages.read_body(tmp_path / "one.html.gz")
