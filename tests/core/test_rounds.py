"""Whether a run read all that a source names."""

from __future__ import annotations

from storebot.core.rounds import Rounds, Source
from storebot.items import Round

SITEMAP, CATALOGUE = Round(1, 5, 0), Round(2, 1, 0)


def begun() -> Rounds:
    rounds = Rounds()
    rounds.begin(Source.SITEMAP, SITEMAP)
    rounds.begin(Source.CATALOGUE, CATALOGUE)
    rounds.walk("sitemap a", Source.SITEMAP)
    rounds.walk("sitemap b", Source.SITEMAP)
    rounds.walk("catalogue", Source.CATALOGUE)
    return rounds


def test_a_round_is_whole_when_all_its_walks_are_proven() -> None:
    rounds = begun()
    for walk in ("sitemap a", "sitemap b", "catalogue"):
        rounds.ended(walk)
    assert rounds.judged(finished=True) == {SITEMAP: "", CATALOGUE: ""}


def test_one_walk_without_its_end_spoils_its_source_alone() -> None:
    rounds = begun()
    rounds.ended("sitemap a", "sitemap a: HTTP 500")
    rounds.ended("sitemap b", "sitemap b: broken")
    rounds.ended("catalogue")
    assert rounds.judged(finished=True) == {SITEMAP: "sitemap a: HTTP 500", CATALOGUE: ""}


def test_a_walk_that_never_ended_and_a_run_that_was_stopped_prove_nothing() -> None:
    rounds = begun()
    rounds.ended("catalogue")
    assert rounds.judged(finished=False) == {
        SITEMAP: "sitemap a: the run ended before it did",
        CATALOGUE: "the run was stopped",
    }


def test_a_look_at_the_head_ends_no_round() -> None:
    rounds = Rounds()
    rounds.begin(Source.CATALOGUE, CATALOGUE)
    rounds.glance(Source.CATALOGUE)
    assert rounds.of(Source.CATALOGUE) == CATALOGUE
    assert rounds.of(Source.FEED) is None
    assert rounds.judged(finished=True) == {}


def test_the_end_of_a_walk_that_belongs_to_no_source_says_nothing() -> None:
    rounds = begun()
    rounds.ended("another", "another: broken")
    assert set(rounds.judged(finished=True).values()) != {"another: broken"}
