"""What one response to a product page's URL means, before anything is compared with the database."""

from __future__ import annotations

from dataclasses import dataclass

from storebot.core.delist import Evidence
from storebot.items import Outcome

GONE = (404, 410)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The facts of one response."""

    status: int
    url: str
    final_url: str
    redirected: bool  # the URL key of the final URL is another
    on_site: bool  # the final URL is on the store's host or a declared alias
    is_product_url: bool  # the final URL matches product_url
    identified: bool  # name, and a price, availability or SKU
    problems: tuple[str, ...] = ()
    failure: str = ""  # the store's own code broke
    tried: str = ""  # the selectors that were there for what identifies a product
    medium: str = ""  # what the answer is that is no page; asked only where it isn't identified
    soft_404: str = ""  # by what sign it's a page for what isn't there; asked only where it isn't identified
    landing: str = ""  # what a redirect led to, where that means that the product is gone


def outcome_of(answer: Answer) -> tuple[Outcome | None, str]:
    """Return the outcome and the reason; None where the page was read and only the database can tell.

    A redirect away from the product's own kind of URL is evidence that it's gone, or moved, never a product of another
    name (cases R01, R05), and what another site says is evidence of nothing; a status that isn't 200 leaves what is
    known as it was.
    """
    away = answer.redirected and not answer.on_site
    if answer.status in GONE and not away:
        return Outcome.MISSING, f"HTTP {answer.status}"
    if answer.status != 200 and answer.status not in GONE:
        return Outcome.ERROR, f"HTTP {answer.status}"
    if away:
        return Outcome.MOVED, f"redirects off the site, to {answer.final_url}"
    if answer.redirected and not answer.is_product_url:
        if answer.landing:
            return Outcome.MISSING, f"redirects to {answer.final_url}, {answer.landing}"
        if not answer.soft_404:
            return Outcome.MOVED, f"redirects to {answer.final_url}, which product_url doesn't match"
    if answer.failure:
        return Outcome.INVALID, f"the page could not be read: {answer.failure}"
    if answer.medium and not answer.identified:
        return Outcome.INVALID, f"no product could be read: the answer is {answer.medium}, not a page"
    if answer.soft_404 and not answer.identified:
        return Outcome.MISSING, f"HTTP {answer.status}, but {answer.soft_404}"
    if not answer.identified:
        found = (
            "; ".join(answer.problems) or "no name with a price, availability or SKU in structured data or selectors"
        )
        tried = f" (tried {answer.tried})" if answer.tried else ""
        return Outcome.INVALID, f"no product could be read: {found}{tried}"
    return None, ""


def evidence_of(answer: Answer) -> Evidence:
    """Return what kind of evidence a `MISSING` answer is."""
    if answer.status in GONE:
        return Evidence(str(answer.status))
    return Evidence.REDIRECT if answer.redirected and answer.landing else Evidence.SOFT_404
