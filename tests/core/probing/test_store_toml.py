"""The text of a store file says what its draft does, whatever stands in it."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.probing.draft import Draft, Entry, Value
from storebot.core.probing.store_toml import store_toml

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
VALUES: st.SearchStrategy[Value] = st.one_of(
    TEXTS, st.booleans(), st.integers(-(2**60), 2**60), st.lists(TEXTS, max_size=6).map(tuple)
)


@given(st.lists(st.tuples(VALUES, TEXTS), min_size=1, max_size=5), TEXTS, TEXTS)
def test_toml_of_a_draft_reads_as_the_draft(entries: list[tuple[Value, str]], about: str, still: str) -> None:
    section = [Entry(f"key{number}", value, why) for number, (value, why) in enumerate(entries)]
    made = Draft("shop", {"": section, "part": section}, (about,), (still,))
    expected = {entry.key: list(entry.value) if isinstance(entry.value, tuple) else entry.value for entry in section}
    assert tomllib.loads(store_toml(made)) == {**expected, "part": expected}


def test_what_is_off_is_a_comment_and_expressions_read_as_they_are() -> None:
    made = Draft(
        "shop",
        {
            "": [Entry("product_url", r"/p/[^/]+\.html$", "worked out")],
            "expect": [Entry("required", ("name",), "all have it", is_off=True)],
        },
    )
    assert store_toml(made) == (
        "# worked out\nproduct_url = '/p/[^/]+\\.html$'\n\n# [expect]\n# all have it\n# required = [\"name\"]\n"
    )
