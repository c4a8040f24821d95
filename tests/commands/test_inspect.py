"""``scrapy inspect``: one page as JSON, keys without a fetch, and errors in one line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.cmdline import execute
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from storebot.commands.inspect import Command
from tests.inside import store_folder
from tests.scripted import FILLER, Answer, ScriptedShop, challenge, product

URL = "https://shop.example/p/mug-1?utm_source=x"


def inspect(*args: str, stores: Path | None = None) -> int:
    command = Command()
    command.settings = Settings({"STOREBOT_STORES": str(stores or ""), "USER_AGENT": "storebot/test"})
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    parser.add_argument("args", nargs="*")
    opts = parser.parse_args(list(args))
    command.run(opts.args, opts)
    return command.exitcode


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        yield shop


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "mug.html"
    path.write_bytes(product().body)
    return str(path)


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_saved_page_is_read_as_if_it_came_from_its_url(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspect(page, "--url", URL) == 0
    found = printed(capsys)
    assert (found["key"], found["block"]) == ("https://shop.example/p/mug-1", None)
    (listing,) = found["listings"]
    assert (listing["name"], listing["price"], listing["price_minor"], listing["url"]) == ("Mug", "19.90", 1990, URL)


def test_status_and_headers_of_a_saved_page_decide_whether_it_is_a_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<html><title>Hello</title>{FILLER}</html>")
    assert inspect(str(path), "--url", URL) == 0
    assert printed(capsys)["block"] is None
    assert inspect(str(path), "--url", URL, "--status", "403") == 0
    assert printed(capsys)["block"]["vendor"] == "generic"
    assert inspect(str(path), "--url", URL, "--status", "403", "--header", "CF-Mitigated:  challenge") == 0
    found = printed(capsys)
    assert (found["block"]["vendor"], found["listings"]) == ("cloudflare", [])
    assert {"kind": "header", "value": "cf-mitigated: challenge", "vendor": "cloudflare"} in found["block"]["signals"]


def test_url_is_fetched_once_with_the_user_agent_of_the_project(
    shop: ScriptedShop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.says("/p/1", product())
    assert inspect(f"{shop.url}/p/1") == 0
    assert printed(capsys)["listings"][0]["name"] == "Mug"
    (asked,) = shop.asked
    assert asked.headers["user-agent"] == "storebot/test"


def test_page_behind_a_redirect_has_the_key_of_where_it_ended(
    shop: ScriptedShop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.says("/old", Answer(status=301, headers={"Location": "/p/1"})).says("/p/1", product())
    assert inspect(f"{shop.url}/old") == 0
    assert printed(capsys)["key"].endswith("/p/1")


def test_block_page_of_a_url_is_shown_and_is_no_error(shop: ScriptedShop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.says("/p/1", challenge())
    assert inspect(f"{shop.url}/p/1") == 0
    found = printed(capsys)
    assert (found["block"]["vendor"], found["listings"]) == ("cloudflare", [])


def test_store_file_gives_its_selectors_and_its_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<html><h1>Mug</h1><b class=p>5,00</b>{FILLER}</html>")
    rules = '[product]\nname = ["h1"]\nprice = [".p"]\ncurrency = "EUR"\ndecimal = ","\n[keys]\ndrop = ["tone"]\n'
    stores = store_folder(tmp_path, rules)
    assert inspect(str(path), "--url", "https://shop.example/p/1?tone=2", "--store", "shop", stores=stores) == 0
    found = printed(capsys)
    assert found["key"] == "https://shop.example/p/1"
    (listing,) = found["listings"]
    assert (listing["price"], listing["currency"], listing["store"]) == ("5.00", "EUR", "shop")
    assert listing["field_source"]["price"] == "css:.p"


def test_keys_are_printed_one_a_line_and_nothing_is_fetched(
    shop: ScriptedShop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert inspect("--key", f"{shop.url}/p/1/?b=2&a=1#x", "HTTP://WWW.Shop.Example/p?refurbished=1&gclid=2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"{shop.url}/p/1?a=1&b=2".replace("http:", "https:"), "https://shop.example/p?refurbished=1"]
    assert shop.asked == []


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("nowhere.html", "--url", URL), 1, "nowhere.html"),
        (("--key", "mailto:me@shop.example"), 2, "mailto:me@shop.example"),
        (("http://127.0.0.1:1/p/1",), 1, "refused"),
        (("--store", "nobody", "--key", URL), 2, "no store is named 'nobody'"),
    ],
)
def test_error_is_one_line_with_its_exit_code(
    args: tuple[str, ...], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert inspect(*args) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "one URL or one file"),
        (("a.html", "b.html"), "one URL or one file"),
        (("a.html",), "needs --url"),
        (("--key",), "at least one URL"),
        (("a.html", "--url", URL, "--header", "no colon"), "expected 'Name: value'"),
    ],
)
def test_wrong_use_is_a_usage_error(args: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        inspect(*args)


@pytest.mark.parametrize(("given", "code"), [(("--url", URL), 0), ((), 2)])
def test_command_line_prints_json_alone_and_exits_2_when_it_is_misused(
    page: str, given: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "storebot.settings")
    with pytest.raises(SystemExit) as ended:
        execute(["scrapy", "inspect", page, *given])
    out, err = capsys.readouterr()
    assert ended.value.code == code
    if code:
        assert "needs --url" in out + err
    else:
        assert (json.loads(out)["key"], err) == ("https://shop.example/p/mug-1", "")


def test_page_that_was_kept_says_itself_where_it_came_from(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mug.json").write_text(json.dumps({"url": URL, "status": 404, "reason": "price: gone"}))
    assert inspect(page) == 0
    assert (printed(capsys)["key"], inspect(page, "--url", "https://shop.example/p/other")) == (
        "https://shop.example/p/mug-1",
        0,
    )
    assert printed(capsys)["key"] == "https://shop.example/p/other"
