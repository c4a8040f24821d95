"""Saved pages of a store with the record that each gives: what a change of its rules may not change unnoticed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from storebot.core.inspection import inspection
from storebot.core.page import Page
from storebot.core.parsing.rules import PARSER
from storebot.core.urls import url_key
from storebot.exceptions import ConfigurationError
from storebot.stores import saved_pages
from storebot.stores.model import Store

_FOLDER = "pages"  # in the folder of a store of your own
# Whose page it is, said once above; hashes and origins, which a better reading may change; and money twice over.
_LEFT_OUT = frozenset({"store", "url_key", "field_source", "main_image"})
# What whoever reviews a record looks at before all else.
_ABOUT = frozenset({"url", "status", "headers", "reviewed"})  # of the page, not of its reading
_FIRST = ("variant_id", "name", "price", "regular_price", "price_min", "price_max", "currency", "availability")


@dataclass(frozen=True, slots=True)
class Golden:
    """One saved page: its body's path, and what the file beside it says."""

    store: Store
    path: Path
    facts: Mapping[str, Any]

    @property
    def id(self) -> str:
        return saved_pages.name_of(self.path)

    @property
    def reviewed(self) -> bool:
        """Whether somebody has looked at the record and said that it's right."""
        return self.facts.get("reviewed") is True

    def differences(self) -> list[str]:
        """Read the page; return a line for each value that isn't the expected one."""
        return difference(self.facts, reading(self.store, saved_pages.read_page(self.path, self.facts)))


def pages_folder(store: Store) -> Path | None:
    """Return where a store's saved pages are: beside its file, or in ``tests/stores`` for those of this project.

    None for a packaged store outside a checkout: its pages aren't installed.
    """
    folder = Path(store.path).parent
    package = Path(str(resources.files("storebot")))
    if folder.parent != package / "stores":
        return folder / _FOLDER
    tests = package.parent / "tests" / "stores"
    return tests / store.name if tests.is_dir() else None


def goldens(store: Store) -> Iterator[Golden]:
    """Yield the saved pages of a store, by name. Raises ConfigurationError for one whose JSON file can't be read."""
    folder = pages_folder(store)
    for path in saved_pages.bodies(folder) if folder else ():
        yield Golden(store, path, saved_pages.read_facts(path))


def reading(store: Store, page: Page) -> dict[str, Any]:
    """Return what a golden holds of a page: its key and the listings, or the links of a page of the catalogue."""
    key = url_key(page.url, store.key_rules)
    if not store.product_pattern.search(page.url):
        links = store.read_catalogue(page)
        return {"links": list(links.links), "next": links.next_url, **_if({"failure": links.failure})}
    found = inspection(page, store.rules, store.context(url=page.url, url_key=key), store.blocks.markers)
    failures = [_problem(one) for one in found["problems"]] if not found["listings"] else []
    return {
        "key": key,
        "listings": [_listing(listing, page.url) for listing in found["listings"]],
        **_if({"block": found["block"] and found["block"]["vendor"], "failure": "; ".join(failures)}),
    }


def _problem(problem: Mapping[str, str]) -> str:
    """Return a problem in words; one of the store's own code names its file itself."""
    return problem["reason"] if problem["field"] == PARSER else f"{problem['field']}: {problem['reason']}"


def saved(store: Store, page: Page) -> dict[str, Any]:
    """Return the facts of a page that is saved now: with its reading, for somebody to review."""
    found = reading(store, page)
    if "block" in found:
        raise ConfigurationError(f"{page.url}: is a block page ({found['block']}); such a page is never saved")
    return {**saved_pages.about(page), "reviewed": False, **found}


def accepted(golden: Golden) -> dict[str, Any]:
    """Return the facts of a page whose present reading is right."""
    page = saved_pages.read_page(golden.path, golden.facts)
    return {**saved_pages.about(page), "reviewed": True, **reading(golden.store, page)}


def difference(expected: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    """Return ``place: expected …, got …`` for each value of a reading that isn't as expected."""
    pair = ({name: value for name, value in facts.items() if name not in _ABOUT} for facts in (expected, got))
    return list(_differences("", *pair))


def _differences(place: str, expected: object, got: object) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(got, dict):
        for name in dict.fromkeys((*expected, *got)):
            yield from _differences(f"{place}.{name}" if place else str(name), expected.get(name), got.get(name))
    elif isinstance(expected, list) and isinstance(got, list) and any(isinstance(one, dict) for one in expected + got):
        for number in range(max(len(expected), len(got))):
            pair = (items[number] if number < len(items) else None for items in (expected, got))
            yield from _differences(f"{place}[{number}]", *pair)
    elif expected != got:
        yield f"{place}: expected {_short(expected)}, got {_short(got)}"


def _short(value: object) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 160 else f"{text[:159]}…"


def _listing(record: Mapping[str, Any], url: str) -> dict[str, Any]:
    """Return the record of one listing as a person reviews it: what has a value, money as text."""
    money = {name for name in record if name.endswith("_minor")}
    names = [*_FIRST, *(name for name in record if name not in _FIRST)]
    said = {name: record[name] for name in names if name not in _LEFT_OUT | money}
    said["disagreements"] = [one["field"] for one in record["disagreements"]]
    if said["url"] == url:
        del said["url"]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in _if(said).items()}


def _if(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value not in (None, "", [], (), {})}
