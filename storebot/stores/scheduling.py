"""`[schedule]` of a store file: what `scrapy worker` runs for the store, and when."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, field_validator

from storebot.core import schedule as times
from storebot.core.job_kinds import KINDS
from storebot.stores.export_plan import ExportPlan
from storebot.stores.schedule_values import LEAST_MS, When, Windows, Zone, interval
from storebot.stores.section import Section
from storebot.stores.values import Duration, milliseconds
from storebot.stores.wording import clipped, wrong


def _when(what: str) -> str | None:
    found: str | None = Field(default=None, description=f"When {what}: `every DURATION`, or a cron line.")
    return found


class SchedulePlan(Section):
    """What the worker runs for this store, and when. Without a key a kind doesn't run by itself."""

    backfill: When | None = _when(
        "the whole store is walked for pages that were never read (the first time the worker does it by itself)"
    )
    refresh: When | None = _when("what is known is looked at again")
    reparse: When | None = _when("records are read again from kept pages, after a change of the rules")
    prune: When | None = _when("the page archive lets go of old generations")
    coverage: When | None = _when("the sources are compared with the database; the log has the result")
    deliver: When | None = _when("changes of all stores are posted to who subscribed: one store's file is enough")
    stage: When | None = _when("all stages run over the store's listings")
    timezone: Zone = Field(default="UTC", description="Time zone of the cron lines and of `blackout`.")
    blackout: Windows = Field(
        default=(),
        description='Times in which no job of the store begins: `["Mon-Fri 08:00-18:00", "22:00-02:00"]`. What is due '
        "then begins at their end; what runs goes on.",
    )
    jitter: Duration = Field(
        default="0s",
        description='How much later than its time a job may begin, at random, such as `"10m"`: so that stores with the '
        "same line don't begin together.",
    )
    priority: int = Field(
        default=0, ge=-1000, le=1000, description="Of the jobs that are due the one with the highest begins first."
    )
    time_limit: Duration = Field(
        default="24h", description="How long a job may run; then it is stopped gracefully, and tried again."
    )

    export: ExportPlan | None = Field(
        default=None,
        description="Files for others, with a manifest: a table, or only when, for the listings as CSV in "
        "`var/exports`.",
    )

    @field_validator("time_limit")
    @classmethod
    def _time_limit_is_some(cls, text: str) -> str:
        if milliseconds(text) < LEAST_MS:
            raise wrong(f"expected a duration of a minute or more, got {clipped(text)}")
        return text

    @property
    def schedules(self) -> dict[str, times.Schedule]:
        """When each kind runs that has a time, as the core takes it."""
        said = {kind: getattr(self, kind) for kind in KINDS}
        texts = {kind: one.when if isinstance(one, ExportPlan) else one for kind, one in said.items()}
        return {kind: self._schedule(text) for kind, text in texts.items() if text is not None}

    def arguments(self, kind: str) -> Mapping[str, str]:
        """What the jobs of a kind are given."""
        return self.export.arguments if kind == "export" and self.export else {}

    @property
    def time_limit_s(self) -> int:
        """The time limit in seconds."""
        return milliseconds(self.time_limit) // 1000

    def _schedule(self, text: str) -> times.Schedule:
        every = interval(text)
        return times.Schedule(
            every_ms=milliseconds(every) if every else 0,
            cron="" if every else text,
            timezone=self.timezone,
            blackout=self.blackout,
            jitter_ms=milliseconds(self.jitter),
        )
