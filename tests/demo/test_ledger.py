"""The ledger adds up."""

from __future__ import annotations

from storebot.demo.ledger import Facts, Ledger


def facts(kind: str, status: int, http: str = "1.1") -> Facts:
    return Facts(kind, status, http, "127.0.0.1", "", "", "curl")


def test_requests_are_counted_by_path_and_status_and_totalled_by_kind() -> None:
    ledger = Ledger()
    for status, size in ((200, 100), (304, 0), (304, 0), (503, 7)):
        ledger.begin("product", 1.0)
        ledger.end("GET", "/p/a-1", facts("product", status), size)
    report = ledger.report()
    assert report["counts"] == [["GET", "/p/a-1", 200, 1], ["GET", "/p/a-1", 304, 2], ["GET", "/p/a-1", 503, 1]]
    assert report["totals"]["product"] == {"requests": 4, "bytes": 107, "full": 1, "not_modified": 2, "other": 1}
    assert report["arrivals"]["product"] == [1.0] * 4


def test_the_most_requests_at_once_are_remembered() -> None:
    ledger = Ledger()
    for kind in ("product", "product", "robots"):
        ledger.begin(kind, 1.0)
    ledger.end("GET", "/p/a-1", facts("product", 200), 0)
    ledger.begin("product", 2.0)
    assert ledger.report()["max_concurrent"] == 3


def test_a_reset_forgets_all_but_requests_under_way() -> None:
    ledger = Ledger()
    ledger.begin("other", 1.0)
    ledger.reset()
    ledger.end("GET", "/", facts("other", 200), 5)
    report = ledger.report()
    assert report["counts"] == [["GET", "/", 200, 1]]
    assert report["max_concurrent"] == 1
    assert not report["arrivals"]["other"]


def test_requests_are_counted_by_what_can_be_seen_of_who_asked() -> None:
    ledger = Ledger()
    for http in ("1.1", "2", "2"):
        ledger.begin("product", 1.0)
        ledger.end("GET", "/p/a-1", facts("product", 200, http), 5)
    rows = [["product", 200, http, "127.0.0.1", "", "", "curl", count] for http, count in (("1.1", 1), ("2", 2))]
    assert ledger.report()["facts"] == rows
