"""``scrapy probe``: a URL in, a store file and its evidence out."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from storebot.commands.probe import Command
from storebot.stores import load_store
from tests.core.probing.shops import listing
from tests.scripted import FILLER, Answer, ScriptedShop, challenge, product
from tests.vendors.proxies import HttpProxy, SocksProxy

HTML = {"Content-Type": "text/html"}
NAMES = [f"mug-{number}" for number in range(6)]


def probe(*args: str, stores: Path | str = "") -> int:
    command = Command()
    command.settings = Settings(
        {
            "STOREBOT_STORES": str(stores),
            "STOREBOT_CONTACT": "",
            "USER_AGENT": "storebot/test",
            "ROBOTSTXT_USER_AGENT": "storebot",
        }
    )
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    parser.add_argument("args", nargs="*")
    opts = parser.parse_args(["--delay", "0", *args])
    command.run(opts.args, opts)
    return command.exitcode


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        cards = listing(*((f"/p/{name}", name, "€ 19.90") for name in NAMES))
        shop.says("/", Answer(cards.encode(), headers=HTML))
        for name in NAMES:
            shop.says(f"/p/{name}", product(name))
        yield shop


def test_store_file_is_written_loads_and_says_what_to_do_next(
    shop: ScriptedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe(shop.url, "--name", "mugs", "--out", str(tmp_path)) == 0
    store = load_store("mugs", [tmp_path])
    assert (store.base_url, store.product_url) == (shop.url, "/p/[^/?#]+/?$")
    out, err = capsys.readouterr()
    assert f"STOREBOT_STORES={tmp_path} scrapy crawl backfill -a store=mugs" in out
    assert "jsonld 6" in out
    assert "probe: product: " in err


def test_first_folder_of_the_setting_is_where_the_file_goes(
    shop: ScriptedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe(shop.url, "--name", "mugs", stores=tmp_path) == 0
    assert (tmp_path / "mugs" / "store.toml").is_file()
    assert "next:    scrapy crawl backfill -a store=mugs" in capsys.readouterr().out


def test_existing_file_is_refused_before_a_page_is_asked_for(
    shop: ScriptedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mugs" / "store.toml"
    path.parent.mkdir()
    path.write_text("# mine\n", encoding="utf-8")
    assert probe(shop.url, "--name", "mugs", "--out", str(tmp_path)) == 2
    assert (path.read_text(encoding="utf-8"), shop.asked) == ("# mine\n", [])
    assert "--force" in capsys.readouterr().err
    assert probe(shop.url, "--name", "mugs", "--out", str(tmp_path), "--force") == 0
    assert load_store("mugs", [tmp_path]).base_url == shop.url


def test_dry_run_prints_the_file_and_writes_none(
    shop: ScriptedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe(shop.url, "--out", str(tmp_path), "--dry-run") == 0
    assert 'product_url = "/p/[^/?#]+/?$"' in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_json_has_the_evidence_and_the_file(
    shop: ScriptedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe(shop.url, "--name", "mugs", "--out", str(tmp_path), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["store"], found["tier"], found["pages"]["product"]) == ("mugs", "http", 6)
    assert found["product_url"]["pattern"] == "/p/[^/?#]+/?$"
    (name,) = (row for row in found["fields"] if row["field"] == "name")
    assert (name["pages"], name["sources"], name["confidence"]) == (6, {"jsonld": 6}, "high")
    assert Path(found["written"]).read_text(encoding="utf-8") == found["toml"]


def test_sources_that_disagree_are_shown(
    shop: ScriptedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = product("mug-0")
    metas = b'<meta property="og:type" content="product"><meta property="product:price:amount" content="29.90">'
    shop.says("/p/mug-0", Answer(plain.body.replace(b"</head>", metas + b"</head>"), headers=HTML))
    assert probe(shop.url, "--out", str(tmp_path)) == 0
    assert "name" in capsys.readouterr().out


def test_block_page_is_named_and_exits_4(
    shop: ScriptedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.says("/", challenge())
    assert probe(shop.url, "--out", str(tmp_path)) == 4
    assert "a block page (cloudflare" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_page_without_products_exits_3_with_what_to_do(
    shop: ScriptedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.says("/", Answer(f"<html><body><h1>A club</h1>{FILLER}</body></html>".encode(), headers=HTML))
    assert probe(shop.url, "--out", str(tmp_path)) == 3
    assert "docs/adding-a-store.md" in capsys.readouterr().err


def test_shop_that_forbids_robots_is_left_alone(shop: ScriptedShop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.says("/robots.txt", Answer(b"User-agent: *\nDisallow: /"))
    assert probe(shop.url, "--dry-run") == 3
    assert shop.paths() == ["/robots.txt"]
    assert "robots.txt forbids it" in capsys.readouterr().err


def test_crawl_delay_of_robots_is_in_the_file(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/robots.txt", Answer(b"User-agent: *\nCrawl-delay: 0.01"))
    assert probe(shop.url, "--name", "mugs", "--out", str(tmp_path)) == 0
    assert load_store("mugs", [tmp_path]).politeness.delay_s == 1.0  # a shorter one doesn't hurry us


def test_what_robots_says_is_in_the_report(shop: ScriptedShop, capsys: pytest.CaptureFixture[str]) -> None:
    lines = b"User-agent: *\nCrawl-delay: 0.01\nDisallow: /cart\nSitemap: /maps.xml"
    shop.says("/robots.txt", Answer(lines))
    assert probe(shop.url, "--dry-run") == 0
    said = "Crawl-delay 0.01 s; names 1 sitemaps; 1 Disallow lines (Disallow: /cart)"
    out = capsys.readouterr().out
    assert f"robots.txt:   {said}" in out
    assert "/maps.xml: answers 404" in out


def test_guess_is_written_and_exits_3(shop: ScriptedShop, tmp_path: Path) -> None:
    for name in NAMES:
        shop.says(f"/p/{name}", Answer(status=404))
    assert probe(shop.url, "--name", "mugs", "--out", str(tmp_path)) == 3
    assert load_store("mugs", [tmp_path]).product_url == "/p/[^/?#]+/?$"


@pytest.mark.parametrize("args", [(), ("shop.example",), ("http://a.example", "http://b.example")])
def test_anything_but_one_url_is_a_usage_error(args: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="one URL"):
        probe(*args)
    with pytest.raises(UsageError, match="--pages"):
        probe("http://a.example", "--pages", "0")


def test_a_probe_goes_through_a_list_of_proxies_or_those_of_the_store(
    shop: ScriptedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with HttpProxy() as named, SocksProxy("me", "secret") as own:
        (tmp_path / "named.txt").write_text(named.url)
        assert probe(shop.url, "--name", "mugs", "--proxies", str(tmp_path / "named.txt"), stores=tmp_path) == 0
        assert len(named.counted.requests) == len(shop.asked) > len(NAMES)
        (tmp_path / "own.txt").write_text(own.url)
        file = tmp_path / "mugs" / "store.toml"
        file.write_text(file.read_text() + '\n[fetch.proxies]\nfile = "../own.txt"\n')
        shop.asked.clear()
        assert probe(shop.url, "--name", "mugs", "--dry-run", stores=tmp_path) == 0
        assert len(own.counted.tunnels) == len(shop.asked) > len(NAMES)
    (tmp_path / "empty.txt").write_text("# none")
    shop.asked.clear()
    for list_name, said in (
        ("empty.txt", "expected at least one proxy"),
        ("absent.txt", "can't be read: No such file"),
    ):
        assert probe(shop.url, "--proxies", str(tmp_path / list_name), stores=tmp_path) == 2
        assert said in capsys.readouterr().err
    assert shop.asked == []
