"""Stores with code of their own, for tests: written into a folder, loaded, and run over a page."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from storebot.core.page import Page
from storebot.stores import Store, load_store
from tests.stores.writing import LEAST, written

HEAD = "from storebot.stores.parsers import Catalogue, Page, Product, Select, Variant\n"
URL = "https://shop.example/p/1"


def coded(folder: Path, code: str, kind: str = "product", toml: str = LEAST, *, head: str = HEAD) -> Store:
    """Return the store ``acme`` with this text in ``product.py`` (or another kind)."""
    path = written(folder, toml)
    (path.parent / f"{kind}.py").write_text(head + dedent(code), encoding="utf-8")
    return load_store("acme", [folder])


def page(body: str, url: str = URL) -> Page:
    return Page(
        url=url,
        body=f"<html><head></head><body>{body}</body></html>".encode(),
        headers={"content-type": "text/html; charset=utf-8"},
    )
