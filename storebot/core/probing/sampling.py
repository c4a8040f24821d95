"""Find product pages: one page of each form of address that promises some, then a sample spread over all that sell."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from storebot.core.probing.groups import Group, Groups
from storebot.core.probing.list_queue import ListQueue
from storebot.core.probing.notebook import Notebook, distinct, key_of
from storebot.core.probing.seen import Answer, Ask, Kind, Seen
from storebot.core.urls import same_site

MAX_TRIALS = 12
_WORTH_TRYING = 1.0
_WORTH_A_LOOK = 2.5  # in a sample, of forms that are like one that sells
_WORTH_TRYING_ON = 3.5  # once products are found, only forms with good signs are still tried

Steps = Generator[Ask, Answer, None]


class Survey:
    """The notebook with its addresses by form, and the lists that wait to be looked at: kept together, page by page."""

    def __init__(self, book: Notebook) -> None:
        self.book, self.groups, self.queue = book, Groups(), ListQueue(book.base_url)

    def look(self, url: str, why: str) -> Generator[Ask, Answer, Seen]:
        """Look at an address, and note its links."""
        is_new = self.book.known(url) is None
        seen = yield from self.book.look(url, why)
        if is_new:
            self.take(seen)
        return seen

    def take(self, seen: Seen) -> None:
        """Note what an address showed, and its links."""
        self.book.seen.setdefault(key_of(seen.url), seen)
        self.groups.note(seen)
        for link in seen.links:
            if same_site(link.url, self.book.base_url):
                self.groups.add_link(link)
        self.queue.add(seen)


def find_products(survey: Survey) -> Steps:
    """Look at one page of each form that promises products; where none does, at lists, until some do."""
    for _ in range(MAX_TRIALS):
        if survey.book.blocked:
            return
        proven = any(group.sells for group in survey.groups)
        scored = survey.groups.to_try()
        if scored and scored[0][0] >= (_WORTH_TRYING_ON if proven else _WORTH_TRYING):
            yield from _try(survey, scored[0][1])
            continue
        url = None if proven else survey.queue.take(survey.book)
        if url is None:
            return
        yield from survey.look(url, "list")


def _try(survey: Survey, group: Group) -> Steps:
    group.asked += 1
    fresh = [url for url in group.urls if survey.book.known(url) is None]
    if not fresh:
        group.asked += 1
        return
    yield from survey.look(fresh[len(fresh) // 2], "product")


def sample_products(survey: Survey, pages: int) -> Steps:
    """Look at products until ``pages`` of them are seen, spread over the forms that sell and along each of them."""
    for url in list(_spread(survey, pages)):
        if survey.book.blocked or len(survey.book.of_kind(Kind.PRODUCT)) >= pages:
            return
        if survey.book.known(url) is None:
            yield from survey.look(url, "product")


def _spread(survey: Survey, pages: int) -> Iterator[str]:
    """Yield more addresses than are wanted: some are gone, some are no products."""
    selling = sorted((group for group in survey.groups if group.sells), key=lambda group: -len(group.urls))
    good = survey.groups.families(selling=True)
    kin = [group for score, group in survey.groups.to_try() if group.family in good and score >= _WORTH_A_LOOK]
    picks = [evenly(group.good, pages) for group in selling] + [evenly(group.good, 1) for group in kin[:pages]]
    for place in range(pages):
        for some in picks:
            if place < len(some):
                yield some[place]


def evenly(urls: Sequence[str], count: int) -> list[str]:
    """Return ``count`` of the addresses, or all, from all along the list; the ends of it before what lies between."""
    urls = distinct(urls)
    if len(urls) <= count:
        return urls
    step = (len(urls) - 1) / max(1, count - 1)
    picked = [urls[round(place * step)] for place in range(count)]
    return picked[::2] + picked[1::2]
