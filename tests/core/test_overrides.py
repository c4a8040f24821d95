"""What a run does against the manners that storebot has by default."""

from __future__ import annotations

import pytest

from storebot.core.overrides import Manners, Override, forced, overrides

POLITE = Manners(
    "https://shop.example", obeys_robots=True, user_agent="storebot/0.1 (+https://me.example)", delay_s=1.0
)


def said(manners: Manners) -> list[str]:
    return [override.sentence() for override in overrides(manners, who="ann", bot_name="storebot")]


def test_polite_run_overrides_nothing() -> None:
    assert said(POLITE) == []


def test_each_override_says_what_who_and_why() -> None:
    manners = POLITE._replace(
        obeys_robots=False,
        user_agent="Mozilla/5.0",
        delay_s=0.2,
        reason="their shop manager, 3 May",
        robots_reason="their letter of 2 May",
    )
    assert said(manners) == [
        "robots.txt is not asked (ann: their letter of 2 May)",
        "the user agent doesn't name storebot: 'Mozilla/5.0' (ann: their shop manager, 3 May)",
        "0.2 s between two requests (ann: their shop manager, 3 May)",
    ]


def test_command_line_is_the_reason_where_it_wins_over_the_file() -> None:
    manners = POLITE._replace(delay_s=0.0, commanded=["DOWNLOAD_DELAY"], reason="of the file")
    assert said(manners) == ["0 s between two requests (ann: -s DOWNLOAD_DELAY on the command line)"]


def test_reason_that_nobody_gave_is_missed() -> None:
    assert said(POLITE._replace(delay_s=0.5)) == [
        "0.5 s between two requests (ann: no reason is given: [politeness] reason of the store file)"
    ]


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "http://localhost/shop", "http://[::1]", "http://10.0.0.7"])
def test_shop_of_ones_own_needs_no_delay_and_no_name(url: str) -> None:
    assert said(POLITE._replace(base_url=url, delay_s=0.0, user_agent="me")) == []


def test_forcing_a_breaker_says_who_and_why() -> None:
    assert forced(" Ann : they lifted it: see mail", "10 of 10 blocked") == Override(
        "the open circuit breaker isn't waited for (10 of 10 blocked)", "Ann", "they lifted it: see mail"
    )
