"""Which ISO 4217 currencies a symbol, an abbreviation or a word of a price text can stand for."""

from __future__ import annotations

import re
from typing import NamedTuple

from storebot.core.money import EXPONENTS

_DOLLARS = (
    "USD CAD AUD NZD HKD SGD TWD MXN ARS CLP COP UYU BRL CUP DOP "
    "BBD BSD BZD BMD BND FJD GYD JMD KYD LRD NAD SBD SRD TTD XCD"
)

# The codes that it can mean → what is written. One code is certain; several are told apart by the currency that the
# page or the store declares; none is money without an ISO code. Spelling counts where another one means something else
# ("Ft" is the forint, "ft" are feet).
_SPELLINGS = (
    (_DOLLARS, "$ | ＄"),
    ("GBP EGP LBP SYP SDG GIP FKP SHP SSP", "£ | ￡"),
    ("GBP ITL TRY", "₤"),
    ("EUR", "€ | €uro | euro | Euro | EURO | euros | Euros | ευρώ | евро | eiro"),
    ("JPY CNY", "¥ | ￥"),
    ("RUB", "₽ | руб | руб. | Руб | Руб. | РУБ | р. | р | Р | Р. | рублей | рубля | рубль"),
    ("RUB", "RUR | rub. | rub"),
    ("UAH", "₴ | грн | грн. | ГРН | hrn | ₴."),
    ("KZT", "₸ | тг | тг. | тенге"),
    ("TRY", "₺ | TL | tl | YTL"),
    ("INR", "₹ | र"),
    ("ILS", "₪ | ש\"ח | ש'ח | ש״ח | שח | NIS | nis | ش.ج"),
    ("KRW KPW", "₩ | ￦"),
    ("VND", "₫ | đ | Đ | VNĐ | vnđ | đồng"),
    ("THB", "฿ | บาท"),
    ("PHP CUP", "₱"),
    ("NGN", "₦ | N"),
    ("CRC", "₡ | ₡."),
    ("PYG", "₲ | Gs | Gs."),
    ("GHS", "₵ | GH₵ | GH¢ | GHC"),
    ("LAK", "₭"),
    ("MNT", "₮"),
    ("AZN", "₼ | man."),
    ("GEL", "₾ | ლ | ლარი | lari"),
    ("AMD", "֏ | драм | դր."),
    ("AFN", "؋"),
    ("BDT", "৳ | Tk | Tk. | Taka"),
    ("KHR", "៛"),
    ("INR PKR LKR NPR MUR SCR", "₨ | Rs | Rs. | RS | RS."),
    ("IRR SAR OMR QAR YER", "﷼"),
    ("FRF CHF XPF", "₣"),
    ("AWG ANG XCG", "ƒ"),
    ("", "₿ | تومان | S'"),
    ("USD", "US$ | US $ | U$S | U$ | USD$ | U.S. | $US"),
    ("CAD", "C$ | CA$ | CAN$ | CAD$ | CDN$ | $CA | Can$"),
    ("AUD", "A$ | AU$ | AUD$"),
    ("NZD", "NZ$ | NZD$"),
    ("HKD", "HK$ | HKD$"),
    ("SGD", "S$ | SG$ | SGD$"),
    ("TWD", "NT$ | NTD | NT"),
    ("MXN", "MX$ | Mex$ | MXN$"),
    ("BRL", "R$"),
    ("ARS", "AR$"),
    ("CLP", "CLP$"),
    ("COP", "COL$ | COP$"),
    ("DOP", "RD$"),
    ("XCD", "EC$"),
    ("TTD", "TT$"),
    ("JMD", "J$"),
    ("BZD", "BZ$"),
    ("BBD", "Bds$"),
    ("BND BSD", "B$"),
    ("GYD", "G$"),
    ("TOP", "T$"),
    ("NAD", "N$"),
    ("LRD", "L$"),
    ("FJD", "FJ$"),
    ("SBD", "SI$"),
    ("WST", "WS$"),
    ("ZWL", "Z$"),
    ("CUC", "CUC$"),
    ("UYU", "$U"),
    ("BOB", "$b"),
    ("KYD", "CI$"),
    ("BMD", "BD$"),
    ("MOP", "MOP$"),
    ("RWF", "R₣ | FRw"),
    ("GBP", "pound | pounds | stg"),
    ("CZK", "Kč | kč | KČ | Kčs"),
    ("PLN", "zł | zl | ZŁ | Zł"),
    ("HUF", "Ft | FT"),
    ("RON", "lei | Lei | LEI | leu | Leu"),
    ("BGN", "лв | лв. | lv | lv."),
    ("HRK", "kn | Kn | kuna"),
    ("RSD", "din | din. | Din | DIN | dinara | Dinara | дин | дин. | Дин | РСД"),
    ("MKD", "ден | ден."),
    ("BAM", "KM | КМ | км"),
    ("SEK NOK DKK ISK", "kr | kr. | Kr | Kr. | KR"),
    ("CHF", "SFr | SFr. | sFr. | CHf"),
    ("CHF XPF XAF", "Fr. | Fr | fr."),
    ("DEM", "DM"),
    ("CVE PTE", "Esc"),
    ("BYN", "бел. руб."),
    ("BYN ETB", "Br"),
    ("UZS", "сум | so'm | soʻm"),
    ("KGS UZS", "som"),
    ("KGS", "сом"),
    ("KGS TJS", "с | с."),
    ("TJS", "сомони"),
    ("AZN TMT", "манат"),
    ("JPY", "円 | yen"),
    ("TWD HKD", "圓"),
    ("CNY TWD", "元"),
    ("CNY", "人民币 | RMB | yuan | 圆"),
    ("KRW", "원 | won"),
    ("IDR", "Rp | Rp. | RP"),
    ("MYR", "RM"),
    ("MMK", "Ks"),
    ("INR PKR LKR NPR MUR", "Re | Re."),
    ("INR NPR", "रु | रू"),
    ("INR LKR", "ரூ"),
    ("LKR", "රු"),
    ("BTN", "Nu."),
    ("PHP", "Php"),
    ("BWP PHP MOP", "P"),
    ("MVR", "Rf"),
    ("RWF MVR", "RF"),
    ("IRR", "ریال"),
    ("AED", "د.إ | د.إ."),
    ("AED MAD", "درهم | Dh | Dhs | Dhs."),
    ("MAD AED", "DH | DHS | dh"),
    ("MAD", "د.م | د.م."),
    ("SAR", "ر.س | ر.س. | SR"),
    ("SAR QAR OMR YER", "ريال"),
    ("QAR", "ر.ق | QR"),
    ("OMR", "ر.ع | ر.ع. | RO"),
    ("YER", "ر.ي"),
    ("KWD", "د.ك | KD | K.D."),
    ("BHD", "د.ب | .د.ب | BD"),
    ("JOD", "د.أ | د.ا | JD | دينار أردني"),
    ("IQD", "د.ع | ع.د"),
    ("LYD", "د.ل | ل.د | LD"),
    ("TND", "د.ت | DT | dt | TND"),
    ("DZD", "د.ج | DA | دج"),
    ("KWD JOD IQD LYD BHD DZD TND", "دينار"),
    ("EGP", "ج.م | ج.م. | جن | L.E. | LE"),
    ("EGP SDG", "جنيه"),
    ("SDG", "ج.س | ج.س."),
    ("LBP", "ل.ل | ل.ل. | L.L."),
    ("SYP", "ل.س"),
    ("SOS", "ش.ص"),
    ("ERN", "نافكا | Nfk | ናቕፋ"),
    ("ZAR BRL", "R"),
    ("KES", "KSh | Ksh | KSH"),
    ("TZS", "TSh"),
    ("UGX", "USh"),
    ("KES TZS UGX SOS", "Sh"),
    ("XOF XAF", "FCFA | F CFA | CFA"),
    ("MGA", "Ar"),
    ("BIF", "FBu"),
    ("GNF", "GFr | FG"),
    ("DJF", "Fdj"),
    ("AOA", "Kz | kwz"),
    ("STN STD", "Db"),
    ("ETB", "ብር"),
    ("MRU MRO", "UM"),
    ("SZL", "E"),
    ("MZN", "MT | MTn"),
    ("GMD", "D"),
    ("PGK ZMW MMK", "K"),
    ("MWK", "MK"),
    ("LSL", "M"),
    ("VUV", "VT | Vt"),
    ("PEN", "S/ | S/."),
    ("BOB VES", "Bs | Bs."),
    ("VES", "Bs.S | BsS"),
    ("VEF", "Bs.F."),
    ("PAB", "B/. | B/"),
    ("GTQ", "Q"),
    ("RON HNL MDL ALL", "L"),
    ("HNL", "L."),
    ("HTG PYG", "G"),
    ("ARS CLP COP CUP DOP MXN PHP UYU", "pesos"),
)

