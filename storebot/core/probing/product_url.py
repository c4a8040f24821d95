"""Work out `product_url`: the expression that finds the addresses of a shop's products, and no others.

Proven products must all match, proven other pages mustn't (docs/decisions/0016). What isn't proven weighs in: links
that only menus have speak against an expression, addresses beside those of products for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from storebot.core.probing.address import Address, address, parameters
from storebot.core.probing.words import words

MAX_EXCLUDED = 60  # names that an expression excludes; a shop that needs more tells its products by nothing

_SEGMENT = "[^/?#]+"
_KNOWN = words(
    "product products produkt produkte produkty prod p item items dp sku artikel article articulo producto productos "
    "produit produits prodotto prodotti produto produtos tovar goods tuote vare varor detail details pd ip "
    "catalogue"
)
# How a name can be told from those of categories: by the shop's number in it. The longest forms first.
_NUMBERED = (r"\d+", rf"{_SEGMENT}[-_.]p-?\d+", rf"{_SEGMENT}[-_]\d+", rf"\d+[-_]{_SEGMENT}", rf"{_SEGMENT}\d{{3,}}")
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_TOO_MANY_DIRS = 2  # variable directories that are counted; more are "anything"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of addresses: all absolute, on the shop's host."""

    products: frozenset[str]  # proven by their pages
    others: frozenset[str] = frozenset()  # proven to be something else
    likely: frozenset[str] = frozenset()  # stand where products do: beside proven ones, in a product sitemap
    unlikely: frozenset[str] = frozenset()  # only menus link to them, or other addresses lie below them
    base_path: str = ""  # of the shop on its host, without a trailing slash


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductURL:
    """An expression, and how it stands to what is known."""

    pattern: str
    how: str  # in words: "the part /product/"
    excluded: tuple[str, ...] = ()  # names that the expression leaves out
    matched_likely: int = 0
    likely: int = 0
    matched_others: tuple[str, ...] = ()  # proven others that it finds all the same: too many to leave out

    def finds(self, url: str) -> bool:
        """Say whether an address is one of a product."""
        return re.search(self.pattern, url) is not None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One form: ``before`` the last part's name, the name, and what ends the address."""

    before: str
    name: str
    end: str
    how: str
    cost: float
    excluded: tuple[str, ...] = field(default=())

    @property
    def pattern(self) -> str:
        if not self.excluded:
            return f"{self.before}{self.name}{self.end}"
        names = "|".join(map(literal, self.excluded))
        return f"{self.before}(?!(?:{names}){self.end}){self.name}{self.end}"


def work_out(evidence: Evidence) -> ProductURL | None:
    """Return the simplest expression that fits, or None where no product is known."""
    products = sorted(url for url in evidence.products if address(url).name or address(url).query)
    if not products:
        return None
    parts = [_best(group, evidence) for group in _groups(products, evidence)]
    pattern = parts[0].pattern if len(parts) == 1 else "|".join(part.pattern for part in parts)
    finds = re.compile(pattern).search
    return ProductURL(
        pattern=pattern,
        how=" or ".join(part.how for part in parts),
        excluded=tuple(dict.fromkeys(name for part in parts for name in part.excluded)),
        matched_likely=sum(finds(url) is not None for url in evidence.likely),
        likely=len(evidence.likely),
        matched_others=tuple(sorted(url for url in evidence.others if finds(url))),
    )


def _groups(products: list[str], evidence: Evidence) -> list[list[str]]:
    """Return the products in groups that one form fits each: all together, if need be by ending, then by first part."""
    if _fitting(products, evidence):
        return [products]
    found: dict[object, list[str]] = {}
    for url in products:
        found.setdefault((address(url).ending, bool(address(url).query)), []).append(url)
    if len(found) == 1:
        found = {}
        for url in products:
            found.setdefault(address(url).dirs[:1], []).append(url)
    if len(found) == 1:
        return [products]
    return [group for urls in found.values() for group in _groups(urls, evidence)]


def _best(products: Sequence[str], evidence: Evidence) -> _Candidate:
    return min(_fitting(products, evidence), key=lambda one: one.cost)


def _fitting(products: Sequence[str], evidence: Evidence) -> list[_Candidate]:
    """Return the forms that find all of ``products``, each weighed, without the names that have to be left out."""
    addresses = [address(url) for url in products]
    found = []
    for candidate in _candidates(addresses, products, evidence.base_path):
        finds = re.compile(candidate.pattern).search
        if all(finds(url) for url in products):
            found.append(_weighed(candidate, evidence, products))
    return found


def _weighed(one: _Candidate, evidence: Evidence, products: Sequence[str]) -> _Candidate:
    finds = re.compile(one.pattern).search
    ending = address(products[0]).ending
    near = [url for url in evidence.likely if address(url).ending == ending]
    missed = sum(finds(url) is None for url in near) / max(1, len(near))
    wrong = [url for url in (*evidence.others, *evidence.unlikely) if finds(url)]
    own = {_name(url, ending) for url in (*products, *near)}
    names = tuple(sorted({_name(url, ending) for url in wrong} - own))
    kept = names if len(names) <= MAX_EXCLUDED else ()
    proven = {_name(url, ending) for url in evidence.others if finds(url)}
    cost = one.cost + 20 * missed + len(names) + 5 * len(proven - set(kept))
    return _Candidate(one.before, one.name, one.end, one.how, cost, kept)


