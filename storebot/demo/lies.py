"""The switchboard of lies: a table of ways in which a shop misleads a crawler, and which of them are switched on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from storebot.demo import masks
from storebot.demo.answers import Answer, Asked, http_date
from storebot.demo.guards import GUARDS
from storebot.demo.lie_kinds import LieKind, Options, Told
from storebot.demo.options import CURRENCIES
from storebot.demo.pages import View
from storebot.demo.site import Site
from storebot.demo.visitors import Visitors
from storebot.exceptions import ConfigurationError


def _challenge(truth: Answer, told: Told) -> Answer:
    headers = dict(masks.CHALLENGE_HEADERS) if told.options["headers"] else {}
    return Answer(status=told.options["status"], body=masks.challenge(told.options["size"]), headers=headers)


def _forbidden(truth: Answer, told: Told) -> Answer:
    return Answer(status=403, body=masks.FORBIDDEN)


def _too_many(truth: Answer, told: Told) -> Answer:
    wait_s = told.options["retry_after"]
    after = http_date(told.asked.now_s + wait_s) if told.options["as_date"] else str(wait_s)
    return Answer(status=429, body=masks.TOO_MANY, headers={"Retry-After": after})


def _slow(truth: Answer, told: Told) -> Answer:
    return replace(truth, delay_s=truth.delay_s + told.options["delay_s"])


def _cut(truth: Answer, told: Told) -> Answer:
    return replace(truth, cut_at=int(len(truth.body) * told.options["share"])) if truth.body else truth


def _error(truth: Answer, told: Told) -> Answer:
    return Answer(status=told.options["status"], body=masks.ERROR)


def _empty(truth: Answer, told: Told) -> Answer:
    return Answer()


def _false_304(truth: Answer, told: Told) -> Answer:
    """Deny the change, to whoever sent a validator: echo it."""
    if not told.asked.conditional:
        return truth
    tag = told.asked.if_none_match
    headers = {"ETag": tag.split(",")[0].strip()} if tag else {}
    return Answer(status=304, headers=headers)


def _soft_404(truth: Answer, told: Told) -> Answer:
    return told.site.not_found(status=200, worded=told.options["worded"])


def _redirect(truth: Answer, told: Told) -> Answer:
    to: str = told.options["to"]
    known = {"home": "/", "category": told.site.category_of(told.asked.path)}
    path = known.get(to, to)
    return Answer(status=told.options["status"], headers={"Location": path})


def _frozen_page(truth: Answer, told: Told) -> Answer:
    return _page_of(told.site.first_product(), truth, told)


def _swapped(truth: Answer, told: Told) -> Answer:
    return _page_of(told.site.neighbour_of(told.asked.path), truth, told)


def _page_of(path: str | None, truth: Answer, told: Told) -> Answer:
    """Return another product's page, whole, with its own validators."""
    return truth if path is None else told.site.answer(replace(told.asked, path=path))


LIES: dict[str, LieKind] = {
    "challenge": LieKind(
        "A challenge page instead of the page; size large is 275 KB with its marker late.",
        {"size": "small", "status": 200, "headers": True},
        answer=_challenge,
        choices={"size": tuple(masks.CHALLENGE_SIZES)},
    ),
    "forbidden": LieKind("403.", answer=_forbidden),
    "too_many": LieKind(
        "429 with Retry-After, in seconds or as a date.", {"retry_after": 5, "as_date": False}, answer=_too_many
    ),
    "slow": LieKind("The answer comes late.", {"delay_s": 1.0}, answer=_slow),
    "cut": LieKind("The connection breaks after a share of the body.", {"share": 0.5}, answer=_cut),
    "error": LieKind("A server error.", {"status": 500}, answer=_error),
    "empty": LieKind("200 without a body.", answer=_empty),
    "drifted": LieKind(
        "A redesign: no structured data, other classes.", view=lambda view, _: replace(view, drifted=True)
    ),
    "times_100": LieKind(
        "Prices a hundredfold.", view=lambda view, _: replace(view, price_factor=view.price_factor * 100)
    ),
    "no_prices": LieKind("A redesign that lost the prices.", view=lambda view, _: replace(view, no_prices=True)),
    "currency": LieKind(
        "Prices as they were, in another currency.",
        {"to": "EUR"},
        view=lambda view, options: replace(view, currency=options["to"]),
        choices={"to": tuple(CURRENCIES)},
    ),
    "frozen_page": LieKind("One product's page at every address.", answer=_frozen_page),
    "swapped": LieKind("Two by two, products show each other's page.", answer=_swapped),
    "frozen_lastmod": LieKind(
        "Sitemaps keep the lastmod of the opening, for products in whose path `entries` is found.",
        {"entries": ".*"},
        view=lambda view, options: replace(view, frozen_lastmod=options["entries"]),
    ),
    "unlisted": LieKind(
        "Lists and sitemaps leave out products in whose path `entries` is found.",
        {"entries": ".*"},
        view=lambda view, options: replace(view, unlisted=options["entries"]),
    ),
    "false_304": LieKind("304 to whoever sends a validator, changed or not.", answer=_false_304),
    "soft_404": LieKind(
        "The page for unknown addresses, with 200; not worded: one that doesn't say that it is.",
        {"worded": True},
        answer=_soft_404,
    ),
    "redirect": LieKind(
        "Sent elsewhere: to home, category, or any path or URL.", {"to": "home", "status": 302}, answer=_redirect
    ),
} | GUARDS


@dataclass(slots=True)
class Lie:
    """One lie that is switched on."""

    name: str
    pattern: re.Pattern[str]
    left: int | None  # how many more times it is told; None: until `honest`
    options: Options
    visitors: Visitors = field(default_factory=Visitors)


class Switchboard:
    """Which lies are told now; where several fit a path all are told, in the order in which they were switched on."""

    def __init__(self) -> None:
        self._lies: list[Lie] = []

    def lie(self, name: str, pattern: str = ".*", times: int | None = None, options: Options | None = None) -> None:
        """Switch a lie on for paths in which ``pattern`` is found (query included), for ever or ``times`` times.

        Raises ConfigurationError for an unknown lie or option, a value of another type, or a bad pattern.
        """
        if name not in LIES:
            raise ConfigurationError(f"there is no lie {name!r}: choose one of {', '.join(LIES)}")
        if times is not None and times < 1:
            raise ConfigurationError(f"times is {times}: give 1 or more, or leave it out for ever")
        checked = LIES[name].checked(name, options or {})
        _compiled(checked.get("entries", ""))
        self._lies.append(Lie(name, _compiled(pattern), times, checked))

    def honest(self) -> None:
        """Switch all lies off."""
        self._lies.clear()

    def active(self) -> list[Lie]:
        """Return the lies that are switched on."""
        return list(self._lies)

    def tell(self, path: str) -> list[Lie]:
        """Return the lies to tell about a path, and count them as told."""
        if not self._lies:
            return []
        told = [lie for lie in self._lies if lie.pattern.search(path)]
        for lie in told:
            if lie.left is not None:
                lie.left -= 1
        self._lies = [lie for lie in self._lies if lie.left != 0]
        return told


def answer(site: Site, asked: Asked, lies: list[Lie]) -> Answer:
    """Return the shop's answer with these lies in it."""
    view = View()
    for lie in lies:
        if shown := LIES[lie.name].view:
            view = shown(view, lie.options)
    given = site.answer(asked, view)
    for lie in lies:
        if told := LIES[lie.name].answer:
            given = told(given, Told(asked, site, lie.options, lie.visitors))
    return given


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigurationError(f"the pattern {pattern!r} is no regular expression: {error}") from error
