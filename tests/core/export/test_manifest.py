from __future__ import annotations

from typing import Any

from storebot.core.export.manifest import Facts, Trust, trust


def facts(*runs: dict[str, Any], **more: Any) -> Facts:
    return Facts(taken_at=2, last_seq=0, runs=runs, **more)


def run(
    kind: str = "refresh", status: str = "complete", finished_at: int | None = 1, reason: str = ""
) -> dict[str, Any]:
    return {"id": 7, "kind": kind, "status": status, "finished_at": finished_at, "reason": reason}


def test_complete_only_if_the_last_crawl_was() -> None:
    assert trust(facts(run(), run(status="partial"))) == (Trust.COMPLETE, "")
    assert trust(facts()) == (Trust.PARTIAL, "no crawl of this store has ended yet")
    partial = trust(facts(run(status="partial", reason="3 pages were blocked"), run()))
    assert partial == (Trust.PARTIAL, "refresh 7 ended as partial: 3 pages were blocked")


def test_a_running_crawl_and_a_reparse_say_nothing() -> None:
    assert trust(facts(run(status="running", finished_at=None), run("reparse", "failed"), run())).count("") == 1


def test_open_holds_make_it_stale() -> None:
    found, reason = trust(facts(run(), stale_since=1, open_holds=4))
    assert (found, reason) == (Trust.STALE, "4 changes are held and not published: see `scrapy holds`")
