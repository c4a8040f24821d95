"""The variants that a shop's scripts hold: which of them there are, and what tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

from storebot.core.parsing.offers import identify
from storebot.core.parsing.values import Values


def told_apart(records: Sequence[Values]) -> list[Values]:
    """Return records with a ``variant_id`` each; one alone is the product itself, without variants.

    Identified as offers are (`identify`), so that two sources of one page name a variant alike; what nothing tells
    apart keeps the shop's own number, which it has in ``variant_id``, or is left out.
    """
    if len(records) < 2:
        return [{name: value for name, value in one.items() if name not in ("variant_id", "url")} for one in records]
    identities = identify(records) or [str(one.get("variant_id", "")) for one in records]
    if len(set(identities)) < len(records) or not all(identities):
        return []
    rows = [{**one, "variant_id": identity} for one, identity in zip(records, identities, strict=True)]
    return sorted(rows, key=lambda row: str(row["variant_id"]))
