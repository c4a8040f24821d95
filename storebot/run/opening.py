"""Opens the session of a run: its hold on the database, by what the store file and the settings say."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from storebot.archive.keeping import Keeper
from storebot.core.fingerprint import HASH_VERSION
from storebot.core.month import DAY_MS
from storebot.core.page_sizes import PageSizes
from storebot.core.planner.terms import Orders
from storebot.db.session import Saved, Session, SessionOptions
from storebot.exceptions import StorebotError
from storebot.manners import overridden
from storebot.purse import Purse
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.settings import BaseSettings


def open_session(
    loop: asyncio.AbstractEventLoop,
    url: str,
    options: SessionOptions,
    keeper: Keeper,
    sizes: PageSizes,
    *,
    on_saved: Callable[[Sequence[Saved]], None],
    on_failed: Callable[[StorebotError], None],
) -> Session:
    """Open archive and database, and take the store's lease: waits for them, and so has a thread of its own.

    The callbacks are called in the loop's thread. Raises `StorebotError` where the run can't begin.
    """

    def saved(records: Sequence[Saved]) -> None:
        loop.call_soon_threadsafe(on_saved, records)

    def failed(error: StorebotError) -> None:
        loop.call_soon_threadsafe(on_failed, error)

    keeper.open()
    sizes.begin(keeper.sizes())
    session = Session.open(
        url,
        options,
        on_saved=saved,
        on_failed=failed,
        require_absolute="SCRAPYD_JOB" in os.environ,
        keep=keeper.keep,
    )
    keeper.origin = session.origin
    return session


def session_options(
    store: Store, kind: str, settings: BaseSettings, purse: Purse, spider: Spider | None
) -> SessionOptions:
    """Gather what the store file, the settings and the command line say; of the spider: ``force`` and ``orders``."""
    return SessionOptions(
        store=store.name,
        kind=kind,
        parser_version=store.parser_version,
        hash_version=HASH_VERSION,
        lease_s=settings.getint("STOREBOT_LEASE_S"),
        claim_batch=settings.getint("STOREBOT_CLAIM_BATCH"),
        commit_rows=settings.getint("STOREBOT_COMMIT_ROWS"),
        commit_s=settings.getfloat("STOREBOT_COMMIT_S"),
        revisit_after_ms=store.revisit_after_ms,
        error_backoff_ms=settings.getint("STOREBOT_ERROR_BACKOFF_S") * 1000,
        gate=store.gate.declared,
        delist=store.delist.rules,
        expect=store.expect.of(kind),
        keep_visits_ms=settings.getint("STOREBOT_VISITS_KEEP_DAYS") * DAY_MS,
        currency=purse.currency,
        currencies=dict.fromkeys(purse.table.tiers, purse.currency),
        overrides=overridden(store, settings),
        force=getattr(spider, "force", ""),
        orders=getattr(spider, "orders", Orders()),
        heads=store.refresh.head_pages * len(store.catalogue_urls),
    )
