"""How large a store's pages usually are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.page_sizes import ENOUGH, KEPT, PageSizes
from storebot.items import PageType


def sizes_of(*sizes: int) -> PageSizes:
    found = PageSizes()
    found.begin((PageType.PRODUCT, size) for size in sizes)
    return found


def test_few_pages_say_nothing() -> None:
    assert sizes_of(*[50_000] * (ENOUGH - 1)).typical(PageType.PRODUCT) is None
    assert sizes_of(*[50_000] * ENOUGH).typical(PageType.PRODUCT) == 50_000


def test_each_type_of_page_has_its_own_size() -> None:
    sizes = sizes_of(*[50_000] * ENOUGH)
    assert sizes.typical(PageType.CATALOGUE) is None


def test_a_new_layout_is_usual_after_half_of_what_is_kept() -> None:
    sizes = sizes_of(*[50_000] * KEPT)
    for _ in range(KEPT // 2 + 1):
        sizes.add(PageType.PRODUCT, 9_000)
    assert sizes.typical(PageType.PRODUCT) == 9_000


def test_a_type_that_is_not_known_is_ignored() -> None:
    PageSizes().begin([("landing", 1)])


@given(st.lists(st.integers(0, 10**8), max_size=KEPT // 2))
def test_fewer_odd_pages_than_a_half_move_it_no_further_than_the_others_reach(odd: list[int]) -> None:
    sizes = sizes_of(*[50_000, 51_000] * KEPT)
    for size in odd:
        sizes.add(PageType.PRODUCT, size)
    typical = sizes.typical(PageType.PRODUCT)
    assert typical is not None
    assert 50_000 <= typical <= 51_000
