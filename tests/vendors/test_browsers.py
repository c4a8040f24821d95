"""The local APIs of this machine start real browsers, which Playwright attaches to as its vendors describe it."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.request import urlopen

import pytest
from kameleo.local_api_client.exceptions import ApiException
from kameleo.local_api_client.kameleo_local_api_client import KameleoLocalApiClient
from kameleo.local_api_client.models.browser_settings import BrowserSettings
from kameleo.local_api_client.models.create_profile_request import CreateProfileRequest
from playwright.async_api import async_playwright

from storebot.demo import DemoStore
from tests.vendors.kameleo import Kameleo
from tests.vendors.profiles import ProfileBrowser


async def name_on(url: str, endpoint: str) -> str:
    """Return the product's name on a page, as a browser behind a DevTools endpoint shows it."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(endpoint)
        page = await browser.contexts[0].new_page()
        await page.goto(url)
        await page.wait_for_selector("#app[data-ready]", timeout=10_000)
        name = await page.locator("h1.product-name").inner_text()
        await page.close()
        await browser.close()
    return name


def call(url: str) -> dict[str, Any]:
    with urlopen(url, timeout=60) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found


def test_a_profile_of_an_anti_detect_browser_is_a_browser() -> None:
    with DemoStore(products=3, guard="needs_javascript") as shop, ProfileBrowser() as vendor:
        start = f"{vendor.url}/api/v1/browser/start?user_id=one"
        endpoint = call(start)["data"]["ws"]["puppeteer"]
        assert call(start)["data"]["ws"]["puppeteer"] == endpoint
        row = shop.truth()[0]
        assert asyncio.run(name_on(row["url"], endpoint)) == row["name"]
        browser = vendor.running["one"]
        assert call(f"{vendor.url}/api/v1/browser/stop?user_id=one")["code"] == 0
        assert not browser.running
        assert call(f"{vendor.url}/api/v1/browser/start?user_id=three")["msg"] == "user_id three does not exist"
        assert [row["user_id"] for row in call(f"{vendor.url}/api/v1/user/list")["data"]["list"]] == ["one", "two"]


def test_kameleo_answers_its_own_client() -> None:
    with DemoStore(products=3, guard="needs_javascript") as shop, Kameleo(limit=1, not_ready=1) as engine:
        client = KameleoLocalApiClient(endpoint=engine.url)
        client.verify_engine_ready()
        (fingerprint,) = client.fingerprint.search_fingerprints(device_type="desktop", browser_product="chrome")
        wanted = CreateProfileRequest(fingerprintId=fingerprint.id, name="storebot 1")
        first, second = (client.profile.create_profile(wanted) for _ in range(2))
        assert client.profile.get_profile_status(first.id).lifetime_state == "created"
        settings = BrowserSettings(arguments=["--mute-audio"])
        assert client.profile.start_profile(first.id, browser_settings=settings).lifetime_state == "running"
        with pytest.raises(ApiException, match="running_profiles_limit_reached"):
            client.profile.start_profile(second.id)
        row = shop.truth()[0]
        ws = engine.url.replace("http", "ws", 1)
        assert asyncio.run(name_on(row["url"], f"{ws}/playwright/{first.id}")) == row["name"]
        assert client.profile.stop_profile(first.id).lifetime_state == "terminated"
        assert asyncio.run(name_on(row["url"], f"{ws}/playwright/{second.id}")) == row["name"]
        assert client.profile.get_profile_status(second.id).lifetime_state == "running"
        client.profile.stop_profile(second.id)
        client.profile.delete_profile(first.id)
        assert [profile.id for profile in client.profile.list_profiles()] == [second.id]
        assert engine.profiles[second.id].starts == 1
