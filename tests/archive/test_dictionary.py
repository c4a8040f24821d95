"""What a store's pages teach: a few pages where these do, many where pages are put together of pieces, and anew."""

from __future__ import annotations

import random
from statistics import median

from storebot.archive.dictionary import FIRST_SAMPLES, STEPS, Learner, Lines, whole
from tests.archive.test_archive import body

PIECES = [body(number, template=number)[:12_000] for number in range(20)]


def pieced(number: int) -> bytes:
    """A page of three pieces of twenty, and some words of its own."""
    pieces = random.Random(number).sample(PIECES, 3)
    return b"\n".join([b"<html>", *pieces, b"<b>%d</b>" % number, b"</html>"])


def learnt(learner: Learner, bodies: list[bytes]) -> list[float]:
    """Have a learner pack pages; return how many times smaller each became."""
    ratios = []
    for one in bodies:
        packed = len(learner.compressor.compress(one))
        learner.note(one, packed)
        ratios.append(len(one) / packed)
    return ratios


def test_three_pages_of_one_template_are_enough() -> None:
    learner = Learner()
    ratios = learnt(learner, [body(number) for number in range(200)])
    assert learner.dictionary == whole(body(number) for number in range(FIRST_SAMPLES))
    assert min(ratios[FIRST_SAMPLES:]) > 20


def test_pages_that_are_put_together_of_pieces_get_a_dictionary_of_all_pieces() -> None:
    learner = Learner()
    ratios = learnt(learner, [pieced(number) for number in range(250)])
    early, late = ratios[FIRST_SAMPLES : STEPS[0]], ratios[STEPS[-1] + 20 :]
    assert median(late) > 4 * median(early)
    assert all(piece in learner.dictionary for piece in PIECES)


def test_a_learner_that_goes_on_with_a_dictionary_survives_a_redesign() -> None:
    learner = Learner(whole(body(number) for number in range(3)))
    learnt(learner, [body(number) for number in range(60)])
    ratios = learnt(learner, [body(number, template=7) for number in range(150)])
    assert min(ratios[-20:]) > 20


def test_a_line_is_in_a_dictionary_once_and_the_first_page_stands_last() -> None:
    lines = Lines()
    for page in (b"<a>\n1\n</a>\n", b"<a>\n2\n</a>\n"):
        lines.add(page)
    assert (lines.pages, lines.joined()) == (2, b"2\n<a>\n1\n</a>\n")
