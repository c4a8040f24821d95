"""Places of a page that are inside of a comment or of a script, asked one after another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.parsing.tags import Comments, Scripts, is_commented

PIECES = st.lists(
    st.sampled_from(["<!--", "-->", "<!-", "<script>", "</script>", "<meta>", "x", "<s"]), max_size=25
).map("".join)


def places(markup: bytes) -> list[int]:
    return [at for at in range(len(markup)) if markup[at : at + 5] == b"<meta"]


@given(PIECES)
def test_a_comment_is_known_as_by_who_looks_at_one_place_alone(text: str) -> None:
    markup = text.encode()
    comments = Comments(markup)
    found = [comments.hold(at, at + 6) for at in places(markup)]
    assert found == [is_commented(markup, at, at + 6) for at in places(markup)]


@given(PIECES)
def test_a_place_is_in_a_script_where_the_last_tag_of_one_opens_it(text: str) -> None:
    markup = text.encode()
    scripts = Scripts(markup)
    found = [scripts.hold(at) for at in places(markup)]
    assert found == [markup.rfind(b"<script", 0, at) > markup.rfind(b"</script", 0, at) for at in places(markup)]
