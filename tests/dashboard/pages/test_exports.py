"""Exports by their manifests, verifying them, and what no address may reach."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from storebot.core.export.columns import COLUMNS
from storebot.core.export.manifest import NAME
from storebot.dashboard import export_files
from storebot.dashboard.app import create_app
from storebot.dashboard.site import Site
from storebot.db import audit
from storebot.db.database import Database
from storebot.exports.destinations import destination
from storebot.exports.format import format_of
from storebot.exports.running import Order, export, scratch_for
from tests.dashboard.asking import post
from tests.dashboard.conftest import HERE
from tests.db.shop import STORE, Worker


@pytest.fixture
def folder(tmp_path: Path, local_database: Database) -> Path:
    """A folder with two exports."""
    Worker(local_database).known("1", "2")
    for stamp in ("20261129T080000Z", "20261130T080000Z"):
        to = destination(str(tmp_path / "exports"), STORE, "listings", stamp)
        order = Order(store=STORE, what="listings", formats=[format_of("csv", "listings")], columns=COLUMNS["listings"])
        with scratch_for(to) as scratch:
            export(local_database, order, to, scratch)
    return tmp_path / "exports"


@pytest.fixture
def asking(site: Site, folder: Path) -> Iterator[TestClient]:
    with TestClient(create_app(replace(site, exports=folder)), base_url=HERE, follow_redirects=False) as client:
        yield client


def newest(folder: Path) -> Path:
    return sorted(folder.joinpath(STORE).glob("2*"))[-1]


def last_deed(database: Database) -> audit.Deed:
    with database.read() as conn:
        return audit.listed(conn, {}, None, descending=True, limit=1)[0]


def test_the_newest_of_each_store_is_shown_and_all_of_one(asking: TestClient, folder: Path) -> None:
    rows = asking.get("/exports.json").json()["rows"]
    assert [(row["store"], row["name"], row["rows"]) for row in rows] == [(STORE, newest(folder).name, 2)]
    rows = asking.get(f"/exports.json?store={STORE}").json()["rows"]
    assert [row["name"] for row in rows] == sorted((row["name"] for row in rows), reverse=True)
    assert len(rows) == 2
    page = asking.get(f"/exports/{STORE}/{newest(folder).name}").text
    assert "listings.csv" in page
    assert "Verify the files" in page


def test_what_has_no_manifest_is_no_export(asking: TestClient, folder: Path) -> None:
    (newest(folder) / NAME).unlink()
    (row, _) = asking.get(f"/exports.json?store={STORE}").json()["rows"]
    assert (row["whole"], "it isn't finished" in row["why"]) == (False, True)
    assert asking.get(f"/exports/{STORE}/{newest(folder).name}").status_code == 404


def test_files_are_verified_and_one_that_was_changed_is_named(
    asking: TestClient, folder: Path, local_database: Database
) -> None:
    address = f"/exports/{STORE}/{newest(folder).name}"
    post(asking, f"{address}/verify", {}, page=address)
    assert (last_deed(local_database).result, last_deed(local_database).verb) == ("done", "verify_export")
    csv = newest(folder) / "listings.csv"
    csv.write_bytes(csv.read_bytes().replace(b"Mug", b"Cup"))
    post(asking, f"{address}/verify", {}, page=address)
    assert last_deed(local_database).result == "refused"
    assert "its SHA-256 is not the manifest" in last_deed(local_database).text
    assert str(folder) not in last_deed(local_database).text


@pytest.mark.parametrize("store", ["..", "../..", "%2e%2e", ".hidden", "*", "a/b", "a" * 200])
def test_no_address_leads_out_of_the_folder(asking: TestClient, folder: Path, store: str) -> None:
    """Case H04."""
    (folder.parent / NAME).write_text("{}", encoding="utf-8")
    steps = store.startswith("..")  # which no client sends as they are
    for path in (
        () if steps else (f"/exports/{store}/x", f"/exports/{STORE}/{store}", f"/exports/{STORE}%2f..%2f..%2f/{store}")
    ):
        assert asking.get(path).status_code in (400, 404), path
    assert export_files.place(folder, store, "x") is None
    assert export_files.place(folder, STORE, store) is None
    assert asking.get("/exports.json", params={"store": store}).json()["rows"] == []


def test_a_link_that_leads_out_of_the_folder_is_no_export(asking: TestClient, folder: Path, tmp_path: Path) -> None:
    newest(folder).rename(tmp_path / "elsewhere")
    (folder / STORE / "20261201T080000Z-listings").symlink_to(tmp_path / "elsewhere")
    assert asking.get(f"/exports/{STORE}/20261201T080000Z-listings").status_code == 404


def test_a_manifest_that_names_a_file_elsewhere_is_none(asking: TestClient, folder: Path, tmp_path: Path) -> None:
    """Case H04: the sentence about its size would tell what is there."""
    manifest = newest(folder) / NAME
    text = manifest.read_text(encoding="utf-8")
    for elsewhere in ("../../../store.db", "/etc/passwd", "..", ""):
        manifest.write_text(text.replace("listings.csv", elsewhere), encoding="utf-8")
        answer = asking.get(f"/exports/{STORE}/{newest(folder).name}")
        assert answer.status_code == 404
        assert "isn't beside it" in html.unescape(answer.text)


def test_without_any_it_says_what_to_do(client: TestClient) -> None:
    assert "scrapy export --store NAME" in client.get("/exports").text
