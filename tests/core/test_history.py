"""The history of a listing: unchanged is not the same as not observed."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.history import MISSING, OBSERVED, UNOBSERVED, Look, Offer, Span, spans
from storebot.items import Outcome

CHEAP, DEAR = Offer(1, 100, "EUR", "InStock", "seen"), Offer(5, 300, "EUR", "InStock", "seen")


def test_a_look_that_saw_nothing_is_a_span_of_its_own() -> None:
    looks = [
        Look(1, Outcome.NEW),
        Look(2, Outcome.UNCHANGED),
        Look(3, Outcome.BLOCKED),
        Look(4, Outcome.NOT_MODIFIED),
        Look(5, Outcome.CHANGED),
        Look(6, Outcome.MISSING),
    ]
    assert spans(looks, [CHEAP, DEAR]) == [
        Span(kind=OBSERVED, since=1, until=2, looks=2, offer=CHEAP),
        Span(kind=UNOBSERVED, since=3, until=3, looks=1),
        Span(kind=OBSERVED, since=4, until=4, looks=1, offer=CHEAP),
        Span(kind=OBSERVED, since=5, until=5, looks=1, offer=DEAR),
        Span(kind=MISSING, since=6, until=6, looks=1),
    ]


def test_a_correction_begins_a_span_and_rewrites_none() -> None:
    right = Offer(3, 1000, "EUR", "InStock", "rebased")
    first, second = spans([Look(1, Outcome.NEW), Look(3, Outcome.UNCHANGED)], [CHEAP, right])
    assert (first.offer, second.offer) == (CHEAP, right)


def test_what_was_seen_before_the_series_begins_has_no_price() -> None:
    assert spans([Look(0, Outcome.UNCHANGED)], [CHEAP])[0].offer is None


@given(st.lists(st.sampled_from(list(Outcome)), max_size=30))
def test_every_look_is_in_one_span_and_neighbours_differ(outcomes: list[Outcome]) -> None:
    found = spans([Look(at, outcome) for at, outcome in enumerate(outcomes)], [CHEAP])
    assert sum(span.looks for span in found) == len(outcomes)
    for one, other in pairwise(found):
        assert (one.kind, one.offer) != (other.kind, other.offer)
        assert one.until < other.since
