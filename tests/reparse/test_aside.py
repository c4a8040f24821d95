"""Visits that are put aside come back as they were, in their order."""

from __future__ import annotations

from contextlib import closing

from storebot.items import Outcome, Target, Visit
from storebot.reparse.aside import Aside, packed, unpacked


def visits(number: int, count: int) -> list[Visit]:
    target = Target(store="shop", url="https://shop.example/", url_key="https://shop.example/", page_id=number)
    return [
        Visit(target=target, at_ms=at, outcome=Outcome.SKIPPED, requests=0, reason="é" * number) for at in range(count)
    ]


def test_chunks_come_back_in_their_order_from_memory_and_from_disk() -> None:
    for size in (3, 300):
        chunks = [visits(number, size) for number in range(50)]
        with closing(Aside()) as aside:
            for chunk in chunks:
                aside.put(packed(chunk))
            assert [unpacked(chunk) for chunk in aside.chunks()] == chunks


def test_nothing_put_aside_is_nothing() -> None:
    with closing(Aside()) as aside:
        assert [*aside.chunks()] == []