SYMBOLS: dict[str, tuple[str, ...]] = {
    symbol: tuple(codes.split()) for codes, spellings in _SPELLINGS for symbol in spellings.split(" | ")
}

# Lower-case codes that are no words of a language: "140,00 pln", "1 nzd"; never "all", "top", "try", "cup".
_LOWER = (
    "aed ars aud bgn brl cad chf clp cny czk dkk eur gbp hkd hrk huf idr ils inr jpy krw kzt "
    "mkd mxn myr nok nzd php pln ron rsd rub sar sek sgd thb tnd twd uah usd vnd zar"
)
_LOWER_CODES = frozenset(_LOWER.split())
# Abbreviations so short that they often mean something else ("5 M", "2 KM", "Q2"): currencies only if a hint agrees.
_SHORT = "N P E D K M Q L G MT MK UM VT Vt LD BD RO QR SR DA JD FG KM Ar Db Ks Kz Re Sh RF Rf LE с"
WEAK = frozenset(_SHORT.split())
# Signs with one meaning that a reader takes for granted unless the page or the store declares another.
USUAL = {"£": "GBP", "￡": "GBP", "₱": "PHP", "₩": "KRW", "￦": "KRW"}
_ALTERNATIVES = "|".join(re.escape(symbol) for symbol in sorted(SYMBOLS, key=len, reverse=True) if symbol)
# A symbol made of letters counts only where no letter touches it; a digit may.
_MENTION = re.compile(
    rf"(?<![^\W\d_])(?P<word>{_ALTERNATIVES}|[A-Z]{{3}}|[a-z]{{3}}|Eur|Usd|Gbp)(?![^\W\d_])|(?P<sign>[$€£¥₽₴₸₺₹₪₩₫฿₱₦₡₲₵₭₮₼₾֏৳៛₨₣₤¤])"
)


