"""A visit that is held says the same when it's read back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.db.context import RunContext
from storebot.db.held_visit import packed, unpacked
from storebot.items import VARIANTS, Availability, Disagreement, Outcome, Problem, Target
from tests.db.shop import STORE, listing, parsed, unparsed

TARGET = Target(store=STORE, url="http://shop.example/p/1", url_key="https://shop.example/p/1", page_id=7)
RUN = RunContext(
    run_id=3,
    store=STORE,
    lease_token="secret",
    kind="refresh",
    announce_new=True,
    revisit_after_ms=1,
    error_backoff_ms=2,
    parser_version="p1",
    hash_version=1,
)


def test_all_that_publishing_takes_comes_back() -> None:
    record = listing(
        availability=Availability.PRE_ORDER,
        category_path=("A", "B"),
        images=("https://shop.example/1.jpg",),
        options={"Size": "S"},
        disagreements=(Disagreement("price", {"jsonld": "1", "html": "2"}),),
    )
    visit = parsed(
        TARGET, record, etag='"a"', canonical_key="k", source_hash="s", problems=(Problem(VARIANTS, "none named"),)
    )
    found, run = unpacked(packed(visit, RUN))
    assert found == visit
    assert run == replace(RUN, lease_token="")


def test_a_missing_page_comes_back_as_missing() -> None:
    visit = unparsed(TARGET, Outcome.MISSING, status=404, evidence="404")
    assert unpacked(packed(visit, RUN)).visit == visit


def test_the_lease_is_not_kept() -> None:
    assert "secret" not in packed(parsed(TARGET), RUN)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives(text: str) -> None:
    visit = parsed(TARGET, listing(name=text, description=text))
    assert unpacked(packed(visit, RUN)).visit == visit


@pytest.mark.parametrize("text", ["{}", '{"target": {"gone": 1}}', "not JSON", "[]"])
def test_what_this_version_can_not_read_is_a_value_error(text: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - a decoder's own is one, too
        unpacked(text)
