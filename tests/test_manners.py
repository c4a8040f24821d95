"""How polite the settings make a run, and what its owner is told before it asks anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from storebot.manners import overridden, warnings
from storebot.spiders.base import store_settings
from storebot.stores import load_store
from storebot.stores.model import Store
from tests.inside import Place, store_folder
from tests.scripted import ScriptedShop, listing, product

CONTACT = "https://me.example/bot"


def shop_of(tmp_path: Path, text: str = "", base_url: str | None = None) -> Store:
    return load_store("shop", [store_folder(tmp_path, text)], base_url=base_url)


def settings_of(store: Store, contact: str = CONTACT, **commanded: Any) -> Settings:
    """Return the settings that hold for a run, as a spider and the command line make them."""
    settings = Settings()
    settings.setmodule("storebot.settings", priority="project")
    settings.set("STOREBOT_CONTACT", contact, priority="cmdline")
    settings.setdict(store_settings(store, contact), priority="spider")
    settings.setdict(commanded, priority="cmdline")
    return settings


def test_user_agent_names_the_bot_and_where_to_reach_its_owner(tmp_path: Path) -> None:
    assert settings_of(shop_of(tmp_path))["USER_AGENT"] == f"storebot/0.1 (+{CONTACT})"


def test_default_settings_override_nothing_and_warn_of_nothing(tmp_path: Path) -> None:
    store = shop_of(tmp_path)
    settings = settings_of(store)
    assert overridden(store, settings) == ()
    assert list(warnings(store, settings, pages=10**6, latency_ms=900)) == []


def test_what_the_store_file_overrides_has_its_reasons(tmp_path: Path) -> None:
    store = shop_of(
        tmp_path,
        "[politeness]\ndelay_s = 0.2\nuser_agent = 'Mozilla/5.0'\nreason = 'their manager, 3 May'\n"
        "robots = false\nrobots_reason = 'their letter'\n",
    )
    assert [(one.what, one.why) for one in overridden(store, settings_of(store))] == [
        ("robots.txt is not asked", "their letter"),
        ("the user agent doesn't name storebot: 'Mozilla/5.0'", "their manager, 3 May"),
        ("0.2 s between two requests", "their manager, 3 May"),
    ]
    assert all(one.who for one in overridden(store, settings_of(store)))


def test_what_the_command_line_overrides_is_no_reason_of_the_file(tmp_path: Path) -> None:
    store = shop_of(tmp_path, "[politeness]\nreason = 'their manager'\n")
    settings = settings_of(store, DOWNLOAD_DELAY=0.1, ROBOTSTXT_OBEY=False)
    assert [one.why for one in overridden(store, settings)] == [
        "-s ROBOTSTXT_OBEY on the command line",
        "-s DOWNLOAD_DELAY on the command line",
    ]


def test_missing_contact_is_said_where_there_is_somebody_else_to_reach(tmp_path: Path) -> None:
    store = shop_of(tmp_path)
    (said,) = warnings(store, settings_of(store, contact=""), pages=0, latency_ms=0)
    assert said.startswith("STOREBOT_CONTACT isn't set")
    own = shop_of(tmp_path, base_url="http://127.0.0.1:8000")
    assert list(warnings(own, settings_of(own, contact=""), pages=0, latency_ms=0)) == []
    named = shop_of(tmp_path, "[politeness]\nuser_agent = 'storebot (+mailto:me@example.org)'\n")
    assert list(warnings(named, settings_of(named, contact=""), pages=0, latency_ms=0)) == []


def test_too_many_pages_for_the_interval_are_said_with_what_would_fit(tmp_path: Path) -> None:
    store = shop_of(tmp_path, "[politeness]\npreset = 'touchy'\n[refresh]\ninterval = '1h'\n")
    (said,) = warnings(store, settings_of(store), pages=1200, latency_ms=0)
    assert said == (
        '1,200 pages at 6 s each take 2h, longer than [refresh] interval = "1h"; '
        'what would fit: [refresh] interval = "2h", or delay_s = 3'
    )


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        yield shop.says("/all", listing("/p/1")).says("/p/1", product())


def test_run_notes_what_it_overrides_and_says_it_once(
    shop: ScriptedShop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\n'
    text += 'robots = false\nrobots_reason = "ours"\n'
    done = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, text)).crawl("backfill")
    (row,) = done.rows("SELECT reason, overrides FROM runs")
    (noted,) = json.loads(row["overrides"])
    assert (row["reason"], noted["what"], noted["why"]) == ("", "robots.txt is not asked", "ours")
    assert caplog.text.count("shop: overridden: robots.txt is not asked") == 1
    assert "STOREBOT_CONTACT" not in caplog.text  # a shop of one's own
