"""The words around a number that say what kind of amount it is, in the languages of the shops, as patterns.

``…_BEFORE`` matches at the end of the text before an amount, ``…_AFTER`` at the start of the text behind it.
"""

from __future__ import annotations

import re


def _before(words: str, gap: str = r"[\s:.(\-–]*") -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W\d_])(?:{words}){gap}$", re.IGNORECASE)


def _after(words: str, gap: str = r"[\s*),.\-–]*+") -> re.Pattern[str]:
    return re.compile(rf"^{gap}(?:{words})(?![^\W\d_])", re.IGNORECASE)


FREE = re.compile(
    r"\b(?:free|gratis|kostenlos|gratuit[eo]?s?|zdarma|zadarmo|za darmo|бесплатно|безкоштовно|ingyenes|ücretsiz"
    r"|gratuito)\b"
    r"|無料|免费|免費|무료",
    re.IGNORECASE,
)
ON_REQUEST = re.compile(
    r"\b(?:(?:call|ask|e-?mail|contact(?: us)?|enquire|inquire|log ?in|sign in|register) (?:us )?(?:for"
    r"|to (?:see|view|get))"
    r"|(?:price|pricing) (?:up)?on (?:request|application|enquiry)|call us|contact us|request (?:a )?(?:quote|price)"
    r"|p\.?o\.?a\b|t\.?b\.?[ad]\b|add to cart (?:for|to see)|see price in cart|(?:preis )?auf anfrage|preis anfragen"
    r"|(?:prix )?sur (?:demande|devis)|nous consulter|na dotaz|na vyžádání|na vyžiadanie|su richiesta|a richiesta"
    r"|a consultar|consultar precio|sob consulta|op aanvraag|na zapytanie|zapytaj o cenę|på forespørsel|på förfrågan"
    r"|pyydä tarjous|la cerere|árajánlat)|уточняйте|уточнить|по запросу|договорная|за запитом"
    r"|お問い合わせ|要問合せ|询价|詢價|面议|가격문의",
    re.IGNORECASE,
)
UNRENDERED = re.compile(r"\$\{|\{\{|\{%|<%|\[\[|%\(\w+\)s")
MONTH = re.compile(
    r"(?:\b(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?,?\s*)$",
    re.IGNORECASE,
)
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}|\b0\d[-/]\d\d\b|\b\d\d?[-/]0\d\b|\b\d{1,2}:\d{2}\b")

# Units that things are measured in: a price per one of these isn't the price of the thing. Per piece or set, it is.
_UNITS = (
    "kg|KG|Kg|g|gr|gram|grams|gramm?|kilo|kilogramm?|mg|lbs?|oz|l|ltr|lit(?:er|re|ro)s?|ml|cl|dl|m|m2|m²|m3|m³"
    "|qm|lfm|mm"
    "|cm|km|ft|yd|yards?|met(?:er|re|ro)s?|metr|sq\\.? ?(?:m|ft)|кг|гр?|мл|л|кв\\.? ?м|kWh|GB|TB|MB|inch(?:es)?|in"
)
QUANTITY_AFTER = re.compile(rf"^[ ]?(?:{_UNITS})(?![^\W\d_])(?!')")
PER_UNIT_AFTER = re.compile(rf"^[\s*]*(?:/|per|pro|je|po|por|par|al|za|na|за)\s*(?:{_UNITS})(?![^\W\d_])")
PER_AFTER = re.compile(r"^[\s*]*(?:/|per|pro|je|po|por|par|za|за)\s*$")  # "2,49 € / 100 g"
UNIT_IS_BEFORE = re.compile(rf"^\s*(?:{_UNITS})\s*=\s*$")  # "1 kg = 8,30 €"
UNIT_PRICE_BEFORE = _before("grundpreis|unit price(?: is)?|prix au kilo|jednotková cena|prezzo al kg|cena za jednostkę")

_PERIODS = (
    r"mo|mos|months?|mnth|mth|monthly|mtl|monat(?:lich)?|měs(?:íčně|íc)?|mes|meses|mensual(?:es)?|mensai?s|mês"
    r"|mois|mensile"
    r"|mese|mies(?:ięcznie|iąc)?|мес(?:яц)?|місяць|mnd|maand|mån(?:ad)?|måned|kk|aylık|weeks?|wk|wkly|weekly"
    r"|woche|tydzień|years?"
    r"|yr|yearly|annually|jahr|jährlich|ann?o|an|rok|day|daily|tag"
)
PERIOD_AFTER = _after(rf"(?:/|per|pro|p\.|an?|al|por|par|na|im|в|за|/\s)?\s*(?:{_PERIODS})")
TIMES_BETWEEN = re.compile(
    r"^\s*(?:[x×X]|х|payments?|instal?lments?|(?:interest[- ]free )?(?:payments|installments)|zahlungen"
    r"|(?:monats)?raten"
    r"|mensualit\w+|mensualidades|cuotas?|parcelas?|vezes|splát\w+|rate|rat|платеж\w*)(?![^\W\d_])"
    r"\s*(?:of|de|à|a|von|po|po|por|da|di|за|по)?\s*(?:only|nur)?\s*$",
    re.IGNORECASE,
)
TIMES_AFTER = re.compile(r"^[\s*]*(?:[x×]|х)\s*$", re.IGNORECASE)
INSTALMENT_BEFORE = re.compile(
    r"(?<![^\W\d_])(?:klarna|afterpay|clearpay|affirm|twisto|scalapay|instal?lments?(?: of)?|splátk\w+|rata"
    r"|raten|rate ab"
    r"|finanzierung|mensualit\w+|cuotas?(?: de)?|monatlich|monthly)[^\d]{0,25}$",
    re.IGNORECASE,
)

