"""``scrapy holds``: what it shows, what it does, and its exit codes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from scrapy.settings import Settings
from sqlalchemy import update

from storebot.commands.holds import Command
from storebot.db import holds as verbs
from storebot.db import leases
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.db.schema import pages
from tests.db.gated import GatedWorker, known_store
from tests.db.shop import STORE, alive
from tests.db.test_promotion import changed


def run(url: str, *args: str) -> int:
    command = Command()
    command.settings = Settings({"STOREBOT_DATABASE_URL": url, "STOREBOT_LEASE_S": 60})
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    parser.add_argument("args", nargs="*")
    opts = parser.parse_intermixed_args(list(args))
    command.run(opts.args, opts)
    return command.exitcode


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store with three changes that wait, none of them anybody's."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    database = Database.open(url)
    known_store(database)
    shop = GatedWorker(database)
    shop.save(*changed(shop, 1, 3))
    with database.write() as conn:
        leases.release(conn, STORE, shop.token)
        verbs.trip(conn, STORE, shop.run.run_id, "changed", "3 of 3 known pages changed (100%); the limit is 50%")
    database.dispose()
    return url


def test_list_says_why_and_shows_each_hold(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url) == 0
    first, _, heads, _, *rows = capsys.readouterr().out.splitlines()
    assert first == "run 2 of shop: 3 held: 3 of 3 known pages changed (100%); the limit is 50%"
    assert heads.split() == ["hold", "store", "run", "since", "(UTC)", "status", "gate", "what", "changes", "page"]
    assert len(rows) == 3
    assert "price_minor: 1001 → 1051  http://shop.example/p/1" in rows[0]


def test_list_is_one_json_object_a_hold_if_asked(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url, "list", "--json", "--store", "shop") == 0
    first, *others = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["id"], first["gate"], first["run_id"], len(others)) == (1, "changed", 2, 2)
    assert first["changes"][0]["fields"] == [{"field": "price_minor", "before": 1001, "after": 1051}]
    assert "visit" not in first


def test_show_tells_all_of_one_hold(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url, "show", "2") == 0
    out = capsys.readouterr().out
    assert out.startswith("hold 2: held\n  page    http://shop.example/p/2\n  run     2 of shop\n")
    assert "    price_minor: 1002 → 1052" in out


def test_nothing_held_is_said(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url, "list", "--store", "another") == 0
    assert capsys.readouterr().out == "Nothing is held.\n"


def test_approve_publishes_what_is_named_and_no_more(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url, "approve", "1", "3") == 0
    assert capsys.readouterr().out == "2 published: 2 rows, 2 changes\n"
    assert run(url, "list", "--json", "--all") == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["status"] for one in found] == ["approved", "held", "approved"]
    assert found[0]["decided_by"]
    assert found[0]["decided_at"]


def test_a_refusal_is_told_and_exits_3(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    database = Database.open(url)
    with database.write() as conn:
        conn.execute(update(pages).where(pages.c.url == "http://shop.example/p/1").values(content_hash="moved"))
    database.dispose()
    assert run(url, "approve", "--run", "2") == 3
    said = capsys.readouterr()
    assert said.out == "2 published: 2 rows, 2 changes; 1 refused\n"
    assert said.err == "hold 1: http://shop.example/p/1: refused, the page's record is another by now: retry it\n"


def test_decisions_are_json_lines_if_asked(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(url, "reject", "2", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "id": 2,
        "url": "http://shop.example/p/2",
        "refused": "",
        "rows": 0,
        "changes": 0,
    }


@pytest.mark.parametrize(("verb", "done"), [("approve", "published"), ("reject", "dropped"), ("retry", "due now")])
def test_dry_run_says_what_would_be_done_and_does_nothing(
    url: str, verb: str, done: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(url, verb, "--store", "shop", "--all", "--dry-run") == 0
    assert capsys.readouterr().out.endswith(f"3 would be {done}; nothing was written\n")
    run(url, "list", "--json")
    assert {json.loads(line)["status"] for line in capsys.readouterr().out.splitlines()} == {"held"}


def test_a_store_that_a_run_works_on_exits_7(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    database = Database.open(url)
    with database.write() as conn:
        leases.take(conn, STORE, "run", this_process(), 60, alive)
    assert run(url, "reject", "--run", "2") == 7
    assert "is being worked by process" in capsys.readouterr().err
    database.dispose()


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["approve"], "which holds? scrapy holds approve ID"),
        (["approve", "--all"], "which holds?"),
        (["reject", "--store", "shop"], "which holds?"),
        (["show"], "which holds?"),
        (["nonsense"], "expected list, show, approve, reject or retry"),
        (["approve", "one"], "and numbers of holds"),
        (["approve", "1", "99"], "there is no open hold 99"),
        (["show", "99"], "there is no such hold 99"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_exits_2_with_a_sentence(
    url: str, args: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(url, *args) == 2
    assert sentence in capsys.readouterr().err


def test_a_database_that_is_not_there_exits_8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"sqlite:///{tmp_path / 'none.db'}") == 8
    assert "no such file" in capsys.readouterr().err
