"""Options out of their range are refused with a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.demo import guards, lies, options
from storebot.demo.options import ShopOptions
from storebot.exceptions import ConfigurationError


@pytest.mark.parametrize(
    "wrong",
    [
        {"products": -1},
        {"page_size": 0},
        {"sitemap_size": 50_001},
        {"markup": "rdfa"},
        {"currency": "XXX"},
        {"past_end": "500"},
        {"variant_share": 1.5},
        {"guard": "challenge"},
        {"guard": "needs_http2"},  # and no https
    ],
)
def test_an_option_out_of_range_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        ShopOptions(**wrong)


def test_the_guards_that_may_be_chosen_are_those_there_are() -> None:
    assert set(options.GUARDS) == guards.GUARDS.keys() < lies.LIES.keys()
