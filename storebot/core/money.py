"""Money as integer minor units of an ISO 4217 currency: `Decimal` on one side, `int` on the other, never a float."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

# Minor units as ISO 4217 publishes them (list one of the maintenance agency, https://www.six-group.com/en/products-services/
# financial-information/data-standards.html). IDR, HUF, COP and others have two by the standard though their shops print
# none: the standard counts here, so that an amount never changes its meaning when a shop starts to print decimals.
_NO_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_TWO_DECIMALS = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY "
    "COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS "
    "INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR "
    "MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP "
    "STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG"
)
_THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND"
_FOUR_DECIMALS = "CLF UYW"
# Withdrawn codes that old pages and saved corpora still carry.
_WITHDRAWN_NO_DECIMALS = "BYR ESP ITL"
_WITHDRAWN_TWO_DECIMALS = "ANG ATS BEF BGN CUC DEM EEK FRF GRD HRK LTL LVL MRO NLG PTE SIT SKK SLL STD VEF ZWL"

EXPONENTS: dict[str, int] = (
    dict.fromkeys(_NO_DECIMALS.split(), 0)
    | dict.fromkeys(_TWO_DECIMALS.split(), 2)
    | dict.fromkeys(_THREE_DECIMALS.split(), 3)
    | dict.fromkeys(_FOUR_DECIMALS.split(), 4)
    | dict.fromkeys(_WITHDRAWN_NO_DECIMALS.split(), 0)
    | dict.fromkeys(_WITHDRAWN_TWO_DECIMALS.split(), 2)
)

MAX_MINOR = 2**63 - 1  # what a BIGINT column holds on every backend


def exponent(currency: str) -> int:
    """Return how many decimals one unit of the currency has; ValueError for a code that ISO 4217 doesn't list."""
    try:
        return EXPONENTS[currency]
    except KeyError:
        raise ValueError(f"{currency!r} is not an ISO 4217 currency code") from None


def to_minor(amount: Decimal, currency: str) -> int:
    """Return the amount in minor units, exactly.

    Zeros at the end don't count (140.000 USD is 14000). ValueError where the currency can't hold the digits, where the
    amount isn't finite or is beyond 64 bits: nothing is rounded here. A caller that wants a rounded price says so by
    `rounded`, and reports it.
    """
    digits = exponent(currency)
    if not amount.is_finite():
        raise ValueError(f"{amount} is not an amount of money")
    if amount.adjusted() > 19:  # before scaling: an exponent of a million digits would fill the memory
        raise ValueError(f"{amount} {currency} is more than a 64-bit number of minor units holds")
    minor = int(amount.scaleb(digits))
    if (
        Decimal(minor).scaleb(-digits) != amount
    ):  # compared this way round: scaling rounds to 28 digits, comparing doesn't
        raise ValueError(f"{amount} {currency} has more decimals than the {digits} of its currency")
    if not -MAX_MINOR <= minor <= MAX_MINOR:
        raise ValueError(f"{amount} {currency} is more than a 64-bit number of minor units holds")
    return minor


def rounded(amount: Decimal, currency: str) -> Decimal:
    """Round to the decimals of the currency, half up, as shops do (24.785 → 24.79); ValueError as `to_minor`."""
    try:
        return amount.quantize(Decimal(1).scaleb(-exponent(currency)), rounding=ROUND_HALF_UP)
    except InvalidOperation:
        raise ValueError(f"{amount} {currency} can't be rounded to minor units") from None


def from_minor(minor: int, currency: str) -> Decimal:
    """Return the amount with exactly the decimals of its currency: 4900 USD is ``Decimal("49.00")``."""
    return Decimal(minor).scaleb(-exponent(currency))
