"""`[fetch.browser]`: what is waited for and left out, and what a browser couldn't make anything of."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.exceptions import StoreFileError
from storebot.stores.fetch_browser import Browser
from tests.stores.writing import LEAST, read


def browser(tmp_path: Path, keys: str) -> Browser:
    """Return the section of a store file with these keys."""
    found = read(tmp_path, f"{LEAST}\n[fetch.browser]\n{keys}\n").fetch.browser
    assert found is not None
    return found


def test_the_defaults_wait_until_a_page_rests_and_leave_out_what_shows_nothing() -> None:
    found = Browser()
    assert (found.wait_for, found.wait_for_links, found.settle_s) == ((), (), 0.5)
    assert found.abort == ("image", "media", "font", "ad")
    assert (found.concurrency, found.recycle_pages) == (2, 200)
    assert found.wait_s < found.timeout_s


def test_everything_can_be_loaded(tmp_path: Path) -> None:
    assert browser(tmp_path, "abort = []").abort == ()


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ('wait_for = [".price::text"]', r'fetch\.browser\.wait_for: .* got "\.price::text": a browser knows CSS alone'),
        ('wait_for = ["xpath://h1"]', r'got "xpath://h1": a browser knows CSS alone'),
        ("wait_for = []", r"got an empty list; leave the key out instead"),
        ('abort = ["images"]', r"fetch\.browser\.abort: .* got \"images\" \(did you mean 'image'\?\)"),
        ("timeout_s = 10", r"fetch\.browser\.timeout_s: expected more than fetch\.browser\.wait_s \(15\)"),
        ("concurrency = 0", r"fetch\.browser\.concurrency"),
        ("recycle_pages = 0", r"fetch\.browser\.recycle_pages"),
    ],
)
def test_what_a_browser_cannot_do_is_told(tmp_path: Path, keys: str, told: str) -> None:
    with pytest.raises(StoreFileError, match=told):
        browser(tmp_path, keys)
