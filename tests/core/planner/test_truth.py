"""What is known to be true: the interval of a share, and the signals in words."""

from __future__ import annotations

import random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.planner.knowledge import CARDS_ENOUGH, Knowledge
from storebot.core.planner.truth import Stale, Truth, Validators, trust, wilson

counts = st.integers(0, 100_000).flatmap(lambda looks: st.tuples(st.integers(0, looks), st.just(looks)))


@pytest.mark.parametrize(
    ("hits", "looks", "low", "high"),
    [(10, 100, 0.0552, 0.1744), (0, 20, 0.0, 0.1611), (20, 20, 0.8389, 1.0), (1, 2, 0.0945, 0.9055)],
)
def test_interval_is_wilson_s(hits: int, looks: int, low: float, high: float) -> None:
    """By the tables of Brown, Cai and DasGupta (Statistical Science 2001) and R's binom::binom.wilson."""
    assert wilson(hits, looks) == pytest.approx((low, high), abs=1e-4)


def test_nothing_is_known_without_a_look() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@given(counts)
def test_interval_holds_the_share_and_mirrors(pair: tuple[int, int]) -> None:
    hits, looks = pair
    low, high = wilson(hits, looks)
    assert 0 <= low <= high <= 1
    if looks:
        assert low - 1e-12 <= hits / looks <= high + 1e-12
        mirrored = wilson(looks - hits, looks)
        assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(st.integers(0, 50), st.integers(1, 50))
def test_more_looks_of_the_same_share_narrow_it(hits: int, more: int) -> None:
    narrow, wide = wilson(hits * 10 * more, 500 * more * 10), wilson(hits, 500)
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_interval_holds_the_truth_in_about_95_of_100_samples() -> None:
    rng, share = random.Random(6), 0.08
    held = 0
    for _ in range(400):
        low, high = wilson(sum(rng.random() < share for _ in range(150)), 150)
        held += low <= share <= high
    assert 0.91 <= held / 400 <= 0.99


def test_stale_copies_in_words() -> None:
    assert Stale(100, 10, 5).sentence() == "10 of 100 audits found a stale copy: 10.0% (95 %: 5.5% to 17.4%)"
    assert Stale().sentence().startswith("how many copies are stale isn't known")


def test_signals_of_a_store_that_is_new() -> None:
    assert trust(Knowledge(), Validators(), 0).sentences() == [
        "lastmod: none was read of late",
        "304: not tried yet: audits do, in a refresh with a budget",
        "cards: none was compared with its page yet",
    ]


def test_signals_that_proved_good_and_bad() -> None:
    known = Knowledge(
        reads_sitemaps=True, lastmod_hits=88.0, lastmod_looks=100.0, card_pairs=CARDS_ENOUGH, card_equal=CARDS_ENOUGH
    )
    good = trust(known, Validators(40, 0), 7)
    assert good.sentences()[0].startswith("lastmod: 83% of what it says to have changed did (from 100 looks)")
    assert good.sentences()[1:] == [
        "304: 0 of 40 audited were lies",
        "cards: 50 of 50 show the price of their page; their prices are saved",
    ]
    known.lastmod_is_junk, known.card_equal = True, 40
    bad = trust(known, Validators(3, 1, "/p/7: another record"), 7)
    assert bad.sentences() == [
        "lastmod: not believed, it says when the sitemap was made",
        "304: not believed, pages are fetched in full (/p/7: another record)",
        "cards: 40 of 50 show the price of their page; they are hints until 98% of 50 do",
    ]


def test_all_of_it_is_plain_json() -> None:
    truth = Truth("acme", Stale(), Stale(10, 1, 5), trust(Knowledge(), Validators(), 5))
    found = orjson.loads(orjson.dumps(truth.as_dict()))
    assert found["stale"]["ever"]["share"] == 0.1
    assert found["stale"]["30d"]["share"] is None
    assert found["trust"]["validators"] == {"asked": 0, "lies": 0, "proof": ""}
    assert truth.is_known
    assert not Truth("acme", Stale(), Stale(), trust(Knowledge(), Validators(), 0)).is_known
