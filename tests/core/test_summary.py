"""The last line of a crawl can be read by a script, and its numbers add up."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.summary import Summary, table
from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus

REFRESH = Summary(
    kind="refresh",
    store="acme",
    run_id=7,
    status=RunStatus.PARTIAL,
    reason='1 error; "walk" 2 left',
    exit_code=ExitCode.PARTIAL,
    outcomes={Outcome.CHANGED: 3, Outcome.NOT_MODIFIED: 30, Outcome.UNCHANGED: 6, Outcome.ERROR: 1, Outcome.NEW: 0},
    rows_written=5,
    change_events=4,
    requests=44,
    size_bytes=1_234_567,
    elapsed_s=41.2345,
)
OUTCOMES = st.dictionaries(st.sampled_from(list(Outcome)), st.integers(0, 10**6))


def pairs(line: str) -> dict[str, str]:
    """Return the pairs as a shell would split them."""
    return dict(word.split("=", 1) for word in shlex.split(line.partition(": ")[2]))


def test_last_line_begins_with_what_scripts_look_for() -> None:
    assert REFRESH.line().startswith(
        "refresh: checked=40 updated=3 skipped=36 elapsed=41.2s store=acme status=partial "
    )


def test_last_line_splits_into_pairs_and_quotes_the_reason() -> None:
    found = pairs(REFRESH.line())
    assert found["reason"] == '1 error; "walk" 2 left'
    assert (found["rows"], found["changes"], found["requests"], found["bytes"]) == ("5", "4", "44", "1234567")
    assert found["run"] == "7"
    assert "\n" not in REFRESH.line()


def test_outcome_that_no_page_had_is_not_in_the_line() -> None:
    found = pairs(REFRESH.line())
    assert found["error"] == "1"
    assert "new" not in found
    assert "blocked" not in found


def test_tiers_are_told_where_the_plain_one_was_not_enough() -> None:
    plain = replace(REFRESH, tiers={"http": 40})
    assert "tiers" not in pairs(plain.line())
    assert json.loads(plain.json_line())["tiers"] == {"http": 40}
    climbed = replace(REFRESH, tiers={"http": 37, "browser": 3}, escalations=3)
    assert (pairs(climbed.line())["tiers"], pairs(climbed.line())["escalations"]) == ("http:37,browser:3", "3")
    assert json.loads(climbed.json_line())["escalations"] == 3
    remembered = replace(REFRESH, tiers={"browser": 40})
    assert (pairs(remembered.line())["tiers"], pairs(remembered.line())["escalations"]) == ("browser:40", "0")
    catalogue = replace(REFRESH, tiers={}, escalations=1)
    assert pairs(catalogue.line())["tiers"] == "none"


def test_line_break_in_a_reason_does_not_make_a_second_line() -> None:
    line = Summary(kind="backfill", store="acme", outcomes={}, reason="first\nsecond").line()
    assert len(line.splitlines()) == 1
    assert "first\\nsecond" in line


def test_complete_run_has_no_reason_in_its_line() -> None:
    assert "reason=" not in Summary(kind="backfill", store="acme", outcomes={}, status=RunStatus.COMPLETE).line()


def test_json_line_says_the_same_with_every_outcome_named() -> None:
    found = json.loads(REFRESH.json_line())
    assert set(found["outcomes"]) == {outcome.value for outcome in Outcome}
    assert found["outcomes"]["not_modified"] == 30
    assert found["outcomes"]["blocked"] == 0
    assert (found["kind"], found["store"], found["run_id"]) == ("refresh", "acme", 7)
    assert (found["status"], found["exit_code"], found["reason"]) == ("partial", 3, '1 error; "walk" 2 left')
    assert (found["rows_written"], found["change_events"], found["requests"]) == (5, 4, 44)
    assert (found["bytes"], found["elapsed_s"]) == (1_234_567, 41.234)


def test_page_that_was_not_visited_is_not_counted_as_one_that_had_not_changed() -> None:
    """Both are called skipped, one in DESIGN's last line and one as an outcome."""
    line = Summary(kind="refresh", store="acme", outcomes={Outcome.SKIPPED: 2, Outcome.UNCHANGED: 5}).line()
    assert line.count("skipped=") == 1
    assert (pairs(line)["skipped"], pairs(line)["not_visited"]) == ("5", "2")


@given(OUTCOMES)
def test_numbers_of_both_lines_add_up(outcomes: dict[Outcome, int]) -> None:
    summary = Summary(kind="refresh", store="acme", outcomes=outcomes)
    found, as_json = pairs(summary.line()), json.loads(summary.json_line())
    names = {outcome.value: outcome.value for outcome in Outcome} | {"skipped": "not_visited"}
    by_outcome = {value: int(found.get(name, "0")) for value, name in names.items()}
    assert sum(by_outcome.values()) == int(found["checked"]) == as_json["checked"]
    assert by_outcome["new"] + by_outcome["changed"] == int(found["updated"]) == as_json["updated"]
    assert by_outcome["unchanged"] + by_outcome["not_modified"] == int(found["skipped"]) == as_json["skipped"]
    assert by_outcome == as_json["outcomes"]


def test_table_aligns_words_left_and_numbers_right() -> None:
    assert table(("store", "pages", "took"), [("a", "5", "-"), ("books", "1000", "1.5 s")]).splitlines() == [
        "store  pages   took",
        "─────  ─────  ─────",
        "a          5      -",
        "books   1000  1.5 s",
    ]


def test_table_without_rows_is_its_head() -> None:
    assert table(("a", "bb"), []).splitlines() == ["a  bb", "─  ──"]


@given(st.lists(st.tuples(st.text("abc0123 ", max_size=9), st.text("xyz789-", max_size=9)), max_size=6))
def test_no_cell_of_a_table_is_lost_or_cut(rows: list[tuple[str, str]]) -> None:
    lines = table(("left", "right"), rows).split("\n")
    assert len(lines) == len(rows) + 2
    for row, line in zip(rows, lines[2:], strict=True):
        assert all(cell.strip() in line for cell in row)


def test_cost_is_in_the_line_only_where_something_is_priced() -> None:
    priced = replace(REFRESH, cost_micro=420_000, currency="EUR")
    assert pairs(priced.line())["cost"] == "0.42EUR"
    assert "cost" not in pairs(replace(REFRESH, cost_micro=0).line())
    assert [json.loads(one.json_line())["cost"] for one in (priced, REFRESH)] == ["0.42", None]
    assert [json.loads(one.json_line())["currency"] for one in (priced, REFRESH)] == ["EUR", None]
