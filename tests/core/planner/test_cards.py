"""What a card brings, by what it showed before and what is published."""

from __future__ import annotations

import pytest

from storebot.core.planner.cards import Left, News, Record, Shown, Stock, left, news

AT = 1_000  # of the last look at the card
OLD = Record(500, "EUR", True, changed_at=10)


@pytest.mark.parametrize(
    ("card", "before", "record", "proven", "wanted"),
    [
        pytest.param(500, 500, OLD, True, News.NONE, id="as published"),
        pytest.param(400, 500, OLD, True, News.PRICE, id="it agreed and moved"),
        pytest.param(400, 500, OLD, False, News.HINT, id="not proven yet"),
        pytest.param(400, None, OLD, True, News.HINT, id="first look"),
        pytest.param(400, 400, OLD, True, News.NONE, id="it never agreed and stays"),
        pytest.param(390, 400, OLD, True, News.HINT, id="it never agreed and moved"),
        pytest.param(400, 400, OLD._replace(changed_at=AT + 1), True, News.HINT, id="the record moved, the card stays"),
        pytest.param(500, 400, OLD, False, News.NONE, id="it moved to what is published"),
        pytest.param(None, 500, OLD, True, News.NONE, id="no price any more"),
        pytest.param(400, 500, OLD._replace(currency="USD"), True, News.HINT, id="another currency, moved"),
        pytest.param(400, None, OLD._replace(currency="USD"), True, News.NONE, id="another currency"),
        pytest.param(400, 500, OLD._replace(price_minor=None), True, News.HINT, id="several listings, moved"),
        pytest.param(400, 400, OLD._replace(price_minor=None), True, News.NONE, id="several listings"),
    ],
)
def test_price(card: int | None, before: int | None, record: Record, proven: bool, wanted: News) -> None:
    assert news(Shown(card, "EUR"), Shown(before), record, listed_at=AT, proven=proven) is wanted


@pytest.mark.parametrize(
    ("now", "before", "buyable", "wanted"),
    [
        pytest.param(Stock.NO, Stock.YES, True, News.HINT, id="sold out"),
        pytest.param(Stock.NO, Stock.UNSAID, True, News.HINT, id="sold out, first look"),
        pytest.param(Stock.NO, Stock.NO, True, News.NONE, id="known to say otherwise"),
        pytest.param(Stock.YES, Stock.NO, False, News.HINT, id="back"),
        pytest.param(Stock.UNSAID, Stock.NO, False, News.HINT, id="its badge is gone"),
        pytest.param(Stock.UNSAID, Stock.YES, True, News.NONE, id="it doesn't say in stock any more"),
        pytest.param(Stock.NO, Stock.YES, None, News.HINT, id="nothing is known, and it moved"),
        pytest.param(Stock.NO, Stock.UNSAID, None, News.NONE, id="nothing is known"),
    ],
)
def test_stock_is_never_more_than_a_hint(now: Stock, before: Stock, buyable: bool | None, wanted: News) -> None:
    record = OLD._replace(buyable=buyable)
    found = news(Shown(500, "EUR", now), Shown(500, "EUR", before), record, listed_at=AT, proven=True)
    assert found is wanted


@pytest.mark.parametrize(
    ("old", "new", "first", "wanted"),
    [
        pytest.param([1, 2, 3, 4], [1, 2, 3, 4], True, Left([], []), id="the same"),
        pytest.param([1, 2, 3, 4], [9, 1, 2, 3], True, Left([], [4]), id="one came and pushed the last"),
        pytest.param([1, 2, 3, 4], [1, 3, 4, 5], True, Left([2], []), id="one vanished, the next page's moved up"),
        pytest.param([1, 2, 3, 4], [1, 3, 4], True, Left([2], []), id="one vanished of the last page"),
        pytest.param([1, 2, 3, 4], [2, 3, 4, 5], False, Left([], [1]), id="the first moved to the page before"),
        pytest.param([1, 2, 3, 4], [2, 3, 4, 5], True, Left([1], []), id="the first vanished of the first page"),
        pytest.param([1, 2, 3, 4], [3, 9, 8, 7], True, Left([], [1, 2, 4]), id="sorted anew"),
    ],
)
def test_what_left_a_page_of_the_catalogue(old: list[int], new: list[int], first: bool, wanted: Left) -> None:
    assert left(old, new, is_first=first) == wanted
