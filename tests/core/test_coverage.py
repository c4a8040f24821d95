"""The report on coverage, as text and as JSON."""

from __future__ import annotations

from storebot.core.coverage import Coverage, SourceCoverage, render

WHOLE = SourceCoverage(source="sitemap", named=1000, unread=0, lacks=12, whole_from=1, whole_at=2)
NEVER = SourceCoverage(source="catalogue", named=300, unread=4, lacks=0, whole_from=None, whole_at=None)
SHOP = Coverage(
    store="acme",
    sources=[NEVER, WHOLE],
    states={"active": 990, "delisted": 3},
    everywhere=290,
    unlisted=2,
    overlaps={"sitemap": 700},
)


def test_what_is_not_proven_is_partial_and_says_why() -> None:
    assert (SHOP.status, SHOP.doubts) == ("partial", ["catalogue: it was never read whole"])
    proven = Coverage(store="acme", sources=[WHOLE], states={"active": 1000})
    assert (proven.status, proven.doubts) == ("complete", [])


def test_as_text_each_source_has_its_row() -> None:
    text = render(SHOP, {2: "2027-01-15 08:00"})
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.split()}
    assert rows["sitemap"][1:] == ["1000", "0", "12", "2027-01-15", "08:00", "yes"]
    assert rows["catalogue"][-2:] == ["never", "no"]
    assert "database: 990 active, 0 unread, 0 missing, 3 delisted" in text
    assert "named by sitemap alone: 700" in text
    assert text.endswith("acme: partial\n  catalogue: it was never read whole")


def test_as_json_it_has_the_same_facts() -> None:
    found = SHOP.as_json()
    assert found["status"] == "partial"
    assert found["database"] == {"active": 990, "unread": 0, "missing": 0, "delisted": 3}
    assert found["sources"]["sitemap"]["complete"] is True  # type: ignore[index]
