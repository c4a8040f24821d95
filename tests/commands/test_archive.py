"""``scrapy archive``: what is kept is counted, pruned, verified and handed on."""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from storebot.archive import Archive, archive_path
from storebot.commands import inspect
from storebot.commands.archive import Command
from storebot.exceptions import ExitCode
from tests.inside import Place, store_folder
from tests.scripted import ScriptedShop, listing, product

STORE = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\n'
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A store of two pages, one of which changed with each of three refreshes."""
    folder = tmp_path_factory.mktemp("kept")
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1", "/p/2"))
        shop.says("/p/1", *(product(price=f"{price}.00", Set_Cookie="session=secret") for price in (10, 11, 12, 13)))
        shop.says("/p/2", product("Cup"))
        place = Place(
            shop.url, folder / "store.db", "shop", store_folder(folder, STORE + "[archive]\nkeep_all = true\n")
        )
        place.crawl("backfill")
        for _ in range(3):
            place.crawl("refresh")
    return place


@pytest.fixture
def run(place: Place, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*args: str, stores: Path | None = None, **settings: str) -> tuple[int, str, str]:
        command = Command()
        given = {
            "STOREBOT_DATABASE_URL": f"sqlite:///{place.database}",
            "STOREBOT_ARCHIVE": str(place.database.parent / "pages"),
            "STOREBOT_STORES": str(stores or place.stores),
        }
        command.settings = Settings({**given, **settings})
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        opts, rest = parser.parse_known_args([*args, "--store", "shop"])
        command.run(rest, opts)
        out, err = capsys.readouterr()
        return command.exitcode or 0, out, err

    return run


def test_stats_count_pages_generations_and_bytes(run: Run) -> None:
    code, out, _ = run("stats", "--json")
    found = json.loads(out)
    assert code == ExitCode.COMPLETE
    assert (found["pages"], found["generations"]) == (3, 12)
    assert found["bodies"] == 6  # four of the first page, one of the other two
    assert found["html_bytes"] > found["distinct_bytes"] > found["packed_bytes"]
    code, out, _ = run("stats")
    assert "12, from 20" in out


def test_verify_names_what_does_not_come_back(run: Run, place: Place, tmp_path: Path) -> None:
    assert run("verify") == (ExitCode.COMPLETE, "12 generations, 0 damaged\n", "")
    damaged = archive_path(tmp_path, "shop")
    damaged.write_bytes(archive_path(place.database.parent / "pages", "shop").read_bytes())
    archive = Archive.open(damaged)
    archive.connection.execute("UPDATE bodies SET packed = x'00' WHERE id = (SELECT max(id) FROM bodies)")
    archive.close()
    code, out, _ = run("verify", STOREBOT_ARCHIVE=str(tmp_path))
    assert code == ExitCode.DATABASE
    assert "/p/1 at 20" in out
    assert "it can't be decompressed" in out
    assert out.endswith("12 generations, 1 damaged\n")


def test_prune_lets_go_of_what_the_store_file_does_not_ask_for(run: Run, place: Place, tmp_path: Path) -> None:
    copy = archive_path(tmp_path, "shop")
    copy.write_bytes(archive_path(place.database.parent / "pages", "shop").read_bytes())
    stores = store_folder(tmp_path, STORE + "[archive]\nkeep_last = 1\nkeep_changed = false\n")
    args = {"stores": stores, "STOREBOT_ARCHIVE": str(tmp_path)}
    code, out, _ = run("prune", "--dry-run", **args)
    assert (code, out) == (ExitCode.COMPLETE, "9 generations would go\n")
    code, out, _ = run("prune", "--json", **args)
    assert json.loads(out)["generations"] == 9
    archive = Archive.read(copy)
    assert sorted(page.body for page in archive.every())[-1].count(b"13.00") == 1
    assert not any(archive.verify())
    archive.close()


def test_an_exported_file_is_read_by_warcio_and_holds_no_cookie(run: Run, tmp_path: Path) -> None:
    from warcio.archiveiterator import ArchiveIterator
    from warcio.checker import Checker

    path = tmp_path / "shop.warc.gz"
    code, out, _ = run("export", "--warc", str(path))
    assert (code, out) == (ExitCode.COMPLETE, f"{path}: 12 pages\n")
    with path.open("rb") as file:
        records = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert [kind for kind, _, _ in records] == ["warcinfo", *["response"] * 12]
    assert {url.rpartition("/")[2] for _, url, _ in records[1:]} == {"all", "1", "2"}
    assert product("Cup").body in [body for _, _, body in records]
    text = gzip.decompress(path.read_bytes())
    assert b"HTTP/1.1 200 OK\r\n" in text
    assert b"secret" not in text
    assert list(tmp_path.iterdir()) == [path]
    checker = Checker(argparse.Namespace(verbose=False, inputs=[str(path)]))
    checker.process_all()
    assert checker.exit_value == 0


def test_export_of_nothing_is_written_by_a_dry_run_and_a_folder_that_is_not_there_is_told(
    run: Run, tmp_path: Path
) -> None:
    code, out, _ = run("export", "--dry-run", "--warc", str(tmp_path / "x.warc"))
    assert (code, out.endswith("12 pages would be written\n"), list(tmp_path.iterdir())) == (
        ExitCode.COMPLETE,
        True,
        [],
    )
    code, _, err = run("export", "--warc", str(tmp_path / "nowhere" / "x.warc"))
    assert code == ExitCode.INTERNAL_ERROR
    assert "can't be written" in err


def test_a_kept_page_is_inspected_without_a_request(
    place: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = inspect.Command()
    command.settings = Settings(
        {"STOREBOT_ARCHIVE": str(place.database.parent / "pages"), "STOREBOT_STORES": str(place.stores)}
    )
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    for path, price in (("/p/1", "13.00"), ("/p/2", "19.90")):
        opts, rest = parser.parse_known_args([f"{place.url}{path}", "--archived", "--store", "shop"])
        command.run(rest, opts)
        assert json.loads(capsys.readouterr().out)["listings"][0]["price"] == price
    opts, rest = parser.parse_known_args([f"{place.url}/p/3", "--archived", "--store", "shop"])
    command.run(rest, opts)
    assert command.exitcode == ExitCode.DATABASE
    assert "isn't in the page archive" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["stats", "prune", "verify"])
def test_without_an_archive_it_is_exit_8_with_what_to_do(run: Run, tmp_path: Path, verb: str) -> None:
    code, _, err = run(verb, STOREBOT_ARCHIVE=str(tmp_path))
    assert code == ExitCode.DATABASE
    assert "a backfill or refresh of the store makes it" in err
    assert list(tmp_path.iterdir()) == []
    assert run(verb, STOREBOT_ARCHIVE="off")[0] == ExitCode.DATABASE


@pytest.mark.parametrize("args", [[], ["statistics"], ["export"], ["stats", "--warc", "x"], ["stats", "verify"]])
def test_wrong_use_is_refused(run: Run, args: list[str]) -> None:
    with pytest.raises(UsageError):
        run(*args)
