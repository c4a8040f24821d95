"""Pruning all of an archive: generations go, and with them the bodies that nothing else has."""

from __future__ import annotations

from pathlib import Path

from storebot.archive import Archive, archive_path, stats
from storebot.archive.pruning import prune
from storebot.archive.retention import DAY_MS, Retention
from storebot.items import KeptPage

NOW = 100 * DAY_MS


def test_pruning_lets_bodies_go_that_no_generation_has_and_shrinks_the_file(tmp_path: Path) -> None:
    archive = Archive.open(archive_path(tmp_path, "shop"))
    packer = archive.packer()
    for at in (1000, 2000, 3000):
        pages = [
            KeptPage(url_key=f"k{n:04}", url="u", final_url="u", fetched_at_ms=at, body=b"%d %d" % (n, at) * 500)
            for n in range(700)
        ]
        archive.keep([packer.pack(one) for one in pages], packer)
    before = stats(archive)
    assert prune(archive, Retention(last=1), NOW, lambda keys: {}, dry_run=True) == 1400
    assert stats(archive) == before
    assert prune(archive, Retention(last=1), NOW, lambda keys: {}) == 1400
    after = stats(archive)
    assert (after.pages, after.generations, after.bodies) == (700, 700, 700)
    assert after.file_bytes < before.file_bytes
    assert not any(archive.verify())
    archive.close()
