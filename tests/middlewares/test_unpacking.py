"""Packed answers are unpacked within what their kind of page may have, and what is left over keeps its header."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from scrapy.http import HtmlResponse, Request, Response
from scrapy.utils.test import get_crawler

from storebot.core.page import MAX_BYTES
from storebot.exceptions import AnswerBroken, AnswerTooLarge
from storebot.items import PageType
from storebot.middlewares.unpacking import UnpackingMiddleware

URL = "https://shop.example/p/1"
PAGE = '<html><meta charset="iso-8859-15"><h1>Töpfe für 20 €</h1></html>'.encode("iso-8859-15")


def middleware(max_bytes: int = 64 * 1024 * 1024) -> UnpackingMiddleware:
    return UnpackingMiddleware.from_crawler(get_crawler(settings_dict={"DOWNLOAD_MAXSIZE": max_bytes}))


def answered(body: bytes, *codings: str, request: Request | None = None, **options: Any) -> Response:
    headers = {"Content-Type": "text/html", **({"Content-Encoding": list(codings)} if codings else {})}
    request = request or Request(URL)
    return middleware(**options).process_response(request, Response(URL, headers=headers, body=body))


def test_packed_answers_are_asked_for_and_pages_bounded() -> None:
    for page_type, bound in (
        (PageType.PRODUCT, MAX_BYTES),
        (PageType.CATALOGUE, MAX_BYTES),
        (PageType.SITEMAP, None),
        (None, None),
    ):
        request = Request(URL, meta={"page_type": page_type})
        middleware().process_request(request)
        assert request.headers["Accept-Encoding"] == b"gzip, deflate, br, zstd"
        assert request.meta.get("download_maxsize") == bound
    request = Request(URL, meta={"page_type": PageType.PRODUCT}, headers={"Accept-Encoding": "identity"})
    middleware(max_bytes=1_000).process_request(request)
    assert (request.headers["Accept-Encoding"], request.meta["download_maxsize"]) == (b"identity", 1_000)


def test_an_unpacked_page_is_a_page_in_its_own_encoding() -> None:
    for found in (answered(gzip.compress(PAGE), "gzip"), answered(gzip.compress(gzip.compress(PAGE)), "gzip", "gzip")):
        assert isinstance(found, HtmlResponse)
        assert (found.body, "Content-Encoding" in found.headers) == (PAGE, False)
        assert "Töpfe für 20 €" in found.text


def test_an_unknown_coding_stays() -> None:
    found = answered(gzip.compress(PAGE), "aws-chunked, gzip")
    assert (found.body, found.headers["Content-Encoding"]) == (PAGE, b"aws-chunked")


def test_what_is_not_packed_or_has_no_body_is_left_alone() -> None:
    plain = Response(URL, body=PAGE)
    assert middleware().process_response(Request(URL), plain) is plain
    for request, response in (
        (Request(URL), Response(URL, status=304, headers={"Content-Encoding": "gzip"})),
        (Request(URL, method="HEAD"), Response(URL, headers={"Content-Encoding": "gzip"}, body=b"?")),
    ):
        assert middleware().process_response(request, response) is response


def test_the_bound_of_the_request_holds_for_what_is_unpacked() -> None:
    packed = gzip.compress(bytes(5_000))
    request = Request(URL, meta={"download_maxsize": 4_999})
    with pytest.raises(AnswerTooLarge, match="more than 4,999 bytes"):
        answered(packed, "gzip", request=request)
    with pytest.raises(AnswerTooLarge, match="more than 4,000 bytes"):
        answered(packed, "gzip", max_bytes=4_000)
    with pytest.raises(AnswerBroken):
        answered(packed[:-3], "gzip")
