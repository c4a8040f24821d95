"""Pages of the catalogue as they are known: where each is, which is another one's repeat, which is gone."""

from __future__ import annotations

from storebot.db import views
from storebot.db.database import Database
from storebot.db.schema import catalogue_views, pages
from tests.db.shop import HOUR
from tests.db.test_cards import LATER, WALK, Shop, card, view


def test_pages_are_found_by_their_ids_in_the_order_that_is_asked_for(database: Database) -> None:
    shop = Shop(database, "1", "2")
    shop.save(view(card("1"), at=LATER), view(card("2"), number=2, at=LATER))
    first, second = (row["id"] for row in shop.rows(catalogue_views))
    with database.read() as conn:
        found = views.places(conn, [second, first, 99])
    assert [(one.id, one.walk, one.number, one.url) for one in found] == [
        (second, WALK, 2, "http://shop.example/page-2"),
        (first, WALK, 1, "http://shop.example/page-1"),
    ]


def test_a_page_that_repeats_the_first_is_no_observation(database: Database) -> None:
    """Shops answer so beyond their last page: what was on that page hasn't moved to this one."""
    shop = Shop(database, "1", "2", "3")
    shop.save(view(card("1"), card("2"), at=LATER), view(card("3"), number=2, at=LATER))
    shop.save(view(card("1", 500), card("2"), number=2, at=LATER + HOUR))
    first, second = shop.rows(catalogue_views)
    assert (second["viewed_at"], second["cards"]) == (LATER, 1)
    assert [row["view_id"] for row in shop.rows(pages)] == [first["id"], first["id"], second["id"]]
    assert set(shop.signals().values()) == {0}


def test_a_page_that_is_forgotten_shows_nothing(database: Database) -> None:
    shop = Shop(database, "1", "2")
    shop.save(view(card("1"), at=LATER), view(card("2"), number=2, at=LATER))
    first, second = (row["id"] for row in shop.rows(catalogue_views))
    for _ in range(2):
        with database.write() as conn:
            views.forget(conn, first)
    assert [row["id"] for row in shop.rows(catalogue_views)] == [second]
    assert [row["view_id"] for row in shop.rows(pages)] == [0, second]