def _name(url: str, ending: str) -> str:
    """Return the name that an expression with this ending sees: of ``/index.html``, "index" where ``.html`` ends it."""
    name = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    return address(url).name if ending.startswith("/") else name.removesuffix(ending)


def _candidates(addresses: Sequence[Address], products: Sequence[str], base_path: str) -> Iterator[_Candidate]:
    if all(one.query for one in addresses):
        yield from _by_parameter(products)
    endings = {one.ending for one in addresses}
    if len({"/" if ending.startswith("/") else ending for ending in endings}) > 1:
        return
    end = _end(addresses)
    for name, added in _names(addresses):
        how = "" if name == _SEGMENT else " and a number in the name"
        for before, part, cost in _markers(addresses):
            yield _Candidate(before, name, end, f"the part /{part}/{how}", cost + added)
        low, high = _depths(addresses, base_path)
        before = rf"^https?://[^/]+{literal(base_path)}/{_dirs(low, high)}"
        ending = next(iter(endings))
        what = f"the ending {ending}" if ending and not ending.startswith("/") else "its place"
        yield _Candidate(before, name, end, f"{what}{how}", 4 + 2 * (high - low) + added)


def _end(addresses: Sequence[Address]) -> str:
    endings = {one.ending for one in addresses}
    index = next((ending for ending in endings if ending.startswith("/")), "")
    if index:
        last = f"/(?:{literal(index[1:])})?" if "" in endings else literal(index)
    else:
        ending = next(iter(endings))
        last = literal(ending) if ending else "/?"
    return last + (r"(?:\?[^#]*)?$" if any(one.query for one in addresses) else "$")


def _names(addresses: Sequence[Address]) -> Iterator[tuple[str, float]]:
    yield _SEGMENT, 0
    if len(addresses) < 3:
        return  # too few to call what they share a rule
    for pattern in _NUMBERED:
        if all(re.fullmatch(pattern, one.name) for one in addresses):
            yield pattern, 1.5


def _markers(addresses: Sequence[Address]) -> Iterator[tuple[str, str, float]]:
    """Yield what stands before the name: a part that all have, with all that always stands before it and behind it."""
    common = set(addresses[0].dirs).intersection(*(one.dirs for one in addresses[1:]))
    for part in sorted(part for part in common if not part.isdigit()):
        tails = [one.depth - 1 - _last(one.dirs, part) for one in addresses]
        low, high = min(tails), max(tails)
        further = min(high, _TOO_MANY_DIRS)
        cost = (0.5 * further if part.lower() in _KNOWN else 2 + 1.5 * further) + min(1, high - low)
        yield rf"/{literal(part)}/{_dirs(low, high)}", part, cost


def _last(dirs: tuple[str, ...], part: str) -> int:
    return len(dirs) - 1 - dirs[::-1].index(part)


def _depths(addresses: Sequence[Address], base_path: str) -> tuple[int, int]:
    own = len([part for part in base_path.split("/") if part])
    depths = [max(0, one.depth - own) for one in addresses]
    return min(depths), max(depths)


def _dirs(low: int, high: int) -> str:
    if high == 0:
        return ""
    one = f"(?:{_SEGMENT}/)"
    if high > _TOO_MANY_DIRS:
        return f"{one}{'+' if low else '*'}"
    if low == high:
        return f"{_SEGMENT}/" if low == 1 else f"{one}{{{low}}}"
    return f"{one}{'?' if high == 1 else f'{{{low},{high}}}'}"


def _by_parameter(products: Sequence[str]) -> Iterator[_Candidate]:
    """Yield forms of addresses such as ``/index.php?route=product/product&product_id=42``: the number and constants."""
    found = [parameters(url) for url in products]
    paths = {urlsplit(url).path for url in products}
    if len(paths) != 1:
        return
    shared = set(found[0]).intersection(*found[1:])
    constant = sorted(name for name in shared if len({one[name] for one in found}) == 1 and len(found) > 1)
    for name in sorted(shared - set(constant)):
        fixed = "".join(rf"(?=[^#]*[?&]{literal(one)}={_escaped(found[0][one])}(?:[&#]|$))" for one in constant)
        value = r"\d+" if all(one[name].isdigit() for one in found) else "[^&#]+"
        before = rf"^https?://[^/]+{literal(next(iter(paths)))}{fixed}"
        known = name.lower().rstrip("_id") in _KNOWN or any(word in name.lower() for word in ("product", "item"))
        how = f"the parameter {name}"
        yield _Candidate(before, rf"\?(?:[^#]*&)?{literal(name)}={value}", r"(?:[&#]|$)", how, 0 if known else 1)


def _escaped(value: str) -> str:
    return literal(value).replace("/", "(?:/|%2F)")


def literal(text: str) -> str:
    """Return an expression for a text; `re.escape` would escape what needs no escape, and a person reads this."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def excluded_in(names: Collection[str]) -> str:
    """Return names that were left out as a sentence has them, the first few."""
    listed = sorted(names)
    more = f" and {len(listed) - 6} more" if len(listed) > 6 else ""
    return ", ".join(listed[:6]) + more
