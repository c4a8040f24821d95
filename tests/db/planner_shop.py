"""A store with a planner's memory, in few words: it learns from what it saves as a run does."""

from __future__ import annotations

from typing import Any

from sqlalchemy import update

from storebot.core.planner.lanes import Lane
from storebot.db import claims, knowledge, rounds
from storebot.db.database import Database
from storebot.db.knowledge import Memory
from storebot.db.learning import Learner
from storebot.db.pages import discover
from storebot.db.saved import Saved
from storebot.db.schema import pages
from storebot.items import Record, Target
from tests.db.shop import NOW, STORE, Worker, found


class LearningWorker(Worker):
    """A run over the store that learns."""

    def __init__(self, database: Database, *, planned: bool = False, at: int = NOW, **run: Any) -> None:
        with database.read() as conn:
            self.memory: Memory = knowledge.load(conn, STORE, at)
        self.seconds = 0.0  # on its clock
        self.learner = Learner(STORE, self.memory, planned=planned, clock=lambda: self.seconds)
        super().__init__(database, learner=self.learner, **run)

    def save(self, *records: Record) -> list[Saved]:
        saved = super().save(*records)
        self.learner.committed()
        return saved

    def remember(self) -> None:
        """Save what is known of the store."""
        with self.database.write() as conn:
            self.learner.save(conn, now=True)

    def sitemap(self, *names: str, lastmod: str | None, at: int) -> None:
        """Read a sitemap that names these pages."""
        with self.database.write() as conn, self.learner.attempt(conn):
            named = rounds.begin(conn, STORE, "sitemap", "", resumes=False)
            discover(conn, STORE, found(*names, lastmod=lastmod), at, named=named, learner=self.learner)
        self.learner.committed()

    def take(self, lane: Lane, *names: str, token: str = "claim") -> list[Target]:
        """Claim these pages in a lane of a plan."""
        ids = [self.page(name)["id"] for name in names]
        with self.database.write() as conn:
            return claims.claim_these(conn, STORE, token, dict.fromkeys(ids, lane), 60, **self._versions())

    def page(self, name: str) -> dict[str, Any]:
        """Return the row of a page."""
        (row,) = (row for row in self.rows(pages) if row["url_key"].endswith(f"/p/{name}"))
        return row

    def set_page(self, name: str, **values: Any) -> None:
        """Change the row of a page."""
        with self.database.write() as conn:
            conn.execute(update(pages).where(pages.c.url_key.endswith(f"/p/{name}")).values(values))
