"""Beginning a round of a source, and going on with one: which run read what of it, for coverage and delisting."""

from __future__ import annotations

import hashlib
import json

from storebot.core.rounds import Source
from storebot.db import rounds
from storebot.run import Run


async def begin_round(run: Run, source: Source, meaning: object, *, head_only: bool) -> None:
    """Begin a round of a source. ``meaning`` (JSON) is what the store file says of which pages it names.

    ``head_only``: it's only looked at, and the round that a backfill is at goes on.
    """
    params = hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()
    resumes = run.kind == "backfill" or head_only
    round_ = await run.session.call(
        rounds.begin, run.store.name, source.value, params, resumes=resumes, glances=head_only
    )
    run.rounds.begin(source, round_)
    if head_only:
        run.rounds.glance(source)


async def not_read_again(run: Run, source: Source, walk: str) -> None:
    """Say that an earlier run read a walk, or its first pages: that counts where it was in the same round.

    Else that round has ended, and this run only reads what is left of the backfill that it resumes.
    """
    round_ = run.rounds.of(source)
    if round_ is not None and not await run.session.call(rounds.covers, round_, run.store.name, walk):
        run.rounds.glance(source)
