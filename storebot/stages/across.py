"""A pass of a stage that compares listings with each other: it is given those of all stores, whatever is written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from storebot.core.stage import CatalogueStage, Derived, Subject
from storebot.db import derived
from storebot.exceptions import StageFailed, StorebotError
from storebot.stages.answers import explained, said_by, sort_out
from storebot.stages.tally import BATCH, Pass


def run_across(run: Pass, stage: CatalogueStage) -> None:
    """Compare all listings, and save the answers that differ; take back those that the stage no longer gives.

    One listing may change what is said of any other, so all are read each time. With a store, only the answers about
    its listings are counted and saved. Raises `StageFailed` where the stage raises: answers that it gave until then are
    saved, the others stay as they were.
    """
    mine: set[int] = set()
    answered: set[int] = set()
    try:
        answers = iter(stage.derive_all(_subjects(run, mine)))
        while chunk := list(islice(answers, BATCH)):
            _save(run, stage.version, [answer for answer in chunk if answer[0] in mine])
            answered.update(listing_id for listing_id, _ in chunk)
    except StorebotError:
        raise
    except Exception as error:  # a stage is anybody's code
        raise StageFailed(f"stage {run.name!r}: {explained(error)}") from error
    _take_back(run, mine, answered)


def _subjects(run: Pass, mine: set[int]) -> Iterator[Subject]:
    for batch in run.batches(None):
        found = [subject.id for subject in batch if run.store in (None, subject.listing.store)]
        mine.update(found)
        run.tally.rows += len(found)
        yield from batch
        run.progress(len(found))


def _save(run: Pass, version: str, chunk: list[tuple[int, Derived]]) -> None:
    answers = {listing_id: said_by(answer, listing_id, version, "") for listing_id, answer in chunk}
    run.tally.flagged += sum(answer.flagged for answer in answers.values())
    run.save(sort_out(answers, run.said(answers)))


def _take_back(run: Pass, mine: set[int], answered: set[int]) -> None:
    after = 0
    while ids := run.read(derived.spoken_of, run.name, after_id=after, limit=BATCH):
        after = ids[-1]
        if gone := [listing_id for listing_id in ids if listing_id in mine and listing_id not in answered]:
            run.tally.written += len(gone)
            run.write(derived.remove, run.name, gone)