class Mention(NamedTuple):
    """One place of a text that names a currency; ``codes`` is empty where the currency has no ISO 4217 code."""

    start: int
    end: int
    text: str
    codes: tuple[str, ...]


def mentions(text: str) -> list[Mention]:
    """Return what may name a currency in a text, in order. Three letters in a row count only if they are a code."""
    found = []
    for match in _MENTION.finditer(text):
        word = match.group()
        codes = codes_of(word)
        if codes is not None:
            found.append(Mention(match.start(), match.end(), word, codes))
    return found


def codes_of(word: str) -> tuple[str, ...] | None:
    """Return the codes that one word can mean, the only one first; None where it names no currency at all."""
    if word in SYMBOLS:
        return SYMBOLS[word]
    code = word.upper()
    if code in EXPONENTS and (word == code or word in _LOWER_CODES or word in ("Eur", "Usd", "Gbp")):
        return (code,)
    return None


def currencies_named(text: str) -> tuple[str, ...]:
    """Return the codes that a field for a currency can mean: one where it is certain, none where it says nothing.

    ``"usd"`` and ``" € "`` are certain, ``"$"`` isn't, and neither a template that was never rendered nor a code that
    ISO 4217 doesn't list means anything.
    """
    word = text.strip()
    if len(word) == 3 and word.isascii() and word.upper() in EXPONENTS:
        return (word.upper(),)
    return codes_of(word) or ()
