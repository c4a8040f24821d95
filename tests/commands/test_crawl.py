"""``scrapy crawl``: the exit code and the last line of a phase, and Scrapy's own behaviour for any other spider."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from storebot.commands.crawl import Command, print_summary
from storebot.core.summary import Summary
from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus
from tests.crawls.scrapy_process import ROOT
from tests.inside import Crawled, Place, store_folder
from tests.scripted import ScriptedShop, listing, product

OWN = """
import scrapy

class Own(scrapy.Spider):
    name = "own"
    start_urls = ["data:,"]

    def parse(self, response):
        yield {"seen": True}

class Broken(scrapy.Spider):
    name = "broken"

    def __init__(self, **kwargs):
        raise ValueError("it never starts")
"""


def command(stores: Path | None = None) -> Command:
    made = Command()
    made.settings = Settings({"STOREBOT_STORES": str(stores or ""), "LOG_LEVEL": "INFO"})
    return made


def options(**spargs: str) -> argparse.Namespace:
    return argparse.Namespace(spargs=spargs, json=False, loglevel="INFO")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """A backfill of one product."""
    folder = tmp_path_factory.mktemp("crawled")
    text = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\n'
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1")).says("/p/1", product())
        return Place(shop.url, folder / "store.db", "shop", store_folder(folder, text)).crawl("backfill")


def scrapy(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "STOREBOT_DATABASE_URL": f"sqlite:///{folder / 'store.db'}"}
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", *args],
        cwd=ROOT,
        env={
            **environment,
            "STOREBOT_STORES": str(folder / "stores"),
            "STOREBOT_ARCHIVE": str(folder / "pages"),
            "STOREBOT_PROGRESS": "off",
        },
        capture_output=True,
        text=True,
        check=False,
    )


# --- before anything runs -------------------------------------------------------------------------------------------


def test_store_that_is_not_known_is_one_line_and_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = command(store_folder(tmp_path, ""))
    made.run(["backfill"], options(store="shap"))  # without a crawler process: none may be needed
    out, err = capsys.readouterr()
    assert (made.exitcode, out, err.count("\n")) == (2, "", 1)
    assert "'shap'" in err
    assert "'shop'" in err


def test_base_url_that_is_none_is_one_line_and_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = command(store_folder(tmp_path, ""))
    made.run(["refresh"], options(store="shop", base_url="shop.example"))
    assert (made.exitcode, capsys.readouterr().err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (
            {"stroe": "shop"},
            "refresh has no argument 'stroe' (did you mean 'store'?): -a takes store, base_url, budget, force, plan",
        ),
        ({"store": "shop", "x": "1"}, "refresh has no argument 'x': -a takes store, base_url, budget, force, plan"),
    ],
)
def test_argument_that_no_phase_has_is_one_line_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], argument: dict[str, str], said: str
) -> None:
    made = command(store_folder(tmp_path, ""))
    made.run(["refresh"], options(**argument))
    assert (made.exitcode, capsys.readouterr().err) == (2, f"{said}\n")


def test_argument_of_scrapyd_is_let_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = command(store_folder(tmp_path, ""))
    made.run(["refresh"], options(_job="6487ec79947edab326d6db28a2d86511", store="shap"))
    assert "no store is named 'shap'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("database", "archive", "said"),
    [
        (
            "sqlite:///store.db",
            "/pages",
            "STOREBOT_DATABASE_URL: sqlite:///store.db: under Scrapyd give an absolute path",
        ),
        ("sqlite:////store.db", "pages", "STOREBOT_ARCHIVE: pages: under Scrapyd give an absolute path"),
    ],
)
def test_relative_paths_are_refused_under_scrapyd(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], database: str, archive: str, said: str
) -> None:
    """Its working directory is the daemon's. Scrapyd 1.6 sets no variable by which a crawl could see it."""
    made = command(store_folder(tmp_path, ""))
    assert made.settings is not None
    made.settings.setdict({"STOREBOT_DATABASE_URL": database, "STOREBOT_ARCHIVE": archive})
    made.run(["refresh"], options(_job="1", store="shop"))
    assert made.exitcode == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("phase", ["backfill", "refresh"])
def test_phase_without_a_store_is_a_usage_error_that_shows_the_command(phase: str) -> None:
    with pytest.raises(UsageError, match=f"scrapy crawl {phase} -a store=NAME"):
        command().run([phase], options())


@pytest.mark.parametrize("args", [[], ["backfill", "refresh"]])
def test_anything_but_one_spider_is_a_usage_error(args: list[str]) -> None:
    with pytest.raises(UsageError, match="exactly one spider"):
        command().run(args, options(store="shop"))


# --- the last line --------------------------------------------------------------------------------------------------


def test_last_line_is_printed_and_its_json_below_it_when_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    summary = Summary(
        kind="refresh",
        store="shop",
        status=RunStatus.BLOCKED,
        exit_code=ExitCode.BLOCKED,
        outcomes={Outcome.BLOCKED: 3},
    )
    assert print_summary(summary, as_json=False) is ExitCode.BLOCKED
    assert capsys.readouterr().out == f"{summary.line()}\n"
    assert print_summary(summary, as_json=True) is ExitCode.BLOCKED
    line, as_json = capsys.readouterr().out.splitlines()
    assert line == summary.line()
    assert json.loads(as_json)["exit_code"] == 4


@pytest.mark.parametrize(("asked", "setting", "lines"), [(False, "", 1), (True, "", 2), (False, "json", 2)])
def test_report_of_a_real_crawl_is_one_line_and_one_more_as_json(
    crawled: Crawled, capsys: pytest.CaptureFixture[str], asked: bool, setting: str, lines: int
) -> None:
    crawled.crawler.settings.frozen = False
    crawled.crawler.settings.set("STOREBOT_SUMMARY", setting, priority="cmdline")
    opts = argparse.Namespace(spargs={}, json=asked, loglevel=None)
    assert command()._report(crawled.crawler, opts, failed=False) is ExitCode.COMPLETE
    line, *more = capsys.readouterr().out.splitlines()
    assert line.startswith("backfill: checked=1 updated=1 skipped=0 elapsed=")
    assert len(more) == lines - 1
    assert all(json.loads(one)["outcomes"]["new"] == 1 for one in more)


def test_crawler_that_could_not_be_made_is_an_internal_error(crawled: Crawled) -> None:
    assert command()._report(crawled.crawler, options(), failed=True) is ExitCode.INTERNAL_ERROR


def test_spider_that_is_not_there_is_one_line_that_names_the_nearest_and_exit_2(tmp_path: Path) -> None:
    (tmp_path / "stores").mkdir()
    done = scrapy(tmp_path, "refersh", "-a", "store=shop")
    said = "no spider is named 'refersh' (did you mean 'refresh'?): there are backfill, refresh\n"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(said)
    assert "Traceback" not in done.stderr


# --- spiders of a user's own ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "code"), [("own", 0), ("broken", 1)])
def test_spider_of_a_users_own_keeps_scrapys_exit_codes_and_has_no_last_line(
    tmp_path: Path, name: str, code: int
) -> None:
    (tmp_path / "own_spiders.py").write_text(OWN)
    (tmp_path / "stores").mkdir()
    done = scrapy(tmp_path, name, "-s", "SPIDER_MODULES=own_spiders")
    assert (done.returncode, done.stdout) == (code, "")
    assert ("it never starts" in done.stderr) is (name == "broken")
    assert not (tmp_path / "store.db").exists()
