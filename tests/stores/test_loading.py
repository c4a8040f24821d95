"""Stores are found by the names of their folders, inside the package (also zipped) and outside."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import storebot
from storebot.exceptions import ConfigurationError, ExitCode, StoreFileError, UnknownStore
from storebot.stores import Store, list_stores, load_store
from tests.stores.writing import LEAST, read, written

CODE = """\
SELECTORS = {"name": "h1"}


def product(page, select):
    raise ValueError("too few")
"""


@pytest.mark.parametrize("name", list_stores())
def test_every_shipped_store_loads(name: str) -> None:
    store = load_store(name)
    assert isinstance(store, Store)
    assert store.name == name
    assert Path(store.path).parent.name == name
    assert store.rules.fields
    assert store.key_rules.host


def test_books_and_demo_are_shipped() -> None:
    assert {"books", "demo"} <= set(list_stores())


def test_a_folder_outside_adds_its_stores(tmp_path: Path) -> None:
    written(tmp_path, LEAST)
    (tmp_path / "no-store").mkdir()
    (tmp_path / "readme.txt").write_text("not a store")
    assert list_stores([tmp_path]) == sorted([*list_stores(), "acme"])
    assert load_store("acme", [str(tmp_path)]).base_url == "https://shop.example"


def test_a_store_outside_wins_over_the_shipped_one_and_the_first_folder_over_the_second(tmp_path: Path) -> None:
    written(tmp_path / "one", LEAST.replace("shop.", "one."), name="books")
    written(tmp_path / "two", LEAST.replace("shop.", "two."), name="books")
    folders = [tmp_path / "one", tmp_path / "two"]
    assert load_store("books", folders).base_url == "https://one.example"
    assert load_store("books", folders[::-1]).base_url == "https://two.example"
    assert list_stores(folders) == list_stores()


def test_an_unknown_store_names_the_nearest_and_where_it_was_sought(tmp_path: Path) -> None:
    (tmp_path / "bookz").mkdir()
    written(tmp_path, LEAST)
    with pytest.raises(UnknownStore) as caught:
        load_store("bookz", [tmp_path])
    assert str(caught.value) == (
        f"no store is named 'bookz' (did you mean 'books'?): looked in storebot's own stores, {tmp_path}; "
        f"there are {', '.join(list_stores([tmp_path]))}; {tmp_path / 'bookz'} has no store.toml"
    )
    assert caught.value.exit_code is ExitCode.USAGE


@pytest.mark.parametrize(
    "name", ["", "Books", "../books", "books/../books", "_x", "-x", "a" * 64, "bücher", "a\n", "a.b"]
)
def test_a_bad_name_is_refused_before_anything_is_read(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"a store's name is its folder's: 1 to 63 of a-z") as caught:
        load_store(name)
    assert not isinstance(caught.value, UnknownStore)


def test_the_longest_name_is_taken(tmp_path: Path) -> None:
    written(tmp_path, LEAST, name="a" * 63)
    assert load_store("a" * 63, [tmp_path]).name == "a" * 63


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    for use in (lambda: load_store("books", [tmp_path / "x"]), lambda: list_stores([tmp_path / "x"])):
        with pytest.raises(ConfigurationError, match="no such folder; STOREBOT_STORES lists folders, as PATH does"):
            use()


def test_a_folder_that_is_itself_a_store_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, LEAST)
    with pytest.raises(ConfigurationError, match="is itself a store; STOREBOT_STORES needs the folder that holds it"):
        load_store("acme", [path.parent])


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    written(tmp_path, "\ufeff" + LEAST)
    assert load_store("acme", [tmp_path]).product_url == "/p/"


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, LEAST)
    path.write_bytes(b"# caf\xe9\n" + LEAST.encode())
    with pytest.raises(StoreFileError, match="byte 5: expected UTF-8; save the file in that encoding"):
        load_store("acme", [tmp_path])


def test_an_empty_file_lacks_what_every_store_needs(tmp_path: Path) -> None:
    with pytest.raises(StoreFileError) as caught:
        read(tmp_path, "")
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == ["base_url", "product_url"]


def test_another_address_of_the_shop_stands_in_for_the_one_in_the_file(tmp_path: Path) -> None:
    text = LEAST + (
        "[discover]\nsitemaps = ['/a.xml', 'https://shop.example/b.xml', 'https://cdn.example/c.xml']\n"
        "[catalogue]\nurl = 'https://shop.example/c/{page}'\n"
    )
    store = read(tmp_path, text, base_url="http://127.0.0.1:8400/copy/")
    assert store.base_url == "http://127.0.0.1:8400/copy"
    assert store.file_base_url == "https://shop.example"
    assert store.sitemap_urls == (
        "http://127.0.0.1:8400/copy/a.xml",
        "http://127.0.0.1:8400/copy/b.xml",
        "https://cdn.example/c.xml",
    )
    assert store.catalogue_urls == ("http://127.0.0.1:8400/copy/c/{page}",)
    assert store.key_rules.host == "127.0.0.1:8400"
    assert store.parser_version == read(tmp_path, text).parser_version


@pytest.mark.parametrize("base_url", ["", "shop.example", "ftp://shop.example", "http://", "http://a b"])
def test_a_bad_address_on_the_command_line_is_not_blamed_on_the_file(base_url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^base_url: expected an absolute http\(s\) URL") as caught:
        load_store("books", base_url=base_url)
    assert not isinstance(caught.value, StoreFileError)


def test_stores_are_found_inside_a_zipped_package(tmp_path: Path) -> None:
    """Scrapyd runs a project from an egg: a zip on the path, with no files to open."""
    package = Path(storebot.__file__).parent
    egg = tmp_path / "storebot.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for path in sorted(package.rglob("*")):
            if path.suffix in (".py", ".toml"):
                archive.write(path, path.relative_to(package.parent))
        archive.writestr("storebot/stores/coded/store.toml", LEAST)
        archive.writestr("storebot/stores/coded/product.py", CODE)
    code = (
        "import storebot; from storebot.stores import *; from storebot.core.page import Page\n"
        "print(storebot.__file__, *list_stores())\n"
        "for name in list_stores(): print(load_store(name).path)\n"
        "rules = load_store('coded').rules\n"
        "print(rules.parser(Page(url='https://shop.example/p/1', body=b'<h1>A</h1>')).failure)"
    )
    command = [sys.executable, "-W", "error", "-c", f"import sys; sys.path.insert(0, {str(egg)!r})\n{code}"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60).stdout
    first, *paths, failure = printed.splitlines()
    names = sorted([*list_stores(), "coded"])
    assert first.split() == [str(egg / "storebot" / "__init__.py"), *names]
    assert paths == [str(egg / "storebot" / "stores" / name / "store.toml") for name in names]
    assert failure == f"{egg}/storebot/stores/coded/product.py: line 5: ValueError: too few"
