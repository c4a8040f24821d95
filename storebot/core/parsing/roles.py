"""What each number of a text is, by the words around it: money, a count, an instalment, a fee, an old price …"""

from __future__ import annotations

from storebot.core.parsing import price_words as words
from storebot.core.parsing.candidates import Candidate


def assign_roles(candidates: list[Candidate]) -> None:
    for index, one in enumerate(candidates):
        previous = candidates[index - 1] if index else None
        following = candidates[index + 1] if index + 1 < len(candidates) else None
        one.role = _role(one, previous, following)
        one.from_ = bool(words.FROM_BEFORE.search(one.before) or words.FROM_AFTER.search(one.after))


def _role(one: Candidate, previous: Candidate | None, following: Candidate | None) -> str:
    if not one.has_currency and words.QUANTITY_AFTER.search(one.after):
        return "quantity"
    if previous and _is_count(previous):
        if words.TIMES_BETWEEN.search(one.before):
            previous.role = "quantity"
            return "instalment"
        if one.has_currency and words.MULTI_BUY.search(one.before):
            previous.role = "quantity"
            return "multi_buy"
    if words.PERIOD_AFTER.search(one.after) or words.INSTALMENT_BEFORE.search(one.before):
        return "instalment"
    if following and _is_count(following) and words.TIMES_AFTER.search(one.after):
        return "instalment"
    if words.PER_UNIT_AFTER.search(one.after) or words.UNIT_PRICE_BEFORE.search(one.before):
        return "per_unit"
    if previous and not previous.has_currency and words.UNIT_IS_BEFORE.search(one.before):
        return "per_unit"
    if following and words.PER_AFTER.search(one.after) and words.QUANTITY_AFTER.search(following.after):
        return "per_unit"
    if words.SAVING_BEFORE.search(one.before) and not _is_dash_of_a_range(one, previous):
        return "saving"
    if words.SAVING_AFTER.search(one.after):
        return "saving"
    if words.FEE_BEFORE.search(one.before) or words.FEE_AFTER.search(one.after):
        return "fee"
    if words.NOW_BEFORE.search(one.before):
        return "now"
    if words.WAS_BEFORE.search(one.since_money):
        return "was"
    return _tax_role(one, previous)


def _tax_role(one: Candidate, previous: Candidate | None) -> str:
    """A label between two amounts belongs to the first, unless a colon says otherwise."""
    labelled = one.before if previous is None or one.before.rstrip().endswith(":") else ""
    if words.NET_AFTER.search(one.after) or words.NET_BEFORE.search(labelled):
        return "net"
    if words.GROSS_AFTER.search(one.after) or words.GROSS_BEFORE.search(labelled):
        return "gross"
    return "money"


def _is_count(one: Candidate) -> bool:
    return not one.has_currency and one.body.isdigit() and len(one.body) <= 3


def _is_dash_of_a_range(one: Candidate, previous: Candidate | None) -> bool:
    """Whether the dash before an amount stands between two things: only one that touches the amount is a minus."""
    return one.before.endswith(("- ", "– ", "− ")) or (previous is not None and one.before.strip() in ("-", "–", "−"))


def money_among(candidates: list[Candidate]) -> list[Candidate]:
    """Drop counts and measures, and bare numbers beside amounts that name their currency."""
    money = [one for one in candidates if one.role != "quantity"]
    if not any(one.has_currency for one in money):
        return money
    kept = []
    for index, one in enumerate(money):
        partner = money[index + 1] if index + 1 < len(money) else None
        in_range = (
            partner is not None
            and partner.has_currency
            and one.amount <= partner.amount
            and words.RANGE_BETWEEN.search(one.after)
            and not one.after.startswith(" - ")
        )
        if one.has_currency or in_range:
            kept.append(one)
    return kept
