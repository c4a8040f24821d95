"""``scrapy check``: stores that load, saved pages that still say the same, and how a page becomes one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.cmdline import execute
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from storebot.commands.check import Command
from storebot.stores import list_stores
from tests.inside import store_folder
from tests.scripted import Answer, ScriptedShop, challenge, listing, product
from tests.vendors.proxies import SocksProxy

TOML = "[politeness]\ndelay_s = 0\n[catalogue]\nurl = '/all'\n"


def check(stores: Path | None, *args: str) -> int:
    command = Command()
    settings = {"STOREBOT_STORES": str(stores or ""), "USER_AGENT": "storebot/test", "ROBOTSTXT_USER_AGENT": "storebot"}
    command.settings = Settings(settings)
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    parser.add_argument("args", nargs="*")
    opts = parser.parse_args(list(args))
    command.run(opts.args, opts)
    return command.exitcode


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        yield shop.says("/p/mug-1", product()).says("/all", listing("/p/mug-1", "/p/cup-2"))


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    return store_folder(tmp_path, TOML)


def rewritten(stores: Path, text: str) -> None:
    store_folder(stores.parent, text)


def test_stores_of_the_package_are_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(None) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == list_stores()
    assert "demo: 4 saved pages ok" in lines


def test_page_is_saved_fails_until_it_is_accepted_and_is_compared_from_then_on(
    shop: ScriptedShop, stores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(stores, "--save", f"{shop.url}/p/mug-1", "--store", "shop", "--id", "mug") == 0
    path = stores / "shop" / "pages" / "mug.html"
    assert path.read_bytes() == product().body
    assert '"price": "19.90"' in capsys.readouterr().out
    assert shop.paths() == ["/robots.txt", "/p/mug-1"]

    assert check(stores, "shop") == 1
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "shop: 1 saved page, 1 failed",
        f"  mug: nobody has reviewed it. If all of {path.with_suffix('.json')} is right: scrapy check --accept mug",
    ]
    assert check(stores, "--accept", "mug") == 0
    assert '"reviewed": true' in capsys.readouterr().out
    assert check(stores, "shop") == 0
    assert capsys.readouterr().out == "shop: 1 saved page ok\n"

    rewritten(stores, TOML + "[product]\nprefer = 'selectors'\nname = ['title', 'p']\n")
    assert check(stores, "shop") == 1
    assert capsys.readouterr().out.startswith(
        "shop: 1 saved page, 1 failed\n  mug: listings[0].name: expected 'Mug', got 'Fired twice,"
    )
    assert check(stores, "--accept", "shop/mug") == 0
    assert capsys.readouterr().out.startswith("listings[0].name: expected 'Mug', got 'Fired twice,")
    assert check(stores, "shop") == 0


def test_a_page_is_fetched_through_the_proxies_of_the_store(shop: ScriptedShop, stores: Path) -> None:
    with SocksProxy("me", "secret") as proxy:
        (stores / "proxies.txt").write_text(proxy.url)
        rewritten(stores, f"{TOML}[fetch.proxies]\nfile = '../proxies.txt'\n")
        assert check(stores, "--save", f"{shop.url}/p/mug-1", "--store", "shop") == 0
        assert len(proxy.counted.tunnels) == len(shop.asked) == 2


def test_file_becomes_a_saved_page_with_the_url_that_it_came_from(stores: Path, tmp_path: Path) -> None:
    (tmp_path / "mug.html").write_bytes(product().body)
    file = str(tmp_path / "mug.html")
    assert check(stores, "--save", file, "--store", "shop") == 2  # no JSON beside it, and no --url
    assert check(stores, "--save", file, "--url", "http://shop.example/p/mug-1", "--store", "shop") == 0
    (saved,) = (stores / "shop" / "pages").glob("*.json")
    assert json.loads(saved.read_text())["url"] == "http://shop.example/p/mug-1"


def test_page_of_the_catalogue_is_saved_with_its_links(shop: ScriptedShop, stores: Path) -> None:
    assert check(stores, "--save", f"{shop.url}/all", "--store", "shop", "--id", "list") == 0
    facts = json.loads((stores / "shop" / "pages" / "list.json").read_text())
    assert facts["links"] == [f"{shop.url}/p/mug-1", f"{shop.url}/p/cup-2"]


def test_dry_run_shows_the_record_and_writes_nothing(
    shop: ScriptedShop, stores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(stores, "--save", f"{shop.url}/p/mug-1", "--store", "shop", "--dry-run") == 0
    assert '"name": "Mug"' in capsys.readouterr().out
    assert not (stores / "shop" / "pages").exists()
    assert check(stores, "--save", f"{shop.url}/p/mug-1", "--store", "shop", "--id", "mug") == 0
    assert check(stores, "--accept", "mug", "--dry-run") == 0
    assert check(stores, "shop") == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (challenge(), "is a block page"),
        (Answer(b"<h1>About us</h1>" * 900), "nothing could be read, so nothing is saved"),
        (Answer(b"<title>Not found</title>" * 900, 404), "nothing could be read, so nothing is saved"),
    ],
)
def test_page_that_holds_no_product_is_not_saved(
    shop: ScriptedShop, stores: Path, capsys: pytest.CaptureFixture[str], answer: Answer, said: str
) -> None:
    shop.says("/p/1", answer)
    assert check(stores, "--save", f"{shop.url}/p/1", "--store", "shop") == 2
    assert said in capsys.readouterr().err
    assert not (stores / "shop" / "pages").exists()


def test_robots_txt_is_asked_unless_the_store_says_otherwise(shop: ScriptedShop, stores: Path) -> None:
    shop.says("/robots.txt", Answer(b"User-agent: *\nDisallow: /p/\n"))
    assert check(stores, "--save", f"{shop.url}/p/mug-1", "--store", "shop") == 2
    rewritten(stores, "[politeness]\ndelay_s = 0\nrobots = false\nrobots_reason = 'ours'\nuser_agent = 'me/2'\n")
    assert check(stores, "--save", f"{shop.url}/p/mug-1", "--store", "shop") == 0
    assert shop.asked[-1].headers["user-agent"] == "me/2"


def test_every_fault_of_every_store_is_listed(stores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewritten(stores, "[product]\npirce = ['b']\n[politeness]\nrobots = 'no'\n")
    (stores / "shop" / "product.py").write_text("SELECTORS = {'name': 'h1['}\n")
    assert check(stores) == 2
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("shop: can't be loaded")
    toml, code = stores / "shop" / "store.toml", stores / "shop" / "product.py"
    assert lines[at + 1].startswith(f"  {toml}: product.pirce: unknown key (did you mean 'product.price'?)")
    assert lines[at + 2].startswith(f"  {toml}: politeness.robots: expected true or false")
    assert lines[at + 3].startswith(f'  {code}: line 1: SELECTORS["name"]: the CSS selector')
    assert lines[at + 4].startswith(f"  {code}: expected a function product(page, select)")
    assert "demo: 4 saved pages ok" in lines


def test_a_format_that_a_scheduled_export_can_not_have_is_a_fault(
    stores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewritten(stores, f"{TOML}[schedule.export]\nwhen = 'every 24h'\nformats = ['xslx']\n")
    assert check(stores) == 2
    assert "schedule.export.formats: there is no format 'xslx': choose of csv" in capsys.readouterr().out


def test_store_that_is_not_there_is_a_fault(stores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(stores, "shap") == 2
    assert "did you mean 'shop'?" in capsys.readouterr().out


def test_saved_page_that_can_not_be_read_is_a_fault(stores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stores / "shop" / "pages").mkdir()
    (stores / "shop" / "pages" / "mug.html").write_bytes(b"")
    assert check(stores, "shop") == 2
    assert "expected a JSON file mug.json beside it: there is none" in capsys.readouterr().out


def test_store_without_saved_pages_says_so(stores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(stores, "shop") == 0
    assert capsys.readouterr().out == "shop: no saved pages\n"


def test_json_has_an_object_a_line(stores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(stores, "shop", "demo", "--json") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["store"] for one in found] == ["shop", "demo"]
    assert (found[0]["faults"], found[0]["pages"]) == ([], {})
    assert set(found[1]["pages"]["catalogue"]) == set()


def test_page_that_is_not_there_can_not_be_accepted(stores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(stores, "--accept", "shop/mug") == 2
    assert "saved page 'mug': there is none" in capsys.readouterr().err


@pytest.mark.parametrize("args", [("shop", "--save", "x"), ("--save", "x", "--accept", "y"), ("--save", "x")])
def test_wrong_use_is_told(stores: Path, args: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        check(stores, *args)


@pytest.mark.parametrize("name", ["", "../x", "A", "a/b"])
def test_name_of_a_page_is_no_path(shop: ScriptedShop, stores: Path, name: str) -> None:
    code = check(stores, "--save", f"{shop.url}/p/mug-1", "--store", "shop", "--id", name)
    assert code == (0 if not name else 2)


def test_scrapy_check_is_this_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "storebot.settings")
    with pytest.raises(SystemExit) as ended:
        execute(["scrapy", "check", "demo"])
    assert (ended.value.code, capsys.readouterr().out) == (0, "demo: 4 saved pages ok\n")
