"""What both phases share: settings out of the store file, and what each kind of answer makes of a visit."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.crawler import Crawler
from scrapy.http import Request

from storebot.exceptions import ConfigurationError, UnknownStore
from storebot.items import Outcome
from storebot.lean import HeadersMiddleware
from storebot.spiders.backfill import BackfillSpider
from storebot.spiders.base import StoreSpider
from tests.inside import Crawled, Place, store_folder
from tests.scripted import FILLER, Answer, ScriptedShop, challenge, listing, product

ONE_LIST = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n'
QUICK = "[politeness]\ndelay_s = 0\nconcurrency = 4\n"


def spider(tmp_path: Path, politeness: str, store: str = "shop", **settings: object) -> tuple[StoreSpider, Crawler]:
    """Return a spider made as Scrapy makes it, and its crawler."""
    place = Place("", tmp_path / "store.db", "shop", store_folder(tmp_path, f"[politeness]\n{politeness}"))
    crawler = Crawler(BackfillSpider, place.project_settings(**settings))
    return BackfillSpider.from_crawler(crawler, store=store, base_url="http://127.0.0.1:1/eu/"), crawler


def test_store_file_sets_the_pace_the_user_agent_and_robots(tmp_path: Path) -> None:
    text = 'delay_s = 2.5\njitter = 0.1\nconcurrency = 3\nuser_agent = "me"'
    text += '\nrobots = false\nrobots_reason = "they said so"'
    _, crawler = spider(tmp_path, text, STOREBOT_CONTACT="https://me.example")
    settings = crawler.settings
    assert (settings.getfloat("DOWNLOAD_DELAY"), settings.getfloat("DOWNLOAD_DELAY_JITTER")) == (2.5, 0.1)
    assert settings.getint("CONCURRENT_REQUESTS") == settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") == 3
    assert (settings.getbool("ROBOTSTXT_OBEY"), settings["USER_AGENT"]) == (False, "me")


def test_setting_of_the_command_line_wins_over_the_store_file(tmp_path: Path) -> None:
    _, crawler = spider(tmp_path, "delay_s = 2.5\nconcurrency = 3", DOWNLOAD_DELAY=0.25)
    assert crawler.settings.getfloat("DOWNLOAD_DELAY") == 0.25
    assert crawler.settings.getint("CONCURRENT_REQUESTS") == 3


def test_contact_goes_into_the_user_agent(tmp_path: Path) -> None:
    _, crawler = spider(tmp_path, "delay_s = 1", STOREBOT_CONTACT="https://me.example")
    assert crawler.settings["USER_AGENT"] == "storebot/0.1 (+https://me.example)"
    assert crawler.settings.getbool("ROBOTSTXT_OBEY")


def test_headers_and_language_of_the_store_file_go_with_every_request(tmp_path: Path) -> None:
    stores = store_folder(tmp_path, '[fetch]\nlanguage = "de-DE,de;q=0.9"\nheaders = {accept = "text/html", DNT = "1"}')
    crawler = Crawler(BackfillSpider, Place("", tmp_path / "store.db", "shop", stores).project_settings())
    BackfillSpider.from_crawler(crawler, store="shop", base_url="http://127.0.0.1:1")
    request = Request("http://127.0.0.1:1/p/1")
    HeadersMiddleware.from_crawler(crawler).process_request(request)
    assert request.headers.to_unicode_dict() == {
        "Accept": "text/html",
        "Accept-Language": "de-DE,de;q=0.9",
        "Dnt": "1",
        "User-Agent": crawler.settings["USER_AGENT"],
    }
    assert crawler.settings["USER_AGENT"].startswith("storebot/")


def test_base_url_of_the_command_line_is_another_address_of_the_same_shop(tmp_path: Path) -> None:
    made, _ = spider(tmp_path, "delay_s = 1")
    assert (made.store.base_url, made.store.name) == ("http://127.0.0.1:1/eu", "shop")


def test_store_that_is_not_there_is_told_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownStore, match=r"'shap'.*'shop'"):
        spider(tmp_path, "delay_s = 1", store="shap")


def test_argument_that_is_not_known_is_refused_however_the_spider_is_started(tmp_path: Path) -> None:
    place = Place("", tmp_path / "store.db", "shop", store_folder(tmp_path, ""))
    crawler = Crawler(BackfillSpider, place.project_settings())
    with pytest.raises(ConfigurationError, match=r"backfill has no argument 'baseurl' \(did you mean 'base_url'\?\)"):
        BackfillSpider.from_crawler(crawler, store="shop", baseurl="http://127.0.0.1:1")
    made = BackfillSpider.from_crawler(crawler, store="shop", _job="1", _version="r9")
    assert not hasattr(made, "_job")
    assert not hasattr(made, "_version")


# --- what an answer makes of a visit ----------------------------------------------------------------------------------

NOTHING = Answer(f"<html><title>About us</title>{FILLER}</html>".encode())
SOFT_404 = Answer(f"<html><title>Not found</title>{FILLER}</html>".encode())
ELSEWHERE = "http://localhost:1/p/away"
ANSWERS: dict[str, tuple[list[Answer], str, str, int]] = {  # path: answers, outcome, in the reason, requests
    "/p/good": ([product()], "new", "", 1),
    "/p/gone": ([Answer(b"", 410)], "missing", "HTTP 410", 1),
    "/p/broken": ([Answer(b"<title>Oops</title>" * 99, 500)], "error", "HTTP 500", 1),
    "/p/silent": ([Answer(status=0)], "error", "Error: ", 1),
    "/p/nothing": ([NOTHING], "invalid", "no product could be read", 1),
    "/p/secret": ([product()], "skipped", "robots.txt", 0),
    "/p/blocked": ([challenge()], "blocked", "a block page (status 403;", 2),
    "/p/challenged": ([challenge(), product("Cup")], "new", "", 2),
    "/p/listed": ([Answer(status=302, headers={"Location": "/all"})], "missing", "/all, a list of products", 2),
    "/p/told": ([Answer(status=302, headers={"Location": "/news"})], "moved", "which product_url doesn't match", 2),
    "/p/soft": ([SOFT_404], "missing", 'its title or heading says "not found"', 1),
    "/p/loop": ([Answer(status=302, headers={"Location": "/p/loop"})], "error", "redirects without end", 2),
    "/p/304": ([Answer(status=304)], "error", "HTTP 304 to a request without validators", 2),
    "/p/304-once": ([Answer(status=304), product("Jug")], "new", "", 2),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ScriptedShop, Crawled]]:
    """One backfill of pages with an answer of each kind, 304 to requests that sent no validator among them."""
    folder = tmp_path_factory.mktemp("base")
    with ScriptedShop() as shop:
        shop.says("/robots.txt", Answer(b"User-agent: *\nDisallow: /p/secret\n"))
        shop.says("/all", listing(*ANSWERS))
        shop.says("/news", NOTHING)
        for path, (answers, *_) in ANSWERS.items():
            shop.says(path, *answers)
        place = Place(shop.url, folder / "store.db", "shop", store_folder(folder, ONE_LIST + QUICK))
        logging.getLogger("scrapy").setLevel(logging.CRITICAL)
        yield shop, place.crawl("backfill")
        logging.getLogger("scrapy").setLevel(logging.NOTSET)


@pytest.mark.parametrize("path", ANSWERS)
def test_answer_makes_one_visit_with_its_outcome_its_reason_and_its_requests(
    crawled: tuple[ScriptedShop, Crawled], path: str
) -> None:
    _, outcome, reason, requests = ANSWERS[path]
    visit = crawled[1].visits()[path]
    assert visit["outcome"] == outcome
    assert reason in visit["reason"]
    assert bool(visit["reason"]) is not Outcome(outcome).seen
    assert visit["requests"] == requests


def test_visits_say_the_status_and_the_bytes_of_their_answer(crawled: tuple[ScriptedShop, Crawled]) -> None:
    visits = crawled[1].visits()
    assert {path: visits[path]["http_status"] for path in ("/p/good", "/p/gone", "/p/blocked", "/p/silent")} == {
        "/p/good": 200,
        "/p/gone": 410,
        "/p/blocked": 403,
        "/p/silent": 0,
    }
    assert visits["/p/good"]["bytes"] == len(product().body)


def test_page_that_robots_txt_forbids_is_not_asked_for(crawled: tuple[ScriptedShop, Crawled]) -> None:
    assert crawled[0].requests("/p/secret") == []


def test_304_that_nobody_asked_for_is_answered_by_one_unconditional_request(
    crawled: tuple[ScriptedShop, Crawled],
) -> None:
    for path in ("/p/304", "/p/304-once"):
        asked = crawled[0].requests(path)
        assert len(asked) == 2
        assert not any("if-none-match" in one.headers or "if-modified-since" in one.headers for one in asked)


def test_run_with_pages_that_were_not_observed_is_partial(crawled: tuple[ScriptedShop, Crawled]) -> None:
    summary = crawled[1].summary
    assert summary.status == "partial"
    assert "1 blocked; 4 error; 1 invalid" in summary.reason
    assert summary.checked == len(ANSWERS)
