"""The archive file: what is kept comes back byte for byte, once per distinct body, and a damaged entry is a miss."""

from __future__ import annotations

import logging
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from storebot.archive import Archive, Packer, archive_path, stats
from storebot.archive.archive import Damage
from storebot.exceptions import ArchiveUnusable, SaveFailed
from storebot.items import KeptPage

WORDS = [f"word{number:04}" for number in range(3000)]


def body(number: int, template: int = 0) -> bytes:
    """A page of 60 KB that shares its template with others, and has 1 KB of its own."""
    shared = " ".join(random.Random(f"template {template}").choices(WORDS, k=6500))
    own = " ".join(random.Random(f"{template} {number}").choices(WORDS, k=120))
    return f"<html><body>{shared}<main>{own}</main></body></html>".encode()


def page(number: int, *, at: int = 1000, **changed: object) -> KeptPage:
    values: dict[str, object] = {
        "url_key": f"https://shop.example/p/{number}",
        "url": f"https://shop.example/p/{number}",
        "final_url": f"https://shop.example/p/{number}",
        "fetched_at_ms": at,
        "body": body(number),
        "headers": {"content-type": "text/html; charset=iso-8859-1", "set-cookie": "session=secret", "etag": '"1"'},
        "content_hash": "c1",
    }
    return KeptPage(**{**values, **changed})  # type: ignore[arg-type]


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    opened = Archive.open(archive_path(tmp_path, "shop"))
    yield opened
    opened.close()


def keep(archive: Archive, *pages: KeptPage, packer: Packer | None = None) -> Packer:
    packer = packer or archive.packer()
    archive.keep([packer.pack(one) for one in pages], packer)
    return packer


def damages(archive: Archive) -> list[Damage]:
    return [damage for damage in archive.verify() if damage is not None]


def test_what_is_kept_comes_back_byte_for_byte(archive: Archive) -> None:
    kept = [page(number) for number in range(20)]
    keep(archive, *kept)
    for one in kept:
        found = archive.latest(one.url_key)
        assert found is not None
        assert found.body == one.body
        assert (found.url, found.final_url, found.status, found.fetched_at_ms) == (one.url, one.final_url, 200, 1000)
    assert damages(archive) == []


def test_cookies_credentials_and_transfer_headers_are_never_kept(archive: Archive) -> None:
    sent = {
        "content-type": "text/html",
        "set-cookie": "a=b",
        "authorization": "Basic x",
        "content-encoding": "gzip",
        "content-length": "7",
        "proxy-authenticate": "x",
    }
    keep(archive, page(1, headers=sent, url="https://me:secret@shop.example/p/1"))
    found = archive.latest(page(1).url_key)
    assert found is not None
    assert found.headers == {"content-type": "text/html"}
    assert found.url == "https://shop.example/p/1"
    assert b"secret" not in archive.path.read_bytes()


def test_a_body_is_kept_once_however_often_it_comes(archive: Archive) -> None:
    packer = keep(archive, page(1, at=1000), page(2, at=1000, body=body(1)))
    keep(archive, page(1, at=2000), packer=packer)
    found = stats(archive)
    assert (found.pages, found.generations, found.bodies) == (2, 3, 1)


def test_the_newest_generation_is_the_latest(archive: Archive) -> None:
    packer = keep(archive, page(1, at=2000, body=b"<html>new</html>"))
    keep(archive, page(1, at=1000, body=b"<html>old</html>"), packer=packer)
    found = archive.latest(page(1).url_key)
    assert found is not None
    assert found.body == b"<html>new</html>"
    assert [one.fetched_at_ms for one in archive.generations(page(1).url_key)] == [1000, 2000]


def test_sizes_are_those_of_the_pages_that_came_last_held_ones_left_out(archive: Archive) -> None:
    keep(archive, *(page(number, body=b"x" * (1_000 + number)) for number in range(6)))
    keep(archive, page(5, at=2000, body=b"y" * 9_000), page(6, body=b"z" * 70, held=True))
    keep(archive, page(7, body=b"c" * 500, page_type="catalogue"))
    products = [("product", 1_003), ("product", 1_004), ("product", 1_005), ("product", 9_000)]
    assert archive.sizes(most=5) == [*products, ("catalogue", 500)]


def test_pages_of_one_template_take_a_fraction_of_their_size(archive: Archive) -> None:
    keep(archive, *(page(number) for number in range(60)))
    found = stats(archive)
    assert found.distinct_bytes / found.packed_bytes > 20


def test_a_second_process_goes_on_with_the_dictionary(archive: Archive) -> None:
    keep(archive, *(page(number) for number in range(10)))
    again = Archive.open(archive.path)
    packer = again.packer()
    packed = packer.pack(page(11))
    again.keep([packed], packer)
    again.close()
    names = {row[0] for row in archive.connection.execute("SELECT name FROM dictionaries")}
    assert packed.dictionary in names
    assert packer.unwritten == {}
    assert len(packed.packed) < packed.size / 20
    found = archive.latest(page(11).url_key)
    assert found is not None
    assert found.body == body(11)


