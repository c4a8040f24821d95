"""An export that a store file asks for, from `scrapy worker` to the files, the alert channel and back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from storebot.db.database import Database
from storebot.exports.verifying import faults, manifest_in
from tests.crawls.scrapy_process import ROOT, rows
from tests.db.shop import STORE, Worker, listing, parsed
from tests.stores.writing import LEAST, written
from tests.webhooks.receiving import closed_port

PLAN = """[schedule.export]
when = "every 24h"
formats = ["jsonl", "csv"]
columns = ["name", "price"]
filter = ["price<20", "name~an"]
out = "{out}"
link = "https://files.example/feeds"
"""


def test_a_worker_exports_what_the_store_file_says_and_tells_of_it(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path / 'store.db'}")
    shop = Worker(database)
    for place, (name, price) in enumerate([("Anvil", 1900), ("Pan", 2100), ("Tongs", 500), ("Pan lid", 700)]):
        shop.discover(str(place))
        (target,) = shop.pending()
        shop.save(parsed(target, listing(name, price)))
    database.dispose()
    written(tmp_path / "stores", LEAST + PLAN.format(out=tmp_path / "feeds"), STORE)
    own = {
        "STOREBOT_DATABASE_URL": f"sqlite:///{tmp_path / 'store.db'}",
        "STOREBOT_STORES": str(tmp_path / "stores"),
        "STOREBOT_ARCHIVE": "off",
        "STOREBOT_JOB_LOGS": str(tmp_path / "logs"),
        "STOREBOT_ALERTS_BUSINESS": f"json://127.0.0.1:{closed_port()}/",
    }
    worker = subprocess.run(
        [sys.executable, "-m", "scrapy", "worker", "--once"],
        cwd=ROOT,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert worker.returncode == 0, worker.stderr
    (job,) = rows(tmp_path / "store.db", "SELECT last_verdict, last_error FROM jobs WHERE kind = 'export'")
    assert job == {"last_verdict": "done", "last_error": ""}
    folder, manifest = manifest_in(tmp_path / "feeds" / STORE)
    assert [*faults(folder, manifest)] == []
    assert (manifest["columns"], manifest["filters"]) == (["name", "price"], ["price<20", "name~an"])
    lines = [json.loads(line) for line in (folder / "listings.jsonl").read_text().splitlines()]
    assert lines == [{"name": "Anvil", "price": "19.00"}, {"name": "Pan lid", "price": "7.00"}]
    assert (folder / "listings.csv").read_bytes() == b"name,price\r\nAnvil,19.00\r\nPan lid,7.00\r\n"
    (told,) = rows(tmp_path / "store.db", "SELECT title, body FROM outbox WHERE channel = 'business'")
    assert told["title"].startswith(f"{STORE}: 2 rows of listings exported")
    assert told["body"].endswith(f"https://files.example/feeds/{STORE}/{folder.name}/")
