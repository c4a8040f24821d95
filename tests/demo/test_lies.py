"""Each lie does what its line in the table says, for as long as it was switched on."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from storebot.demo.answers import Answer, Asked
from storebot.demo.clock import Step, advance
from storebot.demo.lies import LIES, Switchboard, answer
from storebot.demo.options import ShopOptions
from storebot.demo.shop import Shop
from storebot.demo.site import Site
from storebot.exceptions import ConfigurationError

BASE = "https://demo.example"
SHOP = Shop(ShopOptions(products=20, seed=3))
SITE = Site(SHOP, BASE)
PATH = next(SHOP.products()).path


def told(name: str, path: str = PATH, asked: dict[str, Any] | None = None, **options: Any) -> Answer:
    board = Switchboard()
    board.lie(name, options=options)
    return answer(SITE, Asked(path=path, now_s=1_700_000_000.0, **asked or {}), board.tell(path))


TRUTH = answer(SITE, Asked(path=PATH, now_s=0.0), [])


def test_a_challenge_has_status_200_a_marker_and_the_vendors_header() -> None:
    given = told("challenge")
    assert (given.status, given.headers["cf-mitigated"]) == (200, "challenge")
    assert given.body.index(b"/cdn-cgi/challenge-platform/") < 2_000
    assert not told("challenge", headers=False).headers
    assert told("challenge", status=503).status == 503


def test_a_large_challenge_has_its_marker_late() -> None:
    given = told("challenge", size="large")
    assert 270_000 < len(given.body) < 280_000
    assert given.body.index(b"cdn-cgi") > 270_000
    assert b"moment" not in given.body


def test_refusals_carry_their_status() -> None:
    assert told("forbidden").status == 403
    assert told("error").status == 500
    assert told("error", status=503).status == 503


def test_too_many_says_when_to_come_back_in_seconds_or_as_a_date() -> None:
    assert (told("too_many").status, told("too_many").headers["Retry-After"]) == (429, "5")
    after = told("too_many", retry_after=90, as_date=True).headers["Retry-After"]
    assert parsedate_to_datetime(after).timestamp() == 1_700_000_090


def test_slow_is_the_truth_late() -> None:
    given = told("slow", delay_s=0.25)
    assert (given.delay_s, given.body) == (0.25, TRUTH.body)


def test_cut_is_half_of_the_truth() -> None:
    assert told("cut").cut_at == len(TRUTH.body) // 2


def test_empty_is_200_and_nothing() -> None:
    assert (told("empty").status, told("empty").body) == (200, b"")


def test_false_304_denies_a_change_to_whoever_sends_a_validator() -> None:
    given = told("false_304", asked={"if_none_match": '"old"'})
    assert (given.status, given.body, given.headers) == (304, b"", {"ETag": '"old"'})
    assert told("false_304", asked={"if_modified_since": "Thu, 01 Jan 1970 00:00:00 GMT"}).status == 304
    assert told("false_304") == TRUTH


def test_soft_404_is_the_not_found_page_with_200() -> None:
    given = told("soft_404")
    assert (given.status, given.body) == (200, SITE.not_found().body)


def test_redirects_lead_home_to_the_category_or_anywhere() -> None:
    assert (told("redirect").status, told("redirect").headers["Location"]) == (302, "/")
    category = told("redirect", to="category", status=301)
    assert category.status == 301
    assert answer(SITE, Asked(path=category.headers["Location"], now_s=0.0), []).status == 200
    assert told("redirect", to="/p/other-1").headers["Location"] == "/p/other-1"


def test_drifted_and_times_100_show_the_page_otherwise() -> None:
    assert b"ld+json" not in told("drifted").body
    price = SHOP.opening(1).price_minor
    assert f'"price":"{price}.00"'.encode() in told("times_100").body


def test_no_prices_loses_the_prices_alone() -> None:
    body = told("no_prices").body
    price = SHOP.opening(1).price_minor
    assert f"{price // 100}.{price % 100:02d}".encode() not in body.partition(b'class="related"')[0]
    assert b'"priceCurrency":"GBP"' in body
    assert b'"availability":"https://schema.org/' in body


def test_another_currency_leaves_the_numbers_as_they_were() -> None:
    body = told("currency").body
    assert b'"priceCurrency":"EUR"' in body
    assert b"GBP" not in body
    assert told("currency", to="USD").headers["ETag"] != told("currency").headers["ETag"] != TRUTH.headers["ETag"]


def test_frozen_page_is_one_body_for_all_addresses() -> None:
    paths = [product.path for product in SHOP.products()]
    assert {told("frozen_page", path).body for path in paths} == {TRUTH.body}


def test_swapped_pages_show_each_other() -> None:
    first, second = (product.path for product in SHOP.products(0, 2))
    honest = answer(SITE, Asked(path=second, now_s=0.0), [])
    assert told("swapped", first).body == honest.body
    assert told("swapped", second).body == TRUTH.body
    assert told("swapped", "/robots.txt") == answer(SITE, Asked(path="/robots.txt", now_s=0.0), [])


def test_frozen_lastmod_hides_a_change_from_the_sitemap() -> None:
    shop = Shop(ShopOptions(products=20, seed=3))
    site, board = Site(shop, BASE), Switchboard()
    asked = [Asked(path=path, now_s=0.0) for path in ("/sitemap.xml", "/sitemaps/products-1.xml.gz")]
    before = [site.answer(each).body for each in asked]
    advance(shop, Step(changed=2))
    board.lie("frozen_lastmod")
    assert [answer(site, each, board.tell(each.path)).body for each in asked] == before
    assert not {site.answer(each).body for each in asked} & set(before)


def test_every_lie_in_the_table_is_told_and_explained() -> None:
    for name, kind in LIES.items():
        assert kind.about
        assert (kind.view is None) != (kind.answer is None), name


def test_several_lies_are_told_together() -> None:
    board = Switchboard()
    for name in ("times_100", "slow", "cut"):
        board.lie(name)
    given = answer(SITE, Asked(path=PATH, now_s=0.0), board.tell(PATH))
    assert given.delay_s == 1.0
    assert given.cut_at
    assert given.body == told("times_100").body


def test_a_lie_is_told_for_its_pattern_and_its_times_only() -> None:
    board = Switchboard()
    board.lie("forbidden", pattern="^/p/", times=2)
    told_of = [bool(board.tell(path)) for path in ("/", PATH, "/robots.txt", PATH, PATH)]
    assert told_of == [False, True, False, True, False]
    assert not board.active()


def test_honest_switches_every_lie_off() -> None:
    board = Switchboard()
    board.lie("forbidden")
    board.honest()
    assert not board.tell(PATH)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nonsense",), "no lie 'nonsense'"),
        (("slow", "("), "no regular expression"),
        (("slow", ".*", 0), "times is 0"),
        (("slow", ".*", None, {"wait": 1}), "no option 'wait': it takes delay_s"),
        (("slow", ".*", None, {"delay_s": "long"}), "give a value like 1.0"),
        (("too_many", ".*", None, {"retry_after": True}), "give a value like 5"),
        (("frozen_lastmod", ".*", None, {"entries": "["}), "no regular expression"),
        (("empty", ".*", None, {"a": 1}), "takes no options"),
        (("challenge", ".*", None, {"size": "huge"}), "choose one of small, large"),
        (("currency", ".*", None, {"to": "XXX"}), "choose one of GBP"),
    ],
)
def test_a_lie_that_can_not_be_told_is_refused_with_a_sentence(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence.replace("(", r"\(")):
        Switchboard().lie(*arguments)
