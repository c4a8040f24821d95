"""What a store file leaves out has its default; what it says, nought included, is respected."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from storebot.core.gate_limits import Declared, Planned
from storebot.items import Listing
from storebot.stores.sections import FIELDS, Product
from tests.stores.writing import LEAST, read


def test_two_lines_make_a_store(tmp_path: Path) -> None:
    store = read(tmp_path)
    assert store.discover.sitemaps is True
    assert store.catalogue is None
    assert not store.walks_catalogue
    assert store.politeness.model_dump() == {
        "delay_s": 1.0,
        "jitter": 0.5,
        "concurrency": 1,
        "robots": True,
        "robots_reason": None,
        "user_agent": None,
    }
    assert (store.refresh.interval_ms, store.refresh.head_pages, store.refresh.sitemaps) == (0, 1, True)
    assert (store.blocks.markers, store.blocks.breaker_share, store.blocks.breaker_min) == ((), 0.5, 10)
    assert (store.expect.required, store.expect.min_listings) == (("name",), None)


def test_nought_is_said_and_only_an_absent_key_is_unset(tmp_path: Path) -> None:
    store = read(
        tmp_path,
        LEAST + "[politeness]\ndelay_s = 0\njitter = 0\n[refresh]\nhead_pages = 0\ninterval = '0s'\n"
        "[expect]\nmin_listings = 0\n[catalogue]\nurl = '/c/{page}'\nfirst = 0\n",
    )
    assert (store.politeness.delay_s, store.politeness.jitter) == (0, 0)
    assert (store.refresh.head_pages, store.refresh.interval_ms) == (0, 0)
    assert store.expect.min_listings == 0
    assert store.catalogue is not None
    assert store.catalogue.first == 0


def test_booleans_are_what_the_file_says(tmp_path: Path) -> None:
    text = (
        LEAST + "[politeness]\nrobots = false\nrobots_reason = 'their letter of 3 May'\n[refresh]\nsitemaps = false\n"
    )
    store = read(tmp_path, text)
    assert store.politeness.robots is False
    assert store.refresh.sitemaps is False


def test_robots_reason_may_stand_before_robots(tmp_path: Path) -> None:
    store = read(tmp_path, LEAST + "[politeness]\nrobots_reason = 'their letter'\nrobots = false\n")
    assert store.politeness.robots_reason == "their letter"


@pytest.mark.parametrize(
    ("text", "expected_ms"),
    [("0s", 0), ("45s", 45_000), ("90m", 5_400_000), ("24h", 86_400_000), ("7d", 604_800_000), ("1h30m", 5_400_000)],
)
def test_a_duration_is_read_in_its_unit(tmp_path: Path, text: str, expected_ms: int) -> None:
    assert read(tmp_path, f"{LEAST}[refresh]\ninterval = '{text}'").revisit_after_ms == expected_ms


@pytest.mark.parametrize(
    ("discover", "catalogue", "walks"),
    [
        ("", "", False),
        ("", "[catalogue]\nurl = '/c'", True),
        ("catalogue = true", "[catalogue]\nurl = '/c'", True),
        ("catalogue = false", "[catalogue]\nurl = '/c'", False),
        ("catalogue = false", "", False),
    ],
)
def test_the_catalogue_is_walked_where_there_is_one_unless_the_file_says_no(
    tmp_path: Path, discover: str, catalogue: str, walks: bool
) -> None:
    store = read(tmp_path, f"{LEAST}[discover]\n{discover}\n{catalogue}")
    assert store.walks_catalogue is walks
    assert bool(store.catalogue_urls) is walks


def test_name_is_always_required(tmp_path: Path) -> None:
    assert read(tmp_path, LEAST + "[expect]\nrequired = ['price']").required == ("name", "price")


def test_every_field_that_a_rule_may_fill_is_a_field_of_the_record() -> None:
    money = {"price": "price_minor", "regular_price": "regular_price_minor"}
    money |= {"price_min": "price_min_minor", "price_max": "price_max_minor"}
    assert {money.get(name, name) for name in FIELDS} <= set(Listing.__dataclass_fields__)


def test_a_store_never_changes_once_it_is_read(tmp_path: Path) -> None:
    store = read(tmp_path)
    with pytest.raises(ValidationError, match="frozen"):
        store.politeness.delay_s = 0.0
    with pytest.raises(ValidationError, match="frozen"):
        Product().name = ("h1",)


def test_gate_says_what_it_is_judged_by_and_leaves_the_rest_to_history(tmp_path: Path) -> None:
    window = (
        "[[gate.planned]]\nfrom = 2026-11-27T00:00:00+01:00\nuntil = 2026-11-30T00:00:00+01:00\nreason = 'a sale'\n"
    )
    declared = read(tmp_path, f"{LEAST}[gate]\nmax_changed = 0.8\nsample = 10\n{window}").gate.declared
    assert (declared.changed, declared.missing, declared.sample) == (0.8, None, 10)
    assert declared.planned == (Planned(1_795_734_000_000, 1_795_993_200_000, "prices", "a sale"),)
    assert read(tmp_path).gate.declared == Declared()