def test_a_dictionary_that_no_page_needs_goes_when_two_newer_ones_are_there(archive: Archive) -> None:
    packer = keep(archive, *(page(number) for number in range(30)))
    for template in (1, 2, 3):
        redesigned = [page(number, at=2000 + template, body=body(number, template)) for number in range(120)]
        keep(archive, *redesigned, packer=packer)
    before = stats(archive)
    archive.drop([(one.url_key, one.fetched_at_ms) for one in archive.every()])
    archive.tidy()
    after = stats(archive)
    assert before.dictionaries > 2
    assert (after.pages, after.generations, after.bodies, after.dictionaries) == (0, 0, 0, 2)
    assert after.file_bytes < before.file_bytes / 2


def test_a_redesign_gets_a_dictionary_of_its_own_and_stubs_do_not() -> None:
    packer = Packer()
    names = [packer.pack(page(number)).dictionary for number in range(60)]
    stubs = [packer.pack(page(number, body=b"<html>moved %d</html>" % number)).dictionary for number in range(60)]
    assert {*names[3:]} == {*stubs}
    redesigned = [packer.pack(page(number, body=body(number, template=1))) for number in range(120)]
    assert redesigned[-1].dictionary not in names
    assert len(redesigned[-1].packed) < redesigned[-1].size / 20


def test_an_entry_that_is_damaged_is_a_miss_with_a_warning_and_the_generation_before_serves(
    archive: Archive, caplog: pytest.LogCaptureFixture
) -> None:
    """Case K01."""
    keep(archive, page(1, at=1000, body=b"<html>old</html>"), page(1, at=2000, body=b"<html>new</html>"), page(2))
    newest = "SELECT body_id FROM generations JOIN pages ON pages.id = page_id WHERE url_key = ? AND fetched_at = 2000"
    with sqlite3.connect(archive.path) as connection:
        connection.execute(f"UPDATE bodies SET packed = x'00' WHERE id = ({newest})", (page(1).url_key,))
    connection.close()
    with caplog.at_level(logging.WARNING):
        found = archive.latest(page(1).url_key)
    assert found is not None
    assert found.body == b"<html>old</html>"
    assert "can't be read" in caplog.text
    assert [(damage.url_key, damage.fetched_at_ms) for damage in damages(archive)] == [(page(1).url_key, 2000)]
    keep(archive, page(1, at=2000, body=b"<html>newer</html>"))
    found = archive.latest(page(1).url_key)
    assert found is not None
    assert found.body == b"<html>newer</html>"


def test_a_damaged_dictionary_costs_its_pages_and_new_pages_get_a_new_one(
    archive: Archive, caplog: pytest.LogCaptureFixture
) -> None:
    """Case K01."""
    keep(archive, *(page(number) for number in range(10)))
    archive.connection.execute("UPDATE dictionaries SET content = x'00'")
    again = Archive.open(archive.path)
    assert again.latest(page(9).url_key) is None
    assert len(damages(again)) == 7
    keep(again, *(page(number, at=2000) for number in range(20, 30)))
    assert "a dictionary can't be decompressed" in caplog.text
    found = again.latest(page(29).url_key)
    again.close()
    assert found is not None
    assert found.body == body(29)


def test_bytes_that_changed_on_disk_are_found(archive: Archive) -> None:
    keep(archive, page(1))
    with sqlite3.connect(archive.path) as connection:
        connection.execute("UPDATE bodies SET sha256 = zeroblob(32)")
    connection.close()
    assert "SHA-256" in damages(archive)[0].reason


def test_a_reader_reads_while_a_writer_is_in_a_transaction(archive: Archive) -> None:
    keep(archive, page(1))
    writer = sqlite3.connect(archive.path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM generations")
    assert archive.latest(page(1).url_key) is not None
    writer.execute("ROLLBACK")
    writer.close()


def test_a_write_that_fails_leaves_nothing_half_done(archive: Archive) -> None:
    keep(archive, page(1))
    before = stats(archive)
    archive.connection.execute(f"PRAGMA max_page_count = {before.file_bytes // 16384 + 1}")
    big = [page(number, body=random.Random(number).randbytes(100_000)) for number in range(5)]
    with pytest.raises(SaveFailed, match="disk is full"):
        keep(archive, *big)
    assert stats(archive) == before
    assert damages(archive) == []


def test_a_missing_archive_is_said_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ArchiveUnusable, match="a backfill or refresh of the store makes it"):
        Archive.open(archive_path(tmp_path, "nosuch"), create=False)


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = archive_path(tmp_path, "shop")
    path.write_bytes(b"not a database, though of some length" * 100)
    with pytest.raises(ArchiveUnusable, match="can't be opened"):
        Archive.open(path)


def test_an_archive_of_another_format_is_refused(archive: Archive) -> None:
    archive.connection.execute("UPDATE about SET value = '9'")
    with pytest.raises(ArchiveUnusable, match="format 9"):
        Archive.open(archive.path)
