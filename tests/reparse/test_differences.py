"""The tally of a re-parse: by field, with a few samples, however large the store."""

from __future__ import annotations

from storebot.db.corrections import Corrected, Difference
from storebot.items import Outcome, Target, Visit
from storebot.reparse.differences import Differences, sentence


def corrected(number: int, outcome: Outcome = Outcome.CHANGED, *differences: tuple[str, object, object]) -> Corrected:
    key = f"https://shop.example/p/{number}"
    visit = Visit(target=Target(store="shop", url=key, url_key=key), at_ms=0)
    return Corrected(visit, outcome, differences=[Difference(key, "", *one) for one in differences])


def test_fields_are_counted_the_most_frequent_first_with_three_samples() -> None:
    found = Differences()
    found.add(corrected(number, Outcome.CHANGED, ("price_minor", number, number * 100)) for number in range(50))
    found.add([corrected(99, Outcome.CHANGED, ("price_minor", None, 5), ("name", "Mug", "Mug, blue"))])
    found.add([corrected(100, Outcome.UNCHANGED)])
    assert found.outcomes == {Outcome.CHANGED: 51, Outcome.UNCHANGED: 1}
    told = found.as_json()["fields"]
    assert list(told) == ["price_minor", "name"]
    assert (told["price_minor"]["listings"], len(told["price_minor"]["samples"])) == (51, 3)
    table = found.lines()[0].splitlines()
    assert table[2].split()[:4] == ["price_minor", "51", "0", "0"]
    assert table[-1].split()[:5] == ["name", "1", "Mug", "Mug,", "blue"]


def test_a_long_value_is_shown_in_short_and_told_whole_as_json() -> None:
    found = Differences()
    found.add([corrected(1, Outcome.CHANGED, ("description", None, "word " * 100))])
    assert "…" in found.lines()[0]
    assert found.as_json()["fields"]["description"]["samples"][0]["after"] == "word " * 100


def test_reasons_of_pages_that_could_not_be_read_are_counted() -> None:
    found = Differences()
    for number in range(3):
        one = corrected(number, Outcome.INVALID)
        one.reason = "name: the page yields no name"
        found.add([one])
    assert found.lines() == ["3 × name: the page yields no name"]


def test_a_sentence_leaves_out_what_there_is_none_of() -> None:
    assert sentence([(2, "invalid"), (0, "error"), (1, "not kept")]) == "2 invalid; 1 not kept"
