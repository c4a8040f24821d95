"""Availability and condition: terms in any spelling, stock lines in many languages, denials first."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.availability import read_availability, read_condition
from storebot.core.availability_words import PHRASES, UNSPACED
from storebot.items import Availability


@pytest.mark.parametrize("term", list(Availability))
@pytest.mark.parametrize(
    "spelling", ["https://schema.org/{}", "http://schema.org/{}", "{}", "schema:{}", "http://schema.org/{}/"]
)
def test_every_term_is_read_with_any_prefix(term: Availability, spelling: str) -> None:
    text = spelling.format(term.value)
    assert read_availability(text.removeprefix("schema:")) is term


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("instock", "InStock"),
        ("in_stock", "InStock"),
        ("In Stock", "InStock"),
        ("IN-STOCK", "InStock"),
        ("oos", "OutOfStock"),
        ("out of stock", "OutOfStock"),
        ("out_of_stock", "OutOfStock"),
        ("available for order", "BackOrder"),
        ("preorder", "PreOrder"),
        ("In stock (22 available)", "InStock"),
        ("Availability: In stock", "InStock"),
        ("Only 3 left in stock", "InStock"),
        ("Not in stock – back in stock soon", "OutOfStock"),  # L03
        ("Back in stock soon", "OutOfStock"),
        ("Notify me when in stock", "OutOfStock"),
        ("Currently unavailable", "OutOfStock"),
        ("No longer available", "Discontinued"),
        ("0 in stock", "OutOfStock"),
        ("10 in stock", "InStock"),
        ("Sold out", "SoldOut"),
        ("Auf Lager", "InStock"),
        ("Nicht auf Lager", "OutOfStock"),
        ("Sofort lieferbar", "InStock"),
        ("Derzeit nicht verfügbar", "OutOfStock"),
        ("En stock", "InStock"),
        ("Rupture de stock", "OutOfStock"),
        ("Indisponible", "OutOfStock"),
        ("No disponible", "OutOfStock"),
        ("Disponible", "InStock"),
        ("Não disponível", "OutOfStock"),
        ("Skladem > 5 ks", "InStock"),
        ("Není skladem", "OutOfStock"),
        ("В наличии", "InStock"),
        ("Нет в наличии", "OutOfStock"),
        ("Немає в наявності", "OutOfStock"),
        ("在庫あり", "InStock"),
        ("現在在庫なし", "OutOfStock"),
        ("품절", "SoldOut"),
        ("Produkt niedostępny", "OutOfStock"),
        ("Dostępny", "InStock"),
        ("Pre-order now", "PreOrder"),
    ],
)
def test_a_stock_line_is_read_with_its_denials_first(text: str, term: str) -> None:
    assert read_availability(text) == term


@pytest.mark.parametrize(
    ("language", "promise", "denial", "later"),
    [
        ("en", "Only 3 left in stock", "Currently unavailable", "Available on backorder"),
        ("de", "Sofort lieferbar", "Nicht auf Lager", "Lieferbar bei Nachbestellung"),
        ("fr", "En stock", "Actuellement indisponible", "Disponible sur commande"),
        ("es", "Hay existencias", "Sin existencias", "Disponible bajo pedido"),
        ("it", "Disponibilità immediata", "Al momento non disponibile", "Disponibile su ordinazione"),
        ("nl", "Op voorraad", "Niet op voorraad", "Beschikbaar via nabestelling"),
        ("pl", "Na stanie", "Brak w magazynie", "Dostępne na zamówienie"),
        ("sv", "Finns i lager", "Slut i lager", "Tillgänglig för restnotering"),
        ("da", "På lager", "Ikke på lager", "Tilgængelig på restordre"),
        ("no", "12 på lager", "Tomt på lager", "Bestillingsvare"),
        ("pt", "Em estoque", "Fora de estoque", "Disponível por encomenda"),
        ("cs", "Skladem 5 ks", "Momentálně není skladem", "Na objednávku"),
        ("sk", "Skladom", "Nie je skladom", "Na objednávku"),
        ("fi", "Heti saatavilla", "Ei varastossa", "Saatavilla jälkitoimituksena"),
        ("ru", "Есть на складе", "Временно нет в наличии", "Под заказ"),
        ("ro", "În stoc", "Stoc epuizat", "Disponibil la comandă"),
    ],
)
def test_each_language_has_words_for_yes_no_and_later(language: str, promise: str, denial: str, later: str) -> None:
    assert language in PHRASES
    assert read_availability(promise) is Availability.IN_STOCK
    assert read_availability(denial) is Availability.OUT_OF_STOCK
    assert read_availability(later) is Availability.BACK_ORDER


@pytest.mark.parametrize(
    "text",
    [
        "Not currently in stock",
        "Derzeit leider nicht vorrätig",
        "Pas disponible en magasin",
        "No está disponible",
        "Nie jest dostępny",
        "Inte tillgänglig",
        "Ikke tilgjengelig",
        "Momenteel niet leverbaar",
        "Não está disponível",
        "Notify me when it is available",
    ],
)
def test_a_promise_that_is_denied_or_only_wished_for_is_out_of_stock(text: str) -> None:
    assert read_availability(text) is Availability.OUT_OF_STOCK


@pytest.mark.parametrize("text", ["Vendido por Acme", "Gran Reserva 2015", "Reserveren in de winkel", "Online shop"])
def test_words_that_only_look_like_stock_are_unknown(text: str) -> None:
    assert read_availability(text) is None


def test_every_phrase_of_the_table_is_a_pattern_of_its_own() -> None:
    for table in (PHRASES, UNSPACED):
        for phrases in table.values():
            for words in phrases.values():
                assert re.compile(words)
                assert not words.startswith("|")
                assert not words.endswith("|")


@pytest.mark.parametrize("text", ["", "Livestock feed", "stockings", "Add to cart", "{{ stock }}"])
def test_what_says_nothing_of_stock_is_unknown(text: str) -> None:
    assert read_availability(text) is None


def test_a_store_says_itself_what_its_words_mean() -> None:
    phrases = {"in stock": Availability.BACK_ORDER, "in stock at our store": Availability.IN_STORE_ONLY}
    assert read_availability("In stock at our store", phrases) is Availability.IN_STORE_ONLY
    assert read_availability("In stock", phrases) is Availability.BACK_ORDER
    assert read_availability("Out of stock", phrases) is Availability.OUT_OF_STOCK


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("https://schema.org/NewCondition", "NewCondition"),
        ("http://schema.org/UsedCondition", "UsedCondition"),
        ("new", "NewCondition"),
        ("Gebraucht", "UsedCondition"),
        ("refurbished", "RefurbishedCondition"),
        ("Open box", "DamagedCondition"),
        ("sparkling", None),
    ],
)
def test_a_condition_is_read_in_any_spelling(text: str, condition: str | None) -> None:
    assert read_condition(text) == condition


@given(st.text(max_size=2_000))
def test_no_text_raises(text: str) -> None:
    read_availability(text)
    read_condition(text)
