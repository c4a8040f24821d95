"""A store file is written whole, where the loader finds it, and never over another."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.exceptions import ConfigurationError, StoreFileError
from storebot.stores import load_store
from storebot.stores.writing import checked, store_path, write

TEXT = 'base_url = "https://shop.example"\nproduct_url = "/p/"\n'


def test_file_goes_to_the_folder_named_then_the_first_known_then_the_working_directory() -> None:
    assert store_path("shop", "out", ["a", "b"]) == Path("out/shop/store.toml")
    assert store_path("shop", None, ["a", "b"]) == Path("a/shop/store.toml")
    assert store_path("shop", None, []) == Path("stores/shop/store.toml")


def test_written_store_loads(tmp_path: Path) -> None:
    write(store_path("shop", str(tmp_path), []), TEXT)
    assert load_store("shop", [tmp_path]).product_url == "/p/"
    assert [path.name for path in (tmp_path / "shop").iterdir()] == ["store.toml"]


def test_existing_file_is_left_alone_unless_forced(tmp_path: Path) -> None:
    path = store_path("shop", str(tmp_path), [])
    write(path, TEXT)
    with pytest.raises(ConfigurationError, match="--force"):
        write(path, TEXT.replace("/p/", "/q/"))
    assert path.read_text(encoding="utf-8") == TEXT
    write(path, TEXT.replace("/p/", "/q/"), force=True)
    assert load_store("shop", [tmp_path]).product_url == "/q/"
    assert [one.name for one in (tmp_path / "shop").iterdir()] == ["store.toml"]


def test_text_that_does_not_load_is_refused_before_it_is_written() -> None:
    assert checked("shop", TEXT).name == "shop"
    with pytest.raises(StoreFileError):
        checked("shop", 'base_url = "https://shop.example"\nproduct_url = "("\n')
    with pytest.raises(ConfigurationError):
        checked("../shop", TEXT)


def test_name_that_leads_out_of_the_folder_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="name"):
        store_path("../shop", None, [])
