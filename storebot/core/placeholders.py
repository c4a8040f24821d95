"""What a page shows in the place of a value until its scripts have fetched it (case W04)."""

from __future__ import annotations

import re

from storebot.core.text import clean_text

_LONGEST = 40  # characters; beyond it's text
_WAITING = re.compile(
    r"(?:loading|please wait|wird geladen|bitte warten|lädt|chargement|cargando|caricamento|carregando|ładowanie"
    r"|laddar|laster|indlæser|ladataan|načítání|betöltés|yükleniyor|загрузка|読み込み中|로딩 ?중|加载中|加載中)"
    r"(?: (?:the |your )?(?:prices?|data|details|products?|page|content|preise?|prix|precios?|prezz[io]))?[\s.…]*"
)
_UNFILLED = re.compile(
    r"\{\{.*\}\}|\$\{.*\}|\[object object\]|\W*(?:[a-z]{2,3}\W+)?(?:undefined|nan|null)\W*(?:[a-z]{2,3})?"
)
_DIGIT = re.compile(r"\d")
_DECIMALS = re.compile(r"0[.,]0")
_CURRENCY = re.compile(r"[$¢£¤¥฿₠-⃀]|\b(?:[a-z]{3}|kr|kč|zł|lei|ft|р)\b")


def is_placeholder(text: str) -> bool:
    """Say whether a text only keeps a place: nothing, no letter or digit, "Loading…", "$0.00", "{{price}}", "NaN €".

    A bare nought is a value: a number of reviews may be that. Nought as money isn't a price (DESIGN §5).
    """
    said = clean_text(text).lower()
    if not any(sign.isalnum() for sign in said):
        return True
    if len(said) > _LONGEST:
        return False
    return bool(_WAITING.fullmatch(said) or _UNFILLED.fullmatch(said)) or _is_no_money(said)


def _is_no_money(said: str) -> bool:
    digits = _DIGIT.findall(said)
    return bool(digits) and set(digits) == {"0"} and bool(_DECIMALS.search(said) or _CURRENCY.search(said))
