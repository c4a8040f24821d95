"""One pass of one stage over the rows: read in batches, saved where the answer differs.

Each batch is read in short transactions and saved in another, so it may run beside a crawl, and beside itself. A row
that a crawl changes between the two is made anew by the next pass, because its inputs differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from storebot.core.enrich.series import checks_of
from storebot.core.stage import NEVER_LOOKED, CatalogueStage, Checks, ListingStage, Stage, Subject
from storebot.db import derived
from storebot.db.database import Database
from storebot.db.derived import Said
from storebot.stages.across import run_across
from storebot.stages.answers import explained, inputs_of, said_by, sort_out
from storebot.stages.tally import Pass, Tally

VISITS_AT_ONCE = 20_000


def run_stage(
    database: Database,
    name: str,
    stage: Stage,
    *,
    store: str | None = None,
    redo: bool = False,
    dry_run: bool = False,
    progress: Callable[[int], None] = lambda count: None,
) -> Tally:
    """Run a stage over the listings of one store, or of all; return what it did.

    Listings whose inputs and whose stage's version are those of the last pass aren't looked at, unless ``redo``. With
    ``dry_run`` nothing is written. ``progress`` is told of the listings of each batch.

    Raises `SaveFailed` where the database fails, `StageFailed` where a stage that compares listings raises. What a
    stage raises over one listing is counted, and its row stays as it was.
    """
    run = Pass(database, name, Tally(name, stage.version), store, redo, dry_run, progress)
    if isinstance(stage, CatalogueStage):
        run_across(run, stage)
    else:
        run_each(run, stage)
    return run.tally


def run_each(run: Pass, stage: ListingStage) -> None:
    """Run a stage that judges each listing by itself."""
    watched = _Watched(run)
    for batch in run.batches(run.store):
        inputs = {subject.id: inputs_of(subject, stage.reads) for subject in batch}
        before = run.said(inputs)
        todo = [one for one in batch if run.redo or _stale(before.get(one.id), stage.version, inputs[one.id])]
        answers: dict[int, Said] = {}
        for subject in watched.with_history(todo, stage):
            try:
                answer = stage.derive(subject)
                answers[subject.id] = said_by(answer, subject.id, stage.version, inputs[subject.id])
            except Exception as error:  # a stage is anybody's code: one odd listing doesn't stop the others
                run.tally.fail(explained(error, subject))
        run.save(sort_out(answers, before))
        run.tally.flagged += sum(one.flagged for one in {**before, **answers}.values())
        run.tally.rows += len(batch)
        run.progress(len(batch))


def _stale(before: Said | None, version: str, inputs: str) -> bool:
    return before is None or (before.version, before.inputs) != (version, inputs)


class _Watched:
    """The history of listings: offers by batch, and the checks of a store's pages read once, when first needed."""

    def __init__(self, run: Pass) -> None:
        self._run = run
        self._checks: dict[str, dict[int, Checks]] = {}

    def with_history(self, subjects: list[Subject], stage: ListingStage) -> list[Subject]:
        if not subjects or not stage.reads:
            return subjects
        page_ids = {subject.page_id for subject in subjects}
        offers = self._run.read(derived.history, page_ids) if "offers" in stage.reads else {}
        return [
            replace(
                subject,
                offers=offers.get((subject.page_id, subject.listing.variant_id), ()),
                checks=self._of(subject) if "checks" in stage.reads else NEVER_LOOKED,
            )
            for subject in subjects
        ]

    def _of(self, subject: Subject) -> Checks:
        store = subject.listing.store
        if store not in self._checks:
            self._checks[store] = checks_of(self._seen(store))
        return self._checks[store].get(subject.page_id, NEVER_LOOKED)

    def _seen(self, store: str) -> Iterator[tuple[int, int]]:
        after = 0
        while found := self._run.read(derived.seen, store, after_id=after, limit=VISITS_AT_ONCE):
            yield from ((page_id, at) for _, page_id, at in found)
            after = found[-1][0]
