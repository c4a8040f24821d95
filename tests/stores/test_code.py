"""Faults in a store's own code are found before anything is fetched: one line each, with file, line and what is due."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from storebot.exceptions import ExitCode, StoreFileError
from storebot.stores import load_store
from tests.stores.coding import HEAD, coded
from tests.stores.writing import LEAST, read, written

GOOD = """\
SELECTORS = {"name": "h1::text", "price": [".now::text", "re:price: (\\\\d+)"]}


def product(page: Page, select: Select) -> Product:
    return Product(name=select("name"), price=select("price"))
"""


def fault(folder: Path, code: str, kind: str = "product", **how: str) -> str:
    """Return what is wrong with a file, without its path."""
    with pytest.raises(StoreFileError) as caught:
        coded(folder, code, kind, **how)
    assert caught.value.exit_code is ExitCode.USAGE
    return str(caught.value).replace(str(folder / "acme" / f"{kind}.py"), kind)


def test_code_is_found_beside_the_store_file_and_its_selectors_are_compiled(tmp_path: Path) -> None:
    store = coded(tmp_path, GOOD)
    assert store.product_code is not None
    assert store.catalogue_code is None
    assert store.rules.tried("price") == ("css:.now::text", r"re:price: (\d+)")
    assert store.rules.named == ("name", "price")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def product(page select): ...", "product: line 2: expected Python: invalid syntax"),
        ("SELECTORS = {'a': 're:\\d'}", "product: line 2: expected Python: invalid escape sequence '\\d'"),
        ("import nothing_of_this_name", "product: line 2: raised ModuleNotFoundError: No module named 'nothing_of"),
        ("\n\nx = 1 / 0", "product: line 4: raised ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "product: line 2: raised SystemExit: 3"),
        ("def product(page, select): ...", 'product: line 1: expected a dictionary such as SELECTORS = {"name": "h1'),
        ("SELECTORS = ['h1']\ndef product(page, select): ...", "product: line 2: expected a dictionary such as"),
        ("SELECTORS = {}", "product: expected a function product(page, select) that returns a Product, or a list of"),
        (
            "SELECTORS = {}\nproduct = 1",
            "expected a function product(page, select) that returns a Product, or a list of",
        ),
        ("SELECTORS = {}\ndef products(page, select): ...", "; there is only products"),
        ("SELECTORS = {}\ndef product(page): ...", "product: line 3: expected a function product(page, select) that"),
        ("SELECTORS = {}\ndef product(page): ...", "; it takes (page)"),
        ("SELECTORS = {}\nasync def product(page, select): ...", "; it's async, and there is nothing to wait for"),
        ("SELECTORS = {}\ndef product(page, select): yield 1", "; it yields; use return"),
    ],
)
def test_fault_is_one_line_with_the_line_of_the_file_and_what_was_expected(
    tmp_path: Path, code: str, said: str
) -> None:
    found = fault(tmp_path, code)
    assert said in found
    assert "\n" not in found


def test_every_selector_that_is_wrong_is_named_with_its_line(tmp_path: Path) -> None:
    code = """\
    SELECTORS = {
        "name": "h1::text",
        "price": ["b[", "xpath://b"],
        "sku": 7,
        "brand": [],
        8: "b",
    }
    """
    lines = fault(tmp_path, code).splitlines()
    assert [line.partition(": SELECTORS")[0] for line in lines] == [
        "product: line 4",
        "product: line 5",
        "product: line 6",
        "product: line 7",
        "product: expected a function product(page, select) that returns a Product, or a list of them; there is none",
    ]
    assert "the CSS selector 'b[' is wrong" in lines[0]
    assert 'expected a selector such as "h1::text", or a list of them, got the number 7' in lines[1]


def test_faults_of_all_files_of_a_store_are_told_at_once(tmp_path: Path) -> None:
    written(tmp_path, "product_url = '/p/'\n")
    for kind in ("product", "catalogue"):
        (tmp_path / "acme" / f"{kind}.py").write_text("SELECTORS = {}\n")
    with pytest.raises(StoreFileError) as caught:
        load_store("acme", [tmp_path])
    assert [Path(line.split(": ")[0]).name for line in str(caught.value).splitlines()] == [
        "store.toml",
        "product.py",
        "catalogue.py",
    ]


def test_code_for_a_catalogue_that_nobody_walks_is_a_fault(tmp_path: Path) -> None:
    code = "SELECTORS = {}\ndef catalogue(page, select): return Catalogue()\n"
    assert "has no effect, because store.toml has no [catalogue] with a url" in fault(tmp_path, code, "catalogue")
    assert coded(tmp_path, code, "catalogue", LEAST + "[catalogue]\nurl = '/all'\n").catalogue_code


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    written(tmp_path, LEAST)
    (tmp_path / "acme" / "product.py").write_bytes(b"# caf\xe9\n")
    with pytest.raises(StoreFileError, match="byte 5: expected UTF-8"):
        load_store("acme", [tmp_path])


def test_each_text_of_a_file_is_imported_once_and_under_a_name_of_its_own(tmp_path: Path) -> None:
    before = set(sys.modules)
    one = coded(tmp_path, GOOD)
    again = coded(tmp_path, GOOD)
    other = coded(tmp_path, GOOD + "# another text\n")
    assert one.product_code is not None
    assert again.product_code is not None
    assert other.product_code is not None
    assert one.product_code.function is again.product_code.function
    assert one.product_code.function is not other.product_code.function
    added = {name for name in set(sys.modules) - before if name.startswith("storebot_store_")}
    assert len(added) == 2


def test_import_that_fails_leaves_no_half_module_behind(tmp_path: Path) -> None:
    before = set(sys.modules)
    fault(tmp_path, "x = 1 / 0")
    assert not {name for name in set(sys.modules) - before if name.startswith("storebot_store_")}


def test_parser_version_moves_with_the_text_of_product_py_but_not_with_its_line_ends(tmp_path: Path) -> None:
    plain = read(tmp_path)
    with_code = coded(tmp_path, GOOD)
    changed = coded(tmp_path, GOOD.replace(".now", ".price"))
    windows = coded(tmp_path, GOOD.replace("\n", "\r\n"), head=HEAD.replace("\n", "\r\n"))
    assert len({plain.parser_version, with_code.parser_version, changed.parser_version}) == 3
    assert windows.parser_version == with_code.parser_version


def test_code_for_the_catalogue_changes_what_a_walk_is_and_not_how_products_are_parsed(tmp_path: Path) -> None:
    toml = LEAST + "[catalogue]\nurl = '/all'\nnext = '.next'\n"
    plain = read(tmp_path, toml)
    code = "SELECTORS = {}\ndef catalogue(page, select): return Catalogue()\n"
    one, other = coded(tmp_path, code, "catalogue", toml), coded(tmp_path, code + "# other\n", "catalogue", toml)
    assert len({plain.walk_rules, one.walk_rules, other.walk_rules}) == 3
    assert len({plain.parser_version, one.parser_version, other.parser_version}) == 1
