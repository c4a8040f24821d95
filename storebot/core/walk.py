"""Decide how a walk over the pages of a catalogue goes on, and prove where it ends (DESIGN §5).

Pages may be fetched concurrently and arrive in any order: they are judged in page order. A page is *barren* when it
shows nothing new: empty, 404, a repeat of an earlier page, a redirect to one. The end is proven by a barren page that
is still barren at a second look and is followed by another barren page; where the following page has products, the
barren one is a hole, and the walk can't be complete. What can't be read (blocked, failed) proves nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from storebot.core.urls import url_key
from storebot.exceptions import InvalidURL
from storebot.items import Discovered, WalkState

_PLACE = "{page}"
_DIGITS = "9182736450"  # stands for {page} while a template is made a key: no shop has it in a path
_GONE = (404, 410)
_CAP = (400, 416, 422)  # how platforms refuse a page number: Shopify answers 400 beyond 25,000 products
_PAGINATION = frozenset({"page", "p", "pg", "paged", "pagenumber", "offset", "start", "from", "after", "cursor"})


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkParams:
    """What a walk is: change any of it and page 20 means other products."""

    template: str  # absolute; with {page}, or the first page of a walk by next links, or a single page
    first: int = 1
    next: str = ""  # the rule that finds the next link; a template with {page} doesn't need it
    product_url: str = ""  # pattern of the links that count
    links: tuple[str, ...] = ()  # rules that find the links
    max_pages: int = 10_000  # an endless catalogue ends here, as incomplete

    @property
    def numbered(self) -> bool:
        return _PLACE in self.template

    def url(self, number: int) -> str:
        """Return the address of a page of a numbered walk; of any other walk, that of its first page."""
        return self.template.replace(_PLACE, str(number))

    def params_fingerprint(self) -> str:
        """Return SHA-256 hex of what gives page numbers their meaning: neither the host nor ``max_pages`` does."""
        parts = urlsplit(self.template)
        meaning = asdict(self) | {"template": f"{parts.path}?{parts.query}", "max_pages": None}
        return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()


def page_fingerprint(keys: Iterable[str]) -> str:
    """Return SHA-256 hex of a page's product keys, whatever their order and however often each is linked."""
    return hashlib.sha256("\n".join(sorted(set(keys))).encode()).hexdigest()


class Resume(NamedTuple):
    """Where a walk may go on: ``after`` is what `Walk` takes, ``message`` says why it starts over ("": it doesn't)."""

    after: int
    message: str = ""


