"""A destination in an S3-compatible store: a real server, on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from moto.server import ThreadedMotoServer

from storebot.db.database import Database
from storebot.exceptions import ExportFailed
from storebot.exports.destinations import Remote, destination
from storebot.exports.running import export, scratch_for
from tests.db.shop import STORE
from tests.exports.test_export import NAMES, fill, order


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()  # one that knows the server of a test before
    fs = fsspec.filesystem("s3")
    yield fs
    server.stop()


def test_files_come_first_then_the_manifest_then_the_pointer(s3: Any, sqlite_url: str, tmp_path: Path) -> None:
    database = Database.open(sqlite_url)
    fill(database)
    s3.mkdir("shops")
    to = destination("s3://shops/exports", STORE, "listings", "1")
    assert isinstance(to, Remote)
    with scratch_for(to) as scratch:
        found = export(database, order(names="csv,jsonl"), to, scratch)
    database.dispose()
    base = f"shops/exports/{STORE}"
    s3.invalidate_cache()
    assert {path.removeprefix(f"{base}/") for path in s3.find(base)} == {
        "latest-listings.json",
        *(f"1-listings/{name}" for name in ("listings.csv", "listings.jsonl", "listings.schema.json", "manifest.json")),
    }
    assert json.loads(s3.cat_file(f"{base}/latest-listings.json"))["folder"] == "1-listings"
    assert json.loads(s3.cat_file(f"{base}/1-listings/manifest.json")) == found
    assert len(s3.cat_file(f"{base}/1-listings/listings.jsonl").splitlines()) == len(NAMES)


def test_a_place_that_refuses_is_said_and_gets_no_manifest(s3: Any, sqlite_url: str) -> None:
    database = Database.open(sqlite_url)
    fill(database)
    to = destination("s3://elsewhere/exports", STORE, "listings", "1")
    with pytest.raises(ExportFailed, match="can't be put into s3://elsewhere/exports"), scratch_for(to) as scratch:
        export(database, order(names="csv"), to, scratch)
    database.dispose()
    assert not s3.exists("elsewhere")
