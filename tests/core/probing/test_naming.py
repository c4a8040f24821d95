"""A store's name is made of its host, and always one that a folder may have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.probing.naming import store_name
from storebot.stores.loading import check_name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.tea-shop.co.uk", "tea-shop"),
        ("https://shop.example.com/de", "shop-example-de"),
        ("http://127.0.0.1:8400", "127-0-0-1-8400"),
        ("http://localhost:8000", "localhost-8000"),
        ("https://xn--mgba3a4f16a.example", "xn-mgba3a4f16a"),
        ("https://me.github.io/shop", "me-github-shop"),
    ],
)
def test_name_is_the_host_without_what_all_hosts_have(url: str, name: str) -> None:
    assert store_name(url) == name


@given(st.from_regex(r"https?://[A-Za-z0-9_.-]{1,80}(:[0-9]{1,5})?(/[A-Za-z0-9_.~-]{0,40}){0,3}", fullmatch=True))
def test_every_address_gives_a_name_that_a_folder_may_have(url: str) -> None:
    try:
        name = store_name(url)
    except ValueError:  # a port beyond 65535 is no URL
        return
    check_name(name)
