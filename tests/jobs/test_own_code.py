"""Which code this is: the same from a checkout and from an egg, and another one after each change."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path

import pytest

from storebot.jobs.own_code import SUFFIXES, own_code
from tests.crawls.scrapy_process import ROOT


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a store in it."""
    for name in ("__init__.py", "core/urls.py", "stores/acme/store.toml", "stores/acme/product.py"):
        (tmp_path / "storebot" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "storebot" / name).write_text(f"# {name}")
    return tmp_path / "storebot"


def zipped(package: Path) -> zipfile.Path:
    """Return the package as it lies in an egg."""
    egg = package.parent / "storebot.egg"
    with zipfile.ZipFile(egg, "w") as file:
        for path in sorted(package.rglob("*"), reverse=True):
            file.write(path, path.relative_to(package.parent))
    return zipfile.Path(egg, "storebot/")


def test_an_egg_of_a_checkout_is_the_same_code(package: Path) -> None:
    assert own_code(zipped(package)) == own_code(package)
    assert len(own_code(package)) == 12


@pytest.mark.parametrize("name", ["core/urls.py", "stores/acme/store.toml", "stores/acme/product.py"])
def test_whatever_changes_makes_another(package: Path, name: str) -> None:
    before = own_code(package)
    (package / name).write_text("# changed")
    changed = own_code(package)
    (package / name).rename(package / "moved.py")
    assert len({before, changed, own_code(package)}) == 3


def test_what_is_not_deployed_does_not_count(package: Path) -> None:
    before = own_code(package)
    (package / "core" / "__pycache__").mkdir()
    (package / "core" / "__pycache__" / "urls.py").write_text("")
    (package / "stores" / "acme" / "notes.txt").write_text("")
    assert own_code(package) == before


def test_all_that_is_packed_counts() -> None:
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["*"]
    assert {"*.py", *packed} - {f"*{suffix}" for suffix in SUFFIXES} == {"py.typed"}
