"""A product's kept pages: one as text and as it looked, and two beside each other."""

from __future__ import annotations

from storebot.core.dashboard.text_diff import difference
from storebot.dashboard import kept_versions
from storebot.dashboard.files import printable
from storebot.dashboard.pages.product import found
from storebot.dashboard.view import Ask, Facts, Foreign, NotFound, View, moment
from storebot.db.board import product
from storebot.db.types import AnyRow


def read(ask: Ask) -> Facts:
    """Return a version as text."""
    row, at_ms = found(ask), int(ask.path["at"])
    text = _text(ask, row, at_ms)
    return {
        "product": _product(row),
        "at": moment(at_ms),
        "at_ms": at_ms,
        "text": kept_versions.shown(text),
        "characters": len(text),
        "cut": len(text) > kept_versions.MOST_CHARACTERS,
    }


def compare(ask: Ask) -> Facts:
    """Return what differs between two versions."""
    row = found(ask)
    before, after = (_moment(ask.query.get(name, ""), name) for name in ("before", "after"))
    if before > after:
        before, after = after, before
    made = difference(printable(_text(ask, row, before)), printable(_text(ask, row, after)))
    return {
        "product": _product(row),
        "before": moment(before),
        "before_ms": before,
        "after": moment(after),
        "after_ms": after,
        "lines": [line._asdict() for line in made.lines],
        "cut": made.cut,
    }


def frame(ask: Ask) -> str:
    """Return a version for a frame."""
    return kept_versions.framed(_text(ask, found(ask), int(ask.path["at"])))


def _moment(text: str, name: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise ValueError(f"{name}: choose a version of the list")
    return int(text)


def _text(ask: Ask, row: AnyRow, at_ms: int) -> str:
    keys = product.keys_of(ask.conn, row)
    text = kept_versions.text_of(ask.site, row.store, keys, at_ms) if at_ms < 2**63 else None
    if text is None:
        raise NotFound("this version isn't kept (any more), can't be read, or is too large to be shown")
    return text


def _product(row: AnyRow) -> Facts:
    return {"id": row.id, "name": (row.name or row.url_key)[:300], "store": row.store, "url": row.url}


_AT = "/products/{listing:int}/versions/{at:int}"
VIEWS = (
    View(_AT, "version", "product_version.html", read),
    View("/products/{listing:int}/compare", "compare", "product_compare.html", compare, parameters=("before", "after")),
)
FOREIGN = (Foreign(f"{_AT}/frame", "version's frame", frame),)
