"""The seam between Scrapy and the core."""

from __future__ import annotations

import pytest
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

from storebot.exceptions import StorebotError
from storebot.items import BlockSignal
from storebot.responses import BlockedPage, page_of

URL = "http://shop.example/p/1"


def test_all_who_ask_during_one_visit_share_one_page() -> None:
    request, response = Request(URL), Response(URL, body=b"<p>Mug</p>")
    page = page_of(response, request)
    assert page_of(response, request) is page
    assert page_of(response.replace(status=203), request) is page  # as a middleware may do


def test_retry_that_copies_the_meta_gets_a_page_of_its_own() -> None:
    request = Request(URL)
    first = page_of(Response(URL, body=b"<p>Wait</p>"), request)
    again = request.replace(dont_filter=True)
    second = page_of(Response(URL, body=b"<p>Mug</p>"), again)
    assert second is not first
    assert (second.body, first.body) == (b"<p>Mug</p>", b"<p>Wait</p>")
    assert request.meta["page"] is first


def test_page_has_what_the_response_says() -> None:
    response = Response(
        f"{URL}/moved",
        status=203,
        headers={"Content-Type": "text/html; charset=latin-1", "Link": ["<a>", "<b>"], "Retry-After": "7"},
        body="<p>café</p>".encode("latin-1"),
    )
    page = page_of(response, Request(URL), now_ms=42)
    assert (page.url, page.requested_url, page.status, page.fetched_at_ms) == (f"{URL}/moved", URL, 203, 42)
    assert page.text == "<p>café</p>"
    assert page.headers["link"] == "<a>, <b>"
    assert page.headers.get("retry-after") == "7"
    assert page.headers.get("etag") is None
    assert set(page.headers) == {"content-type", "link", "retry-after"}
    assert len(page.headers) == 3


@pytest.mark.parametrize("name", ["location", "x-missing"])
def test_header_that_is_not_there_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError):
        page_of(Response(URL), Request(URL)).headers[name]


def test_blocked_page_says_where_how_and_by_which_signs() -> None:
    error = BlockedPage(URL, 403, (BlockSignal("status", "403"), BlockSignal("marker", "just a moment")))
    assert str(error) == f"{URL}: a block page (status 403; status 403, marker just a moment)"
    assert isinstance(error, StorebotError)
    assert isinstance(error, IgnoreRequest)  # so that Scrapy gives it to the errback and logs no traceback


def test_a_header_that_is_not_there_is_what_the_asker_wants() -> None:
    page = page_of(Response(URL, headers={"X-Empty": [], "ETag": '"1"'}), Request(URL))
    assert (page.headers.get("etag"), page.headers.get("age"), page.headers.get("age", "")) == ('"1"', None, "")
    assert page.headers.get("x-empty", "none") == "none"
    with pytest.raises(KeyError):
        page.headers["age"]
