"""What the probe has asked for and seen so far, and what it may still ask for."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

from storebot.core.parsing.rules import ProductRules
from storebot.core.probing.observe import NO_RULES, observe
from storebot.core.probing.seen import Answer, Ask, Kind, Link, Seen
from storebot.core.urls import same_site, url_key
from storebot.exceptions import InvalidURL

Asking = Generator[Ask, Answer, Seen]

MAX_BLOCKS = 3  # block pages after which a guest leaves


class Notebook:
    """Every address once; what was seen by URL key."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.seen: dict[str, Seen] = {}
        self.asked = 0
        self.rules = NO_RULES

    def look(self, url: str, why: str) -> Asking:
        """Ask for one address and note what it shows; what was seen before isn't asked for again."""
        known = self.known(url)
        if known is not None:
            return known
        ask = Ask(url=url, why=why)
        answer = yield ask
        self.asked += 1
        seen = observe(ask, answer, self.rules)
        self.seen[key_of(url)] = seen
        if seen.kind in (Kind.PRODUCT, Kind.OTHER):
            self.seen.setdefault(key_of(seen.final_url), seen)
        return seen

    def read_again(self, rules: ProductRules) -> None:
        """Read what was no product once more, by these rules; they hold for what is asked for from now on, too."""
        self.rules = rules
        for key, seen in list(self.seen.items()):
            if seen.page is not None:
                ask, answer = Ask(url=seen.url, why="again"), Answer(page=seen.page, elapsed_ms=seen.elapsed_ms)
                self.seen[key] = observe(ask, answer, rules)

    def known(self, url: str) -> Seen | None:
        """Return what an address showed, by whatever way it was reached."""
        return self.seen.get(key_of(url))

    def of_kind(self, kind: Kind) -> list[Seen]:
        """Return what turned out to be of one kind, in the order of asking, each once."""
        return list({id(seen): seen for seen in self.seen.values() if seen.kind is kind}.values())

    @property
    def blocked(self) -> bool:
        """Whether the shop has shown the door so often that asking on would be rude, and useless."""
        return len(self.of_kind(Kind.BLOCKED)) >= MAX_BLOCKS

    def links(self) -> Iterator[tuple[Seen, Link]]:
        """Yield every link to the shop itself that was seen, with the page that it stands on."""
        for page in (*self.of_kind(Kind.OTHER), *self.of_kind(Kind.PRODUCT)):
            for link in page.links:
                if same_site(link.url, self.base_url):
                    yield page, link


def key_of(url: str) -> str:
    """Return the URL key; of what is none, the text."""
    try:
        return url_key(url)
    except InvalidURL:
        return url


def distinct(urls: Iterable[str]) -> list[str]:
    """Return one address of each page, in order."""
    found: dict[str, str] = {}
    for url in urls:
        found.setdefault(key_of(url), url)
    return list(found.values())
