"""What robots.txt says to a guest."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urljoin

from protego import Protego

from storebot.core.probing.seen import Answer, RobotsSaid
from storebot.core.robots import sitemaps_in_robots


@dataclass(frozen=True, slots=True)
class Robots:
    """What the robots.txt of one host says to this guest."""

    url: str
    status: int = 0
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()
    forbids: tuple[str, ...] = ()  # its Disallow lines, for the report
    problem: str = ""  # why nobody knows what it forbids: then nothing is asked for
    rules: Protego | None = None

    @property
    def said(self) -> RobotsSaid:
        """What a report says of it."""
        return RobotsSaid(self.status, self.crawl_delay_s, self.sitemaps, self.forbids)

    def allows(self, url: str, name: str) -> bool:
        """Say whether a robot of this name may have an address."""
        return not self.problem and (self.rules is None or bool(self.rules.can_fetch(url, name)))


def read_robots(url: str, answer: Answer, name: str) -> Robots:
    """Return what an answer to a request for it says to a robot of this name."""
    page = answer.page
    if page is None:
        return Robots(url, problem=f"{url} {answer.problem}")
    if page.status >= 500 or page.status == 429:
        return Robots(url, page.status, problem=f"{url} answers {page.status}, so nobody knows what it forbids")
    if page.status != 200:
        return Robots(url, page.status)
    rules = Protego.parse(page.text)
    lines = (line.partition("#")[0].strip() for line in page.text.splitlines())
    return Robots(
        url,
        page.status,
        crawl_delay_s=rules.crawl_delay(name),
        sitemaps=tuple(dict.fromkeys(urljoin(url, found) for found in sitemaps_in_robots(page.body, url))),
        forbids=tuple(line for line in lines if line.lower().startswith("disallow:") and len(line) > 10),
        rules=rules,
    )