FROM_BEFORE = _before(
    "from|starting (?:at|from)|starts (?:at|from)|as low as|ab|à partir de|a partir de|a partire da|da|dal"
    "|desde|od|от|від"
    "|från|fra|vanaf|alk|mulai|từ|de la|dès|начиная с|mulai dari|starting"
)
FROM_AFTER = re.compile(r"^\s*(?:~|～|〜|起|から|より|부터|이상|and up|alkaen|'den başlayan)", re.IGNORECASE)
RANGE_BETWEEN = re.compile(
    r"^\s*(?:-|–|—|−|~|to|bis|à|až|do|до|til|till|tot|al|hasta|até|and|und|bis zu)\s*(?:from|ab"
    r"|od)?\s*$",
    re.IGNORECASE,
)
MULTI_BUY = re.compile(
    r"^\s+(?:[^\W\d_]+\s+)?(?:for|für|pour|por|per|za|voor|för|на|за)\s+(?:only|nur|je|just)?\s*$", re.IGNORECASE
)

SAVING_BEFORE = _before(
    "save|saved|you save|savings?|saves|ušetříte|ušetríte|sleva|zľava|(?:sie )?sparen(?: sie)?|spare|ersparnis"
    "|risparmi"
    r"|ahorras?|économisez|oszczęd\w+|rabatt?|discount|remise|coupon|voucher|gutschein|(?:-|–|−)"
)
SAVING_AFTER = _after(
    "off|rabatt?|discount|günstiger|sleva|zľava|de réduction|de descuento|desconto|di sconto|taniej|voucher|coupon"
)
FEE_BEFORE = _before(
    r"(?:free (?:shipping|delivery|postage)|versandkostenfrei|livraison (?:gratuite|offerte)"
    r"|doprava zdarma)[^\d]{0,30}"
    r"|shipping|postage|versand(?:kosten)?|delivery|lieferung|doprava|envío|frete|livraison|spedizione|wysyłka"
    r"|доставка"
    r"|dostawa|porto|frakt|deposit|pfand|kaution|záloha|(?:d')?[eé]co-?(?:part\w*|tax\w*)|dont|bail"
)
FEE_AFTER = _after(
    "shipping|postage|versand|pfand|deposit|p&p|delivery|d'[eé]co-?\\w+|[eé]co-?(?:part\\w*|tax\\w*)|kaution"
)
WAS_BEFORE = _before(
    r"was|were|old price|(?:original|regular|normal|list|retail) price(?: was| is)?|rrp|r\.r\.p|msrp|uvp|statt"
    r"|vorher|bisher"
    r"|původn[íě](?: cena)?|běžná cena|bežná cena|pôvodná cena|instead of|au lieu de|prezzo di listino|anziché"
    r"|antes|przed"
    r"|zamiast|cena regularna|было|старая цена|prix (?:conseillé|barré)|niedrigster.{0,40}|lowest.{0,40}"
    r"|najniższa.{0,40}"
    r"|nejnižší.{0,40}|mrp|pvp|pvpr|före|før|van|ord\.? pris|reg\.?|compare at"
)
NOW_BEFORE = _before(
    r"now|now only|(?:sale|current|special|offer|our|your|final|deal) price(?: is)?|jetzt(?: nur)?|aktuell|nyní"
    r"|teraz|ora"
    r"|ahora|maintenant|сейчас|agora|por apenas|promotion price|akční cena|naše cena|naša cena|nu"
)

_TAX = (
    r"(?:v\.?a\.?t|mwst|m\.?w\.?st|ust|gst|dph|iva|tva|btw|moms|mva|tax(?:es)?|hst|φπα|ндс|пдв|pdv|áfa|kdv|alv"
    r"|sales tax|tasse)"
)
NET_AFTER = re.compile(
    rf"^[\s*(,\-–]*(?:(?:excl|ex|exc|excluding|ohne|bez|zzgl|zuzügl|plus|without|before|sans|hors|senza|sin"
    rf"|uden|exkl|eks|utan|χωρίς"
    rf"|без|fara|fără|\+)\.?(?:\s+\w+%?)?[\s.]*(?:\d+\s?%\s*)?{_TAX}|netto|net|ht|h\.t|ex)(?![^\W\d_])(?!\s*:)",
    re.IGNORECASE,
)
GROSS_AFTER = re.compile(
    rf"^[\s*(,\-–]*(?:(?:incl|inc|including|inkl|inklusive|with|mit|s|avec|con|vč|včetně|vrátane|με|com|med|z"
    rf"|cu|с|ibt)\.?\s*(?:\w+\s+)?"
    rf"(?:\d+\s?%\s*)?{_TAX}|ttc|t\.t\.c|brutto|gross|ivato|iva inclus\w+|tax included)(?![^\W\d_])(?!\s*:)",
    re.IGNORECASE,
)
NET_BEFORE = _before(rf"(?:excl|ex|ohne|bez|without|sans|hors|χωρίς|без)\.?\s*{_TAX}|netto|net price|ht")
GROSS_BEFORE = _before(rf"(?:incl|inc|inkl|mit|s|με|with|vč|avec)\.?\s*{_TAX}|brutto|ttc|gross price")
