"""The first line of the first page: ours before the shop's, that before what waits, and what to do first."""

from __future__ import annotations

from storebot.core.alerts.finding import Finding, Kind
from storebot.core.dashboard.banner import banner
from storebot.core.dashboard.blame import Fault
from storebot.core.dashboard.store_now import Action, Does, Stand, Standing

FINE = Standing(Stand.FINE, "all is well", Fault.NOBODY, Action(Does.NOTHING, "Nothing to do"))
FAILED = Standing(Stand.FAILED, "it broke", Fault.OURS, Action(Does.LOOK, "Look", "run", 3))
BLOCKED = Standing(Stand.BLOCKED, "it said no", Fault.SHOP, Action(Does.NOTHING, "Wait"))
HELD = Standing(Stand.HELD, "7 pages", Fault.DECISION, Action(Does.LOOK, "Decide", "holds"))
SLIGHT = Standing(Stand.PARTIAL, "1 error", Fault.NOBODY, Action(Does.NOTHING, "Nothing yet"))


def test_nothing_is_wrong_where_all_are_well() -> None:
    found = banner({"a": FINE, "b": FINE}, [])
    assert (found.light, found.fault, found.text) == ("good", Fault.NOBODY, "All 2 stores are as they should be.")
    assert banner({"a": FINE}, []).text == "The store is as it should be."


def test_what_mends_itself_is_no_fault_but_is_shown() -> None:
    found = banner({"a": FINE, "b": SLIGHT}, [])
    assert (found.light, found.fault, found.store) == ("warn", Fault.NOBODY, "b")


def test_ours_comes_before_the_shops_even_if_that_is_first_by_name() -> None:
    found = banner({"a": BLOCKED, "b": FAILED, "c": HELD, "d": FINE}, [])
    assert (found.fault, found.store, found.action) == (Fault.OURS, "b", FAILED.action)
    assert "3 of 4 stores need a look (ours: 1 failed; the shop's: 1 blocked; a decision: 1 held)" in found.text
    assert "it broke" in found.text


def test_it_is_the_shop_where_nothing_of_ours_is_broken() -> None:
    found = banner({"a": FINE, "b": BLOCKED, "c": HELD}, [])
    assert (found.title, found.store) == ("It's the shop, not us", "b")


def test_a_decision_alone_breaks_nothing() -> None:
    assert banner({"c": HELD}, []).title == "Nothing is broken; a decision waits"


def test_what_is_wrong_of_no_store_is_ours_and_leads_to_health() -> None:
    disk = Finding(Kind.DISK, "1 GB is free.", "make room")
    found = banner({"a": FINE, "b": BLOCKED}, [disk])
    assert (found.light, found.fault, found.action.about, found.action.text) == (
        "bad",
        Fault.OURS,
        "health",
        "make room",
    )
    assert "1 blocked" in found.text
    assert banner({"a": FAILED}, [disk]).store == "a"


def test_without_stores_it_says_how_to_begin() -> None:
    found = banner({}, [])
    assert (found.light, found.title) == ("idle", "There is no store yet")
