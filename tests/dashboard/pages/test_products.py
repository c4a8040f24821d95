"""Products, and one of them with its history, its fields and its kept pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from storebot.archive.archive import Archive
from storebot.archive.file import archive_path
from storebot.dashboard.app import create_app
from storebot.dashboard.site import Site
from storebot.db.database import Database
from storebot.db.schema import listings
from storebot.items import Availability, KeptPage, Outcome
from tests.dashboard.conftest import HERE
from tests.dashboard.hostile import NASTY
from tests.db.shop import HOUR, STORE, Worker, listing, parsed, unparsed


@pytest.fixture
def worker(local_database: Database) -> Worker:
    """A store with five mugs, at 10 to 14 euros; the last one is sold out."""
    shop = Worker(local_database)
    at = shop.clock() - 72 * HOUR
    shop.discover(*"12345")
    for place, target in enumerate(shop.pending()):
        stock = Availability.OUT_OF_STOCK if place == 4 else Availability.IN_STOCK
        shop.save(
            parsed(target, listing(f"Mug {place}", 1000 + 100 * place, sku=f"M-{place}", availability=stock), at=at)
        )
    return shop


def names(client: TestClient, query: str = "") -> list[str]:
    return [row["name"] for row in client.get(f"/products.json?{query}").json()["list"]["rows"]]


class TestList:
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            (f"store={STORE}&sort=price", ["Mug 0", "Mug 1", "Mug 2", "Mug 3", "Mug 4"]),
            (f"store={STORE}&sort=-price&limit=2", ["Mug 4", "Mug 3"]),
            (f"store={STORE}&from=11&to=12&currency=EUR&sort=price", ["Mug 1", "Mug 2"]),
            (f"store={STORE}&availability=OutOfStock", ["Mug 4"]),
            (f"store={STORE}&text=mug+3", ["Mug 3"]),
            (f"store={STORE}&text=M-2", ["Mug 2"]),
            (f"store={STORE}&status=delisted", []),
            ("store=another", []),
        ],
    )
    def test_orders_and_filters(self, client: TestClient, worker: Worker, query: str, expected: list[str]) -> None:
        assert names(client, query) == expected

    @pytest.mark.parametrize("query", ["sort=colour", "from=x", "below=x", "status=shout", "after=abc", "limit=0"])
    def test_what_cannot_be_asked_for_is_400(self, client: TestClient, worker: Worker, query: str) -> None:
        assert client.get(f"/products.json?{query}").status_code == 400

    def test_pages_of_the_list_have_each_listing_once_in_each_order(self, client: TestClient, worker: Worker) -> None:
        for sort in ("id", "-id", "price", "-price", "changed", "-changed"):
            seen: list[str] = []
            after = ""
            while True:
                listed = client.get(f"/products.json?store={STORE}&sort={sort}&limit=2{after}").json()["list"]
                seen += [row["name"] for row in listed["rows"]]
                if not listed["next"]:
                    break
                after = f"&after={listed['next']}"
            assert sorted(seen) == [f"Mug {number}" for number in range(5)], sort

    @pytest.mark.parametrize("text", ["https://shop.example/p/3", "http://www.shop.example/p/3/?utm_source=mail", "3"])
    def test_an_address_or_a_number_names_one(self, client: TestClient, worker: Worker, text: str) -> None:
        found = client.get("/products.json", params={"store": STORE, "text": text}).json()["exact"]
        assert [row["name"] for row in found] == ["Mug 2"]

    def test_a_text_of_sql_is_a_text(self, client: TestClient, worker: Worker) -> None:
        for text in ("%", "_", "' OR 1=1 --", "\\", "Mug%"):
            assert names(client, f"store={STORE}&text={text.replace('%', '%25')}") == [], text


class TestProduct:
    def one(self, worker: Worker) -> int:
        return int(worker.rows(listings)[0]["id"])

    def test_all_its_fields_are_shown_with_their_source(self, client: TestClient, worker: Worker) -> None:
        page = client.get(f"/products/{self.one(worker)}").text
        assert "10.00 EUR" in page
        assert "M-0" in page
        assert "Price over time" in page
        assert client.get("/products/99999").status_code == 404

    def test_its_history_has_honest_gaps(self, client: TestClient, worker: Worker) -> None:
        at = worker.clock()
        (first, *_) = worker.due()
        worker.save(unparsed(first, Outcome.BLOCKED, at - 48 * HOUR, reason="cloudflare"))
        (first, *_) = worker.due(token="again")
        worker.save(parsed(first, listing("Mug 0", 900, sku="M-0"), at=at - 24 * HOUR))
        facts = client.get(f"/products/{self.one(worker)}.json").json()
        kinds = [one["kind"] for one in facts["history"]]
        page = client.get(f"/products/{self.one(worker)}").text
        assert kinds == ["observed", "not observed", "observed"]
        assert "nobody could look" in page
        assert "9.00 EUR" in page
        picture = client.get(f"/products/{self.one(worker)}/price.svg")
        assert picture.status_code == 200
        assert b"<script" not in picture.content

    @pytest.mark.parametrize("nasty", NASTY, ids=range(len(NASTY)))
    def test_what_a_hostile_shop_wrote_is_text(self, client: TestClient, local_database: Database, nasty: str) -> None:
        shop = Worker(local_database)
        shop.discover("1")
        (target,) = shop.pending()
        one = listing(
            nasty, brand=nasty, description=nasty, options={"a": nasty}, category_path=(nasty,), images=(nasty,)
        )
        shop.save(parsed(target, one, at=shop.clock()))
        for address in (f"/products/{self.one(shop)}", "/products", "/changes"):
            answer = client.get(address)
            assert answer.status_code == 200
            body = answer.text.partition("<main")[2]
            for markup in ("<script", "<img src=x", "<svg onload", "<iframe src=//", "<style", "<form action=//"):
                assert markup not in body, (address, markup)
            assert 'href="javascript:' not in body
            assert 'href="data:' not in body
            assert len(answer.content) < 400_000, address


class TestVersions:
    OLD = b"<html><body><h1>Mug</h1><b>10.00</b></body></html>"
    NEW = b"<html><body><h1>Mug</h1><b>9.00</b><script>alert(1)</script></body></html>"

    @pytest.fixture
    def kept(self, site: Site, worker: Worker, tmp_path: Path) -> Iterator[tuple[TestClient, str, list[int]]]:
        """A product whose page is kept as it was at two times."""
        row = worker.rows(listings)[0]
        (target,) = [one for one in worker.due() if one.page_id == row["page_id"]]
        archive = Archive.open(archive_path(tmp_path / "pages", STORE))
        packer = archive.packer()
        times = [worker.clock() - 2000, worker.clock() - 1000]
        for at, body in zip(times, (self.OLD, self.NEW), strict=True):
            headers = {"content-type": "text/html"}
            where: dict[str, Any] = {"url_key": target.url_key, "url": target.url, "final_url": target.url}
            page = KeptPage(**where, fetched_at_ms=at, body=body, headers=headers)
            archive.keep([packer.pack(page)], packer)
        archive.close()
        with TestClient(create_app(replace(site, archive=tmp_path / "pages")), base_url=HERE) as asking:
            yield asking, f"/products/{row['id']}", times

    def test_two_versions_are_compared_line_by_line(self, kept: tuple[TestClient, str, list[int]]) -> None:
        client, address, (old, new) = kept
        page = client.get(f"{address}/compare?before={old}&after={new}").text
        assert "&lt;b&gt;10.00&lt;/b&gt;" in page
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert" not in page
        assert client.get(f"{address}/compare?before={old}&after=1").status_code == 404
        assert client.get(f"{address}/compare?before=x&after={new}").status_code == 400

    def test_a_version_is_text_and_a_frame_in_which_nothing_runs(self, kept: tuple[TestClient, str, list[int]]) -> None:
        client, address, (_, new) = kept
        page = client.get(f"{address}/versions/{new}").text
        assert 'sandbox=""' in page
        assert "<script>alert" not in page
        frame = client.get(f"{address}/versions/{new}/frame")
        assert "sandbox" in frame.headers["content-security-policy"]
        assert "default-src 'none'" in frame.headers["content-security-policy"]
        assert client.get(f"{address}/versions/1").status_code == 404
