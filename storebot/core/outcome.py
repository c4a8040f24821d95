"""What one response to a product page's URL means, before anything is compared with the database."""

from __future__ import annotations

from dataclasses import dataclass

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


def outcome_of(answer: Answer) -> tuple[Outcome | None, str]:
    """Return the outcome and the reason; None where the page was read and only the database can tell.

    A redirect away from the product's own kind of URL is evidence that it moved, never a product of another name
    (cases R01, R05); a status that isn't 200 leaves what is known as it was.
    """
    if answer.status in GONE:
        return Outcome.MISSING, f"HTTP {answer.status}"
    if answer.status != 200:
        return Outcome.ERROR, f"HTTP {answer.status}"
    if answer.redirected and not answer.on_site:
        return Outcome.MOVED, f"redirects off the site, to {answer.final_url}"
    if answer.redirected and not answer.is_product_url:
        return Outcome.MOVED, f"redirects to {answer.final_url}, which product_url doesn't match"
    if not answer.identified:
        found = (
            "; ".join(answer.problems) or "no name with a price, availability or SKU in structured data or selectors"
        )
        return Outcome.INVALID, f"no product could be read: {found}"
    return None, ""