def resume_point(params: WalkParams, last: int, stored_fingerprint: str) -> Resume:
    """Accept a checkpoint, or refuse one that was made with other parameters."""
    if last and stored_fingerprint != params.params_fingerprint():
        return Resume(
            0,
            f"The checkpoint at page {last} was made with other parameters ([catalogue] or product_url of the store "
            f"file changed), so page numbers mean other products: the walk starts again from page {params.first}.",
        )
    return Resume(last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One page as it was seen. ``keys`` are the raw product keys in page order: known products count, too."""

    number: int
    url: str  # that was asked for
    final_url: str = ""  # after redirects; "" means the same
    status: int = 200
    keys: tuple[str, ...] = ()
    blocked: bool = False
    failed: bool = False  # no usable response: time-out, cut connection, 5xx after all retries
    next_url: str | None = None  # absolute
    total: int | None = None  # products that the shop itself says the whole walk has
    found: tuple[Discovered, ...] = ()  # not judged; comes back with the verdict


class VerdictKind(StrEnum):
    """What a verdict asks the spider to do."""

    COMMIT = "commit"  # save the rows and the checkpoint, in one transaction
    HOLD = "hold"  # save the rows alone
    LOOK_AGAIN = "look_again"  # nothing: `to_fetch` names the page once more
    PROBE = "probe"  # nothing: `to_fetch` names the page after a barren one
    ENDED = "ended"  # the end is proven; `reason` says how
    INCOMPLETE = "incomplete"  # the walk stopped without a proof; `reason` says why


class Verdict(NamedTuple):
    """One decision. ``seen`` is the page that was decided on; absent where the page isn't here yet."""

    kind: VerdictKind
    number: int
    reason: str = ""
    seen: Seen | None = None


class _Barren(NamedTuple):
    """Why a page shows nothing new."""

    what: str  # goes on after "page 51 "
    twin: bool = False  # holds only if the next page is the same page: alone it may be a catalogue that shifted


class Walk:
    """One walk. Ask `to_fetch` what to request, give each result to `receive`, do what the verdicts say; until `done`.

    ``resume_after`` is the last committed page: the walk starts by stepping back to that page, because catalogues
    shift, and fetches none below it. ``fingerprints`` are those of pages committed by earlier sessions, by number.
    A walk by next links goes on at ``resume_url``, the stored next link of page ``resume_after``; without one it
    starts over.
    """

    def __init__(
        self,
        params: WalkParams,
        resume_after: int = 0,
        fingerprints: Mapping[int, str] | None = None,
        resume_url: str | None = None,
    ) -> None:
        self.params = params
        self.state = WalkState.WALKING
        self.reason = ""
        self.shifted = (
            0  # pages that share products with the page before: the catalogue moved, or shows some everywhere
        )
        self.holes: list[str] = []
        self._next_mode = not params.numbered and bool(params.next)
        resumes = resume_after >= params.first and (params.numbered or bool(self._next_mode and resume_url))
        self.checkpoint = resume_after if resumes else 0  # the last page committed, by this session or an earlier one
        self._cursor = params.first if not resumes else resume_after + (1 if self._next_mode else 0)
        self._resumed = self._cursor if resumes else None
        self._urls = {self._cursor: resume_url} if resumes and self._next_mode and resume_url else {}
        self._stored = {print_: number for number, print_ in (fingerprints or {}).items() if number < self._cursor}
        self._own: dict[str, int] = {}  # fingerprints of this session
        self._visited = {_key(params.template): params.first} if self._next_mode else {}  # keys of addresses
        self._before: frozenset[str] = frozenset()  # product keys of the page before
        self._all: set[str] = set()  # product keys of all pages, where the shop says how many there are
        self._asked: set[int] = set()
        self._again: list[int] = []
        self._looked: set[int] = set()  # pages of which a second look was asked for
        self._waiting: dict[int, Seen] = {}  # arrived, not yet judged
        self._places = _places(params) if params.numbered else None
        if self._cursor > self._last_page:
            self._incomplete(_CAPPED.format(params.max_pages))

    @property
    def done(self) -> bool:
        """Whether nothing more is to be fetched; pages still under way may be received (and their rows held)."""
        return self.state is not WalkState.WALKING

    def url(self, number: int) -> str:
        """Return the address of a page that `to_fetch` named."""
        return self._urls.get(number) or self.params.url(number)

    def to_fetch(self, window: int) -> list[int]:
        """Return the numbers to request now, each once (a page that is looked at again: once more), at most ``window``
        pages ahead of the first that isn't judged. Requests must bypass duplicate filters and caches."""
        if self.done:
            return []
        again, self._again = self._again, []
        last = self._cursor + (max(1, window) if self.params.numbered else 1) - 1
        last = min(last, self._last_page, *(number + 1 for number in self._waiting if _is_empty(self._waiting[number])))
        known = self._asked.union(self._waiting, again)
        new = [number for number in range(self._cursor, last + 1) if number not in known]
        self._asked.update(again, new)
        return again + new

    @property
    def _last_page(self) -> int:
        return self.params.first + self.params.max_pages - 1

    def receive(self, seen: Seen) -> list[Verdict]:
        """Take one page, and return what is decided by it, in page order.

        A page that wasn't asked for, or is already here or judged, changes nothing.
        """
        if seen.number not in self._asked:
            return []
        self._asked.discard(seen.number)
        if self.state is WalkState.ENDED:
            return []
        if self.done:
            return _held([seen])
        self._waiting[seen.number] = seen
        verdicts: list[Verdict] = []
        while not self.done and self._cursor in self._waiting:
            step = self._judge(self._waiting[self._cursor])
            if not step:
                break
            verdicts += step
        return verdicts

    def _judge(self, seen: Seen) -> list[Verdict]:
        """Decide on the page at the cursor; [] where another page has to arrive first."""
        unreadable = _unreadable(seen, self.params.first)
        if unreadable:
            return self._incomplete(unreadable)
        barren = self._barren(seen, self._own, self._visited)
        if barren is None:
            return self._accept(seen)
        if barren.twin:
            return self._judge_twin(seen, barren)
        if seen.number not in self._looked:
            return self._look_again(seen, barren)
        if seen.number in self._asked or seen.number in self._again:
            return []
        if seen.number == self.params.first:
            return self._incomplete(_NOTHING_FOUND.format(barren.what))
        return self._judge_by_next(seen, barren)

    def _look_again(self, seen: Seen, barren: _Barren) -> list[Verdict]:
        self._looked.add(seen.number)
        self._again.append(seen.number)
        verdicts = [Verdict(VerdictKind.LOOK_AGAIN, seen.number, f"page {seen.number} {barren.what}", seen)]
        return verdicts + (self._probe(seen.number + 1) if seen.number > self.params.first else [])

    def _probe(self, number: int) -> list[Verdict]:
        """Ask for the page after a barren one, unless it is here or under way."""
        if not self.params.numbered or number in self._waiting or number in self._asked or number in self._again:
            return []
        self._again.append(number)
        return [Verdict(VerdictKind.PROBE, number)]

    def _judge_twin(self, seen: Seen, barren: _Barren) -> list[Verdict]:
        """Decide on a page that is an end only if the next page is the very same one; else it is a page like others."""
        after = self._waiting.get(seen.number + 1)
        if after is None:
            return self._probe(seen.number + 1)
        same = set(after.keys) == set(seen.keys) or _key(_final(after)) == _key(_final(seen))
        same = same and not _unreadable(after, self.params.first)
        return self._end(f"page {seen.number} {barren.what}") if same else self._accept(seen)

    def _judge_by_next(self, seen: Seen, barren: _Barren) -> list[Verdict]:
        """Decide on a page that was barren twice by the page that follows it."""
        number = seen.number
        if not self.params.numbered:
            return self._next_after_barren(seen, barren)
        after = self._waiting.get(number + 1)
        if after is None:
            return self._probe(number + 1)
        unreadable = "" if _is_cap(after) else _unreadable(after, self.params.first)
        if unreadable:
            return self._incomplete(f"page {number} {barren.what}, but {unreadable}: the end isn't proven")
        own = self._own | ({page_fingerprint(seen.keys): number} if seen.keys else {})
        barren_after = self._barren(after, own, self._visited)
        if _is_cap(after) or (barren_after and not barren_after.twin):
            return self._end(f"page {number} {barren.what}")
        self.holes.append(f"page {number} {barren.what} between full pages")
        self._forward(seen)
        return self._holed(seen)

    def _holed(self, seen: Seen) -> list[Verdict]:
        """Keep what a hole shows; its checkpoint, and every later one, stays unwritten, so that a resume sees it."""
        return [Verdict(VerdictKind.HOLD, seen.number, self.holes[-1], seen)]

    def _next_after_barren(self, seen: Seen, barren: _Barren) -> list[Verdict]:
        follows = seen.next_url if seen.status == 200 and not seen.keys else None
        if not follows or self._wrong_next(follows):
            return self._end(f"page {seen.number} {barren.what}")
        self.holes.append(f"page {seen.number} {barren.what} between full pages")
        self._forward(seen)
        self._urls[self._cursor] = follows
        return self._holed(seen)

    def _accept(self, seen: Seen) -> list[Verdict]:
        keys = frozenset(seen.keys)
        self.shifted += bool(keys & self._before)
        self._before = keys
        self._own.setdefault(page_fingerprint(keys), seen.number)
        if not self.holes:
            self.checkpoint = seen.number
        kind, reason = (VerdictKind.HOLD, self.holes[-1]) if self.holes else (VerdictKind.COMMIT, "")
        self._forward(seen)
        return [Verdict(kind, seen.number, reason, seen), *self._after_accepted(seen)]

    def _forward(self, seen: Seen) -> None:
        for address in (seen.url, _final(seen)):
            self._visited.setdefault(_key(address), seen.number)
        self._waiting.pop(seen.number)
        self._urls.pop(seen.number, None)
        self._cursor += 1

    def _after_accepted(self, seen: Seen) -> list[Verdict]:
        if self._has_all(seen):
            return self._end(f"all {seen.total} products that the shop declares")
        if not self.params.numbered and not self._next_mode:
            return self._end("single page")
        if self._next_mode:
            if not seen.next_url:
                return self._end("no next link")
            wrong = self._wrong_next(seen.next_url)
            if wrong:
                return self._incomplete(wrong) if wrong.startswith("scope escape") else self._end(wrong)
            self._urls[self._cursor] = seen.next_url
        if self._cursor > self._last_page:
            return self._incomplete(_CAPPED.format(self.params.max_pages))
        return []

    def _has_all(self, seen: Seen) -> bool:
        """Whether the walk has seen as many products as the shop says it has; a resumed one hasn't seen them all."""
        if not seen.total:
            return False
        self._all.update(seen.keys)
        return len(self._all) >= seen.total

    def _wrong_next(self, next_url: str) -> str:
        """Say what is wrong with a next link: it goes back, or it left the part of the catalogue that is walked."""
        if _key(next_url) in self._visited:
            return "next link repeats"
        lost = _parameters(self.params.template) - _parameters(next_url)
        return f"scope escape: the next link {next_url} lost {', '.join(sorted(lost))}" if lost else ""

    def _barren(self, seen: Seen, own: Mapping[str, int], visited: Mapping[str, int]) -> _Barren | None:
        """Say why a readable page shows nothing new, or return None."""
        if seen.status in _GONE:
            return _Barren(f"answers {seen.status}")
        away = self._away(seen, visited)
        if away and (not seen.keys or not away.twin):
            return away._replace(twin=False)
        if not seen.keys:
            return _Barren("is empty" if seen.number != self.params.first else "has no products")
        fingerprint = page_fingerprint(seen.keys)
        if fingerprint in own:
            return _Barren(f"repeats page {own[fingerprint]}")
        if away:
            return away
        if fingerprint in self._stored and seen.number != self._resumed:
            return _Barren(f"repeats page {self._stored[fingerprint]}", twin=True)
        return None

    def _away(self, seen: Seen, visited: Mapping[str, int]) -> _Barren | None:
        """Say where a page redirects to, unless it is still itself. (The first may go elsewhere: /page/1/ to /.)"""
        final = _key(_final(seen))
        if final == _key(seen.url) or seen.number == self.params.first:
            return None
        number = visited.get(final)
        if number is None and self._places:
            place = self._places.fullmatch(final)
            number = int(place[1]) if place else None
        if number is not None and number != seen.number:
            return _Barren(f"redirects to page {number}")
        # off the template: the shop's way past the end, or just how it spells its pages (each then goes elsewhere)
        return _Barren(f"redirects to {_final(seen)}", twin=True) if number is None and self.params.numbered else None

    def _end(self, reason: str) -> list[Verdict]:
        if self.holes:
            return self._incomplete("; ".join(self.holes))
        return self._stop(WalkState.ENDED, VerdictKind.ENDED, reason)

    def _incomplete(self, reason: str) -> list[Verdict]:
        held = _held(self._waiting[number] for number in sorted(self._waiting))
        return held + self._stop(WalkState.INCOMPLETE, VerdictKind.INCOMPLETE, reason)

    def _stop(self, state: WalkState, kind: VerdictKind, reason: str) -> list[Verdict]:
        self.state, self.reason = state, reason
        self._waiting.clear()
        self._again.clear()
        return [Verdict(kind, self._cursor, reason)]


_CAPPED = "max_pages reached: {} pages, and no end in sight"
_NOTHING_FOUND = "the first page {}: check [catalogue] url / product_url"


def _unreadable(seen: Seen, first: int) -> str:
    """Say why a page proves nothing, "" where it can be judged."""
    if seen.blocked:
        return f"page {seen.number} blocked; resumes there"
    if seen.failed or seen.status >= 500 or seen.status < 200:
        answer = f" (HTTP {seen.status})" if seen.status else ""
        return f"page {seen.number} failed{answer}; resumes there"
    if seen.status < 300 or seen.status in _GONE:
        return ""
    if seen.number == first:
        return f"the first page answers HTTP {seen.status}: check [catalogue] url"
    if seen.status < 400:
        return f"page {seen.number} answers HTTP {seen.status}, a redirect that wasn't followed; resumes there"
    if _is_cap(seen):
        return f"page {seen.number} answers HTTP {seen.status}: the platform's page cap?"
    return f"page {seen.number} answers HTTP {seen.status}; resumes there"


def _is_cap(seen: Seen) -> bool:
    return seen.status in _CAP and not seen.blocked and not seen.failed


def _held(pages: Iterable[Seen]) -> list[Verdict]:
    """Keep the rows of pages whose turn didn't come."""
    good = (seen for seen in pages if seen.keys and not seen.blocked and not seen.failed and seen.status < 300)
    return [Verdict(VerdictKind.HOLD, seen.number, "", seen) for seen in good]


def _is_empty(seen: Seen) -> bool:
    """Say whether a page looks like the end even before its turn, so that nothing far beyond it is asked for."""
    return not seen.keys and not seen.blocked and not seen.failed


def _final(seen: Seen) -> str:
    return seen.final_url or seen.url


def _key(url: str) -> str:
    try:
        return url_key(url)
    except InvalidURL:  # compared as text: a redirect or link to no URL is equal to none
        return url


def _places(params: WalkParams) -> re.Pattern[str]:
    """Return the pattern of the keys of all pages of a numbered walk; its group is the number."""
    return re.compile(re.escape(_key(params.template.replace(_PLACE, _DIGITS))).replace(_DIGITS, "([0-9]{1,9})", 1))


def _parameters(url: str) -> set[str]:
    return {name for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True)} - _PAGINATION
