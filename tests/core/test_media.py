"""What isn't a page is named by its bytes, and by its header where they don't say."""

from __future__ import annotations

import pytest

from storebot.core.media import not_a_page

PAGE = b"<!DOCTYPE html><html><body><h1>Mug</h1></body></html>"


@pytest.mark.parametrize(
    ("body", "content_type", "said"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", "application/pdf", "a PDF document (application/pdf)"),
        (b"%PDF-1.7\n%\xe2\xe3", "text/html; charset=utf-8", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png", "an image (image/png)"),
        (b"GIF89a\x01\0\x01\0", "", "an image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "text/html", "an image"),
        (b"\0\0\0\x20ftypavif", "image/avif", "a film or an image (image/avif)"),
        (
            b"PK\x03\x04\x14\0",
            "application/octet-stream",
            "an archive, or an office document (application/octet-stream)",
        ),
        (b"\0\x01\0\0\0\x02\0\0\0\x07\0\0", "application/octet-stream", "binary data (application/octet-stream)"),
        (b'{"error": "not found"}', "application/json", "application/json"),
    ],
)
def test_what_is_no_page_is_named(body: bytes, content_type: str, said: str) -> None:
    assert not_a_page(body, content_type) == said


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (PAGE, "text/html"),
        (b"\n\t " + PAGE, "application/octet-stream"),
        (b"\xef\xbb\xbf" + PAGE, "image/png"),
        (PAGE.decode().encode("utf-16"), "text/html"),
        (b"Mug, 19.90 EUR", "text/plain"),
        (b"Mug\0, 19.90 EUR", "text/html"),
        (b"", "application/pdf"),
        (PAGE, ""),
    ],
)
def test_a_page_is_one_whatever_its_header_says(body: bytes, content_type: str) -> None:
    assert not_a_page(body, content_type) == ""
