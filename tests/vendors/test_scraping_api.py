"""The scraping API of this machine fetches, charges and fails as it is scripted to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from storebot.demo import DemoStore
from tests.vendors.scraping_api import KEY, Failure, ScrapingApi


@pytest.fixture
def api() -> Iterator[ScrapingApi]:
    with ScrapingApi(balance=8) as opened:
        yield opened


def scrape(api: ScrapingApi, url: str, key: str = KEY, **options: Any) -> tuple[int, dict[str, Any]]:
    body = json.dumps({"url": url, "formats": ["rawHtml"], **options}).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    try:
        with urlopen(Request(api.endpoint, body, headers), timeout=10) as answer:
            return answer.status, json.loads(answer.read())
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_a_shop_that_answers_only_the_api_answers_it(api: ScrapingApi) -> None:
    with DemoStore(products=3, guard="api_only") as shop:
        row = shop.truth()[0]
        status, said = scrape(api, row["url"], use_js_render=False, only_main_content=False)
        assert (status, said["success"], said["status_code"], said["tokens_used"]) == (200, True, 200, 1)
        assert row["sku"] in said["data"]["rawHtml"]
        assert shop.requests().by("egress", "product", 200) == {"demo-egress": 1}
    assert (api.billed.urls, api.billed.tokens) == ([row["url"]], 1)


def test_what_the_shop_refuses_is_billed_nevertheless(api: ScrapingApi) -> None:
    with DemoStore(products=3, guard="blocks_always") as shop:
        status, said = scrape(api, shop.truth()[0]["url"])
    assert (status, said["success"], said["status_code"], said["tokens_used"]) == (200, False, 403, 1)
    assert said["meta"]["block_reason"] == "blocked"


def test_errors_come_as_scripted_and_the_balance_runs_out(api: ScrapingApi) -> None:
    with DemoStore(products=3) as shop:
        url = f"{shop.url}/"
        assert scrape(api, url, key="wrong") == (401, {"success": False, "error": "Invalid API key", "tokens_used": 0})
        api.failures += [Failure(429, "slow down", headers={"Retry-After": "1"}), Failure(500, tokens=1)]
        assert [scrape(api, url)[0] for _ in range(3)] == [429, 500, 200]
        assert scrape(api, url, use_js_render=True)[1]["tokens_used"] == 6
        assert scrape(api, url)[0] == 402
        assert scrape(api, url, rendr=True)[0] == 422
    assert (api.billed.refused, api.billed.tokens, api.balance) == (1, 8, 0)
