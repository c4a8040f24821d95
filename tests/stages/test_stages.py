"""Where stages are registered, and what is refused as one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from storebot.core.stage import Derived, Reads, Subject
from storebot.exceptions import ConfigurationError
from storebot.stages import BUILT_IN, chosen, load_stages

HERE = "tests.stages.test_stages"


class Margin:
    version = "3"
    reads: frozenset[Reads] = frozenset()

    def derive(self, subject: Subject) -> Derived:
        return Derived()


class WithoutVersion:
    reads: frozenset[Reads] = frozenset()

    def derive(self, subject: Subject) -> Derived:
        return Derived()


class Numbered(Margin):
    version = 3  # type: ignore[assignment]


class ReadsTooMuch(Margin):
    reads = frozenset({"visits"})  # type: ignore[arg-type]


class NeedsArguments(Margin):
    def __init__(self, share: float) -> None:
        self.share = share


def test_a_stage_of_ones_own_is_one_entry_and_runs_after_storebots() -> None:
    stages = load_stages({"margin": f"{HERE}.Margin"})
    assert list(stages) == [*BUILT_IN, "margin"]
    assert chosen("margin", stages) == ["margin"]
    assert chosen("all", stages) == list(stages)


def test_enrich_is_three_stages_and_one_that_is_taken_out_is_not_run() -> None:
    assert chosen("enrich", load_stages({})) == ["same_product", "price_lows", "unit_price"]
    assert chosen("enrich", load_stages({"unit_price": None})) == ["same_product", "price_lows"]


def test_a_stage_may_stand_in_for_one_of_storebots() -> None:
    stages = load_stages({"score": f"{HERE}.Margin"})
    assert isinstance(stages["score"], Margin)
    assert list(stages) == list(BUILT_IN)


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ({"margin": f"{HERE}.Absent"}, "can't be made: AttributeError"),
        ({"margin": "no_such_module.Stage"}, "can't be made: ModuleNotFoundError"),
        ({"margin": "Margin"}, "can't be made: ValueError"),
        ({"margin": f"{HERE}.NeedsArguments"}, "can't be made: TypeError"),
        ({"margin": f"{HERE}.WithoutVersion"}, "isn't a stage: it needs `version`"),
        ({"margin": "builtins.dict"}, "isn't a stage"),
        ({"margin": f"{HERE}.Numbered"}, "version must be a text"),
        ({"margin": f"{HERE}.ReadsTooMuch"}, "`reads` may name checks, offers"),
        ({"all": f"{HERE}.Margin"}, "'all' can't be a stage's name"),
        ({"enrich": f"{HERE}.Margin"}, "'enrich' can't be a stage's name"),
        ({"My Stage": f"{HERE}.Margin"}, "'My Stage' can't be a stage's name"),
    ],
)
def test_what_is_no_stage_is_refused_with_its_entry(own: Mapping[str, str], why: str) -> None:
    with pytest.raises(ConfigurationError, match="STOREBOT_STAGES") as refused:
        load_stages(own)
    assert why in str(refused.value)


def test_a_name_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'price_lows'"):
        chosen("price_low", load_stages({}))
