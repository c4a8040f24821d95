"""Lists of proxies: found, read, refused by line, and never quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.core.proxy import Proxy
from storebot.exceptions import ConfigurationError, StoreFileError
from storebot.items import Tier
from storebot.stores import load_store
from storebot.stores.model import Store
from storebot.stores.proxy_lists import read_lists

A, B = Proxy("http", "a.example", 80, "me", "hush"), Proxy("socks5", "b.example", 1080)


def store(folder: Path, fetch: str, **lists: str) -> Store:
    shop = folder / "shop"
    shop.mkdir()
    (shop / "store.toml").write_text(f'base_url = "http://shop.example"\nproduct_url = "/p/"\n[fetch]\n{fetch}\n')
    for name, text in lists.items():
        (shop / f"{name}.txt").write_text(text, encoding="utf-8")
    return load_store("shop", [folder])


def test_a_store_without_the_section_has_no_lists(tmp_path: Path) -> None:
    assert read_lists(store(tmp_path, ""), {}) == {}


def test_one_file_is_for_every_tier_that_can_have_proxies(tmp_path: Path) -> None:
    shop = store(
        tmp_path,
        'tiers = ["http", "http2"]\n[fetch.proxies]\nfile = "list.txt"',
        list="# two of them\n\nhttp://me:hush@a.example:80 # the good one\nsocks5://b.example:1080\n",
    )
    assert read_lists(shop, {}) == {Tier.HTTP: (A, B), Tier.HTTP2: (A, B)}


def test_tiers_have_lists_of_their_own(tmp_path: Path) -> None:
    shop = store(
        tmp_path,
        'tiers = ["http", "http2", "browser"]\n[fetch.proxies]\nfile = {http = "list.txt"}\nenv = {browser = "HOMES"}',
        list="http://me:hush@a.example:80\nhttp://me:hush@a.example:80",
    )
    homes = {"HOMES": "c.example:1,\n me:hush@d.example:2"}
    browser = (Proxy("http", "c.example", 1), Proxy("http", "d.example", 2, "me", "hush"))
    assert read_lists(shop, homes) == {Tier.HTTP: (A,), Tier.BROWSER: browser}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a.example:1\n\nhttp://me:hush@b.example", "list.txt:3: expected a proxy such as"),
        ("a.example:1:me:hush", "list.txt:1: expected a proxy such as"),
        ("# none yet", "list.txt: expected at least one proxy"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_not_quoted(tmp_path: Path, text: str, said: str) -> None:
    shop = store(tmp_path, '[fetch.proxies]\nfile = "list.txt"', list=text)
    with pytest.raises(ConfigurationError) as caught:
        read_lists(shop, {})
    assert said in str(caught.value)
    assert "hush" not in str(caught.value)


def test_a_variable_that_is_not_set_is_no_empty_list(tmp_path: Path) -> None:
    shop = store(tmp_path, '[fetch.proxies]\nenv = "HOMES"')
    with pytest.raises(StoreFileError, match=r"fetch\.proxies\.env: the environment variable HOMES isn't set"):
        read_lists(shop, {})
    with pytest.raises(ConfigurationError, match=r"^\$HOMES:2: expected a proxy") as caught:
        read_lists(shop, {"HOMES": "a.example:1 hush@b.example"})
    assert "hush" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    shop = store(tmp_path, '[fetch.proxies]\nfile = "lists.txt"')
    with pytest.raises(StoreFileError, match=r"fetch\.proxies\.file: .*lists\.txt can't be read: No such file"):
        read_lists(shop, {})


def test_robots_txt_goes_through_a_proxy_where_no_page_goes_without(tmp_path: Path) -> None:
    text = 'tiers = ["{}"]\n[fetch.proxies]\nenv = {{browser = "HOMES"}}'
    homes = {"HOMES": "http://me:hush@a.example:80"}
    (tmp_path / "alone").mkdir()
    alone = store(tmp_path / "alone", text.format("browser"))
    assert read_lists(alone, homes) == {Tier.BROWSER: (A,), Tier.HTTP: (A,)}
    plain = store(tmp_path, text.format('http", "browser'))
    assert read_lists(plain, homes) == {Tier.BROWSER: (A,)}


def test_an_attached_browser_is_given_no_socks_proxy_that_asks_for_a_login(tmp_path: Path) -> None:
    section = 'tiers = ["attached"]\n[fetch.attached]\nendpoint = "http://127.0.0.1:9222"\n'
    text = "socks5://b.example:1080\nsocks5://me:hush@b.example:1080"
    shop = store(tmp_path, f'{section}[fetch.proxies]\nfile = "list.txt"', list=text)
    with pytest.raises(ConfigurationError, match=r"list\.txt:2: socks5://b\.example:1080 asks for a login") as caught:
        read_lists(shop, {})
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("", "fetch.proxies: expected a file or an env"),
        ("file = 3", "fetch.proxies.file: expected the path of a file"),
        ('file = {api = "x"}', 'got the tier "api"'),
        ('file = {brwser = "x"}', "did you mean 'browser'?"),
        ('env = "http://me:hush@a.example:1"', "a proxy itself doesn't belong into the file"),
        ('file = "x"\nenv = {http = "X"}', "fetch.proxies.env: names a list for the tier http, and so does file"),
        ('file = "x"\nrotate_after = 0', "fetch.proxies.rotate_after: expected a number of at least 1"),
        ('file = "x"\ncool_down = "soon"', "fetch.proxies.cool_down: expected a duration"),
    ],
)
def test_a_section_that_is_wrong_is_refused(tmp_path: Path, section: str, said: str) -> None:
    with pytest.raises(StoreFileError) as caught:
        store(tmp_path, f"[fetch.proxies]\n{section}")
    assert said in str(caught.value)
    assert "hush" not in str(caught.value)
