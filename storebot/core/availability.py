"""Availability and condition, from schema.org terms in any spelling and from what shops write in many languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from storebot.items import Availability

_MAX_TEXT = 300  # characters; a stock line is shorter, and a longer text speaks of other things too

_TERMS = {term.value.lower(): term for term in Availability} | {
    # Facebook and OpenGraph, Google Merchant, WooCommerce and Shopify say it in their own words.
    "oos": Availability.OUT_OF_STOCK,
    "available": Availability.IN_STOCK,
    "unavailable": Availability.OUT_OF_STOCK,
    "notinstock": Availability.OUT_OF_STOCK,
    "notavailable": Availability.OUT_OF_STOCK,
    "availablefororder": Availability.BACK_ORDER,
    "onbackorder": Availability.BACK_ORDER,
    "backordered": Availability.BACK_ORDER,
    "pending": Availability.PRE_ORDER,
    "lowstock": Availability.LIMITED_AVAILABILITY,
    "limitedstock": Availability.LIMITED_AVAILABILITY,
    "instorepickup": Availability.IN_STORE_ONLY,
}

# The order is the rule: what denies comes first, for "in stock" is a part of "not in stock"; what limits comes next.
_PHRASES: tuple[tuple[Availability, str], ...] = (
    (
        Availability.DISCONTINUED,
        r"discontinued|no longer (?:available|sold|made)|nicht mehr (?:lieferbar|verfügbar|erhältlich)"
        r"|plus disponible"
        r"|produit arrêté|descatalogado|ukončen(?:o|á|ý)? výrob\w*|prodej ukončen|снят с производства|wycofan\w*",
    ),
    (
        Availability.SOLD_OUT,
        r"sold[ -]out|ausverkauft|vergriffen|uitverkocht|vyprodáno|vypredané"
        r"|wyprzedan[eyao]|slutsåld|"
        r"utsolgt|udsolgt|loppuunmyyty|läbi müüdud|распродан[оаы]?|розпродано|tükendi|εξαντλ\w+",
    ),
    (
        Availability.OUT_OF_STOCK,
        r"out[ -]of[ -]stock|no stock|(?<![\d.,])0 (?:in stock|available|left|pcs|st|ks|szt)|(?:un|not "
        r"|non[- ])available"
        r"|(?:not|isn't|aren't|never|no longer|non)\W+(?:\w+\W+){0,2}?(?:in stock|available)"
        r"|(?:when|once|if|until|as soon as)\W+(?:\w+\W+){0,3}?(?:in stock|available)"
        r"|(?:back |again )?(?:in stock|available) (?:again )?(?:soon|shortly)|coming soon|notify me|email me when"
        r"|nicht (?:auf lager|am lager|vorrätig|verfügbar|lieferbar|erhältlich)|(?:derzeit|momentan|zurzeit"
        r"|aktuell) nicht\b.*"
        r"|nicht mehr auf lager|kein bestand|(?:en )?rupture(?: de stock)?|épuisé\w*|indisponible"
        r"|pas (?:en stock|disponible)"
        r"|non disponible|agotad[oa]s?|sin (?:stock|existencias?|inventario)|no (?:hay stock|disponible)"
        r"|fuera de stock"
        r"|non disponibil[ei]|esaurit[oaie]|terminat[oa]|esgotad[oa]s?|indisponível|fora de estoque"
        r"|sem (?:estoque|stock)"
        r"|avise-?me|niet (?:op voorraad|leverbaar|beschikbaar)|není (?:skladem|na skladě|dostupn\w+)"
        r"|nie je (?:skladom|na sklade)"
        r"|nedostupn\w*|niedostępn\w*|brak (?:w magazynie|towaru|na stanie)|(?:ej|inte|slut) i lager|tillfälligt slut"
        r"|ikke (?:på lager|tilgjengelig)|ei (?:varastossa|saatavilla)|нет (?:в наличии|на складе)|отсутствует"
        r"|закончил\w+"
        r"|нема[єе]? (?:в|у) наявності|відсутній|nincs (?:raktáron|készleten)|elfogyott|stoc epuizat"
        r"|indisponibil|nu este în stoc"
        r"|stokta yok|μη διαθέσιμ\w+|изчерпан\w*|няма (?:в )?налич\w+|laost otsas|otsas|pole laos"
        r"|hết hàng|(?:stok )?habis|نفد|غير متوفر|ناموجود|אזל(?: מהמלאי)?",
    ),
    (
        Availability.PRE_ORDER,
        r"pre-?orders?|vorbestell\w+|précommande\w*|preventa|preordine|pré-venda"
        r"|předobjedn\w+|przedsprzedaż"
        r"|предзаказ\w*|передзамовлення|förbeställ\w*|forhåndsbestill\w*",
    ),
    (
        Availability.BACK_ORDER,
        r"back-?orders?(?:ed)?|on backorder|sur commande|under tilaus|nachbestellt"
        r"|na objednávku|na zamówienie|на заказ|под заказ"
        r"|під замовлення|beställningsvara|bestillingsvare",
    ),
    (Availability.MADE_TO_ORDER, r"made to order|auf bestellung(?: gefertigt)?|custom[- ]made"),
    (Availability.IN_STORE_ONLY, r"in[- ]store only|nur im (?:laden|geschäft)|only in stores?|uniquement en magasin"),
    (
        Availability.LIMITED_AVAILABILITY,
        r"low (?:in )?stock|limited (?:stock|availability)|almost gone"
        r"|nur noch wenige|wenige exemplare|derniers? articles?"
        r"|stock (?:faible|limité)|últimas? unidade?s|ultimi pezzi|ostatni\w+ sztuk\w*|poslední kus\w*",
    ),
    (
        Availability.IN_STOCK,
        r"in[ -]stock|instock|(?:\d+|only \d+) (?:available|left|in stock)|available|ready to ship"
        r"|ships? (?:today|within|in|now)|on stock"
        r"|(?:auf|am|ab) lager|lagernd|vorrätig|(?:sofort )?(?:lieferbar|verfügbar)|en stock|disponibles?|dispo"
        r"|en existencia|hay stock"
        r"|disponibil[ei]|disponibilità(?: immediata)?|disponíve(?:l|is)|em (?:estoque|stock)|pronta entrega"
        r"|op voorraad|leverbaar|voorradig"
        r"|skladem|skladom|na skladě|na sklade|dostupn[éýáo]|dostępn[yaeo]|w magazynie|na stanie|i lager"
        r"|på lager|finns i lager|varastossa"
        r"|в наличии|есть на складе|(?:в|у|є в) наявності|raktáron|készleten|(?:în|in) stoc|disponibil"
        r"|stokta(?: var)?|άμεσα διαθέσιμ\w+|διαθέσιμ\w+"
        r"|в наличност|наличен|налично|laos|còn hàng|tersedia|متوفر|موجود|במלאי",
    ),
)
# Scripts without spaces between words.
_UNSPACED: tuple[tuple[Availability, str], ...] = (
    (Availability.OUT_OF_STOCK, r"在庫(?:なし|切れ)|品切れ|缺货|缺貨|无货|無貨|补货中|補貨中|일시품절|입고 ?예정"),
    (Availability.SOLD_OUT, r"売り切れ|完売|售罄|품절"),
    (Availability.PRE_ORDER, r"予約|预订|預購|예약"),
    (Availability.MADE_TO_ORDER, r"受注生産"),
    (Availability.IN_STOCK, r"在庫あり|有货|有貨|现货|現貨|재고 ?있음"),
)
_DENIALS = r"no|not|nicht|não|non|niet|inte|ikke|ej|nie|není|ne|не|нет|nu|nincs|ei|pas|μη|δεν"
_POSITIVE = dict(_PHRASES)[Availability.IN_STOCK]
# A denial of any language at most a word before a promise of any language, behind the phrases that say more.
_DENIED = (Availability.OUT_OF_STOCK, rf"(?:{_DENIALS})\s+(?:\w+\s+)?(?:{_POSITIVE})")
_ALL = (*_PHRASES[:3], _DENIED, *_PHRASES[3:])
_PATTERNS = (
    *((term, re.compile(rf"(?<![^\W\d_])(?:{words})(?![^\W\d_])", re.IGNORECASE)) for term, words in _ALL),
    *((term, re.compile(words)) for term, words in _UNSPACED),
)

_CONDITIONS = {
    **dict.fromkeys(
        ("new", "newcondition", "neu", "neuf", "neuve", "nuevo", "nuovo", "novo", "nieuw", "nové", "nowy"),
        "NewCondition",
    ),
    **dict.fromkeys(("новый", "brandnew", "newwithtags", "ny", "uusi", "新品"), "NewCondition"),
    **dict.fromkeys(
        ("used", "usedcondition", "gebraucht", "occasion", "usado", "usato", "gebruikt", "používané"), "UsedCondition"
    ),
    **dict.fromkeys(("używany", "secondhand", "preowned", "preloved", "brugt", "begagnad", "中古"), "UsedCondition"),
    **dict.fromkeys(
        ("refurbished", "refurbishedcondition", "generalüberholt", "reconditionné", "reacondicionado"),
        "RefurbishedCondition",
    ),
    **dict.fromkeys(("ricondizionato", "recondicionado", "renewed", "repasované"), "RefurbishedCondition"),
    **dict.fromkeys(("damaged", "damagedcondition", "openbox"), "DamagedCondition"),
}


# What most pages say needs no work.
_AS_PUBLISHED = {
    f"{prefix}{term.value}": term
    for prefix in ("https://schema.org/", "http://schema.org/", "")
    for term in Availability
}


def read_availability(text: str, phrases: Mapping[str, Availability] | None = None) -> Availability | None:
    """Return what a term or a stock line says; None where it says nothing that is known.

    A store's own phrases come first, the longest before the shorter; then the terms of schema.org, OpenGraph and
    Google Merchant in any case and with any prefix; then the phrases of many languages, those that deny before the
    others.
    """
    if not phrases and text in _AS_PUBLISHED:
        return _AS_PUBLISHED[text]
    for phrase in sorted(phrases or (), key=len, reverse=True):
        if re.search(rf"(?<![^\W\d_]){re.escape(phrase)}(?![^\W\d_])", text, re.IGNORECASE):
            return (phrases or {})[phrase]
    term = _TERMS.get(_term(text))
    if term is not None:
        return term
    return _read_line(text[:_MAX_TEXT])


@lru_cache(maxsize=1024)  # a shop has a handful of stock lines, and the patterns cost more than the rest of a listing
def _read_line(line: str) -> Availability | None:
    return next((found for found, pattern in _PATTERNS if pattern.search(line)), None)


def read_condition(text: str) -> str | None:
    """Return a term of schema.org's OfferItemCondition; None for what isn't known."""
    if text == "https://schema.org/NewCondition":
        return "NewCondition"
    return _CONDITIONS.get(_term(text))


def _term(text: str) -> str:
    """Reduce ``https://schema.org/In_Stock``, ``in_stock`` and ``In Stock`` to ``instock``."""
    tail = text[:_MAX_TEXT].rstrip("/ ")
    for mark in "/#":
        if mark in tail:
            tail = tail.rpartition(mark)[2]
    if any(char.isdigit() for char in tail):
        return ""  # "0 in stock" is no term
    return "".join([char for char in tail.lower() if char.isalpha()])
