"""Whether a page shows the price that its structured data give, asked of its bytes: no tree, well below 1 ms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from storebot.core.page import Page
from storebot.core.parsing.currency import WEAK, codes_of
from storebot.core.parsing.values import Values, amounts, squash
from storebot.core.parsing.visible_words import BUY_TEXT
from storebot.core.text import unescape

_MONEY = ("price", "regular_price", "price_min", "price_max")
_MAX_HEADINGS = 5
_MAX_HEADING = 2_000  # bytes of one heading's markup
_WINDOW = 16_000  # bytes of markup behind the heading, scripts left out: the price and its button stand there
_NEAR = 1_000  # of these, that are read first: where markup is plain, both stand there already
_MAX_CODE = 500  # scripts and styles that are skipped
_BESIDE = 250  # characters of text behind the price, or around the buy button, in which another one competes
_TO_BUTTON = 3_000  # characters of text: a button further behind the price is another product's
_STRUCK_BYTES = 300  # of markup in which the amount stands that is crossed out
_FAR = 10  # an amount ten times as high or as low is a fee, a bonus, a threshold: no other price of this thing
_MIN_NAME = 3
_SIGN = 12  # characters before an amount in which its sign stands
_REACH = 64  # characters behind an amount or a button in which what they are is decided
_TAG_MARK, _PRICE_MARK = "\x01", "\x02"  # stand for a tag, and for the end of one that speaks of a price
_BLANK = f" {_TAG_MARK}{_PRICE_MARK}"

_CODE = re.compile(rb"<(?=[stn!])(?:(script|style|template|noscript|select|svg)\b|!--)", re.IGNORECASE)
_TAG = re.compile(rb"<[^<>]*>")
_STRUCK = (b"<del", b"<s>", b"<s ", b"<strike", b"line-through", b"old-price", b"price-old", b"oldprice", b"price--old")
_DIGIT = re.compile(rb"[0-9]")
_BUY = re.compile(rf"[\x01\x02] ?{BUY_TEXT.pattern}(?=[ \x01\x02])", BUY_TEXT.flags)
_NUMBER = re.compile(  # begins with its digit: what begins with a look behind it is tried at every character
    r"(?P<whole>\d(?<![\w/.,-]\d)(?:[\d.,'’]|[ \xa0\u202f](?=\d{3}(?!\d)))*)"
    r"(?:[ ]?[\x01\x02][ \x01\x02]*(?P<cents>\d\d)(?![\d.,]|[ ]?%))?(?![\d%/]|[ ]%)"
)
_BEFORE = re.compile(r"(?:([^\W\d_]{1,4}\.?)|([^\w\s\x01\x02]))[ \x01\x02:]{0,6}$")
_AFTER = re.compile(r"[ \x01\x02.,–-]{0,6}(?:([^\W\d_]{1,4}\.?)(?![^\W_])|([^\w\s\x01\x02]))")


class _Money(NamedTuple):
    """An amount of money: where it stands, what its digits may mean, which currencies its sign may."""

    place: int
    meanings: frozenset[Decimal]
    codes: frozenset[str]


class _Known:
    """The amounts and currencies that structured data give."""

    def __init__(self, meanings: frozenset[Decimal], currencies: frozenset[str]) -> None:
        self.meanings, self.currencies = meanings, currencies
        self._above, self._below = min(meanings) / _FAR, max(meanings) * _FAR

    def competes(self, one: _Money) -> bool:
        """Say whether an amount is near enough to what is known to be a price of the same thing."""
        return any(self._above < amount < self._below for amount in one.meanings)

    def has(self, one: _Money) -> bool:
        """Say whether an amount is a known one, in a currency that it may have."""
        if self.meanings.isdisjoint(one.meanings):
            return False
        return not (self.currencies and one.codes and self.currencies.isdisjoint(one.codes))


def corroborates(page: Page, records: Sequence[Values]) -> bool:
    """Say whether the page shows what structured data say it costs, and nothing that looks like another price.

    ``records`` are the listings of one source, as it gave them (texts; one, or a product's variants). True: behind the
    main heading that has their name stands a price of theirs, and neither beside it nor beside the buy button an amount
    of money that is none of theirs; then nobody needs to look closer. False is no verdict, only "build the tree and
    compare": it is the answer wherever the bytes leave a doubt. Builds no tree, doesn't decode the page, never raises.
    """
    texts = [text for record in records for name in _MONEY if isinstance(text := record.get(name), str)]
    known = frozenset().union(*map(amounts, texts))
    name = next((text for record in records if isinstance(text := record.get("name"), str)), "")
    if not any(known) or (start := _heading(page.markup, name)) < 0:
        return False
    window = _without_code(page.markup, start)
    currencies = frozenset(code for record in records if isinstance(code := record.get("currency"), str))
    has_regular = any("regular_price" in record for record in records)
    return _shows_it(window, _Known(known, currencies)) and (has_regular or not _crosses_out(window))


def _heading(markup: bytes, name: str) -> int:
    """Return where the main heading ends that has the name; -1 where none of the first few has it."""
    wanted = squash(unescape(name)).casefold()
    at = 0
    for _ in range(_MAX_HEADINGS):
        at = markup.find(b"<h1", at)
        if at < 0:
            return -1
        end = markup.find(b"</h1", at, at + _MAX_HEADING)
        shown = squash(unescape(_TAG.sub(b" ", markup[at:end]).decode("utf-8", "replace"))).casefold()
        at += 3
        if end > 0 and len(shown) >= _MIN_NAME and (wanted in shown or shown in wanted):
            return end
    return -1


def _without_code(markup: bytes, start: int) -> bytes:
    """Return the markup from a place on, without what isn't shown: scripts, styles, comments, lists to choose from."""
    parts: list[bytes] = []
    left = _WINDOW
    for _ in range(_MAX_CODE):
        if left <= 0:
            break
        match = _CODE.search(markup, start, start + left)
        parts.append(markup[start : match.start() if match else start + left])
        if match is None:
            break
        left -= len(parts[-1])
        closing = b"-->" if match[1] is None else b"</" + match[1]
        start = markup.find(closing, match.end())
        if start < 0:
            break
        start += len(closing)
    window = b"".join(parts)
    return window[: window.rfind(b"<")]  # never half a tag


def _as_text(window: bytes) -> str:
    """Return the text of markup, with a mark where a tag stands and another behind one that speaks of a price."""
    lower = window.lower()
    parts: list[bytes] = []
    done = at = 0
    while (at := lower.find(b"price", at)) >= 0:
        at += 5
        close = window.find(b">", at)
        if close >= 0 and window.rfind(b">", done, at) < window.rfind(b"<", done, at):
            parts += (window[done : close + 1], _PRICE_MARK.encode())
            done = at = close + 1
    parts.append(window[done:])
    text = _TAG.sub(_TAG_MARK.encode(), b"".join(parts)).decode("utf-8", "replace")
    return " ".join((unescape(text) if "&" in text else text).split())


def _shows_it(window: bytes, known: _Known) -> bool:
    """Say whether the text of markup shows a known price, and whether all of it can be read.

    The part that stands nearest to the heading is read alone, if it ends between two tags and is enough to tell:
    reading costs by length.
    """
    cut = window.find(b"<", _NEAR)
    if cut < 0 or window.rfind(b">", 0, cut) < window.rfind(b"<", 0, cut):
        cut = len(window)
    near = _as_text(window[:cut])
    rest = window[cut:]
    if rest:
        verdict = _verdict(near, known, len(near.rstrip(_BLANK)) - _REACH)
        if verdict is False:
            return False
        if verdict and "\ufffd" not in near and _is_decodable(rest):
            return True
    shown = _as_text(window) if rest else near
    return "\ufffd" not in shown and bool(_verdict(shown, known, len(shown) + _BESIDE + _TO_BUTTON))


def _is_decodable(markup: bytes) -> bool:
    """Say whether no character of markup is lost when it's decoded."""
    text = markup.decode("utf-8", "replace")
    return "\ufffd" not in (unescape(text) if "&#" in text else text)


def _verdict(text: str, known: _Known, end: int) -> bool | None:
    """Say whether the first amount that may be a price is a known one, and so are all beside it and the button.

    None where that needs what stands behind ``end``.
    """
    seen: dict[tuple[int, int, int], _Money | None] = {}
    first = next((one for one in _money_of(text, 0, len(text), seen) if known.competes(one)), None)
    if first is None:
        return False if end > len(text) else None
    buy = _BUY.search(text, first.place, first.place + _TO_BUTTON)
    places = [(first.place, first.place + _BESIDE)]
    if buy is not None:
        places.append((max(first.place, buy.start() - _BESIDE), buy.end() + _BESIDE))
    if (places[-1][1] if buy is not None else first.place + _TO_BUTTON) > end:
        return None
    beside = [one for start, end in places for one in _money_of(text, start, end, seen) if known.competes(one)]
    return all(known.has(one) for one in beside)


def _crosses_out(window: bytes) -> bool:
    """Say whether an amount is crossed out, or marked as an old one: the tree will tell what it was the price of."""
    lower = window.lower()
    for mark in _STRUCK:
        at = -1
        while (at := lower.find(mark, at + 1)) >= 0:
            opened = lower.find(b">", at) + 1
            closed = lower.find(b"</", opened)
            if _DIGIT.search(_TAG.sub(b"", lower[opened : min(closed, opened + _STRUCK_BYTES)])):
                return True
    return False


def _money_of(text: str, start: int, end: int, seen: dict[tuple[int, int, int], _Money | None]) -> Iterator[_Money]:
    """Yield the numbers that are money; cents may stand raised. What was ``seen`` isn't looked at twice."""
    for match in _NUMBER.finditer(text, start, end):
        place = match.start(), match.end("whole"), match.end()
        if place not in seen:
            seen[place] = _money(text, match)
        if (one := seen[place]) is not None:
            yield one


def _money(text: str, match: re.Match[str]) -> _Money | None:
    codes = _codes_beside(text, match.start(), match.end("whole"), match.end())
    if codes is None:
        return None
    whole, cents = match["whole"], match["cents"]
    is_split = cents is not None and whole.isdigit()
    return _Money(match.start(), amounts(f"{whole}.{cents}" if is_split else whole), codes)


def _codes_beside(text: str, start: int, middle: int, end: int) -> frozenset[str] | None:
    """Return the currencies that a number can be of, empty if it is only marked as a price; None if it is no money."""
    before = text[max(0, start - _SIGN) : start]
    words = [_BEFORE.search(before), _AFTER.match(text, middle), _AFTER.match(text, end)]
    found = [_codes(match[1] or match[2]) for match in words if match is not None]
    named = [codes for codes in found if codes is not None]
    return frozenset().union(*named) if named or _PRICE_MARK in before else None


def _codes(word: str) -> tuple[str, ...] | None:
    return None if word in WEAK else codes_of(word)
