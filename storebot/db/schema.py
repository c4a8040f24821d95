"""The tables (DESIGN §4): times are BIGINT milliseconds since the epoch, UTC; JSON is text.

A change here needs a migration, and `REVISION` moves with it; a test compares the two on every backend.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, MetaData, SmallInteger, String, Table
from sqlalchemy import PrimaryKeyConstraint as PrimaryKey
from sqlalchemy import UniqueConstraint as Unique

from storebot.db.types import (
    ALERT_LENGTH,
    GROUP_LENGTH,
    ORIGIN_LENGTH,
    PROXY_LENGTH,
    STAGE_LENGTH,
    STORE_LENGTH,
    URL_KEY_LENGTH,
    USER_LENGTH,
    VARIANT_LENGTH,
    WALK_LENGTH,
    identity,
    key,
    text,
    wide_key,
)

REVISION = "0013"  # the newest migration

metadata = MetaData(
    naming_convention={"ix": "ix_%(table_name)s_%(column_0_name)s", "uq": "uq_%(table_name)s_%(column_0_name)s"}
)
_IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}


def _table(name: str, *parts: Any, **options: Any) -> Table:
    return Table(name, metadata, *parts, **options)


def name_mysql_options() -> None:
    """Tell the tables how MySQL and MariaDB are to create them; nobody else need know.

    SQLAlchemy loads a dialect to check its options: a tenth of a second of each start.
    """
    for table in metadata.tables.values():
        for option, value in _IN_MYSQL.items():
            table.dialect_kwargs[option] = value


def _string(name: str, length: int, **options: Any) -> Column[str]:
    return Column(name, String(length), nullable=False, default="", **options)


def _text(name: str) -> Column[str]:
    return Column(name, text(), nullable=False, default="")


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, default=0)


def _small(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, default=0)


def _added(name: str, kind: type[Integer | Double[Any]]) -> Column[int]:
    """Return a number of a table that had rows before it had this column."""
    return Column(name, kind, nullable=False, default=0, server_default="0")


def _store(**options: Any) -> Column[str]:
    return Column("store", key(STORE_LENGTH), nullable=False, **options)


stores = _table(
    "stores",
    Column("name", key(STORE_LENGTH), primary_key=True),
    _string("lease_token", 64),
    _number("lease_expires_at"),
    _string("lease_holder", 255),
    _number("lease_run_id"),
    _string("breaker_state", 16),
    _number("breaker_opened_at"),
    _text("breaker_reason"),
    _added("breaker_until", BigInteger),  # while it's open: when a run may probe the store again
    _added("breaker_trips", Integer),  # how often it opened in a row: the back-off's exponent
    _added("slow_steps", Integer),  # how often the delay was doubled when the last run ended: core.pacing
    _added("slow_at", BigInteger),
    Column("planner", text()),  # JSON: core.planner.knowledge.Knowledge; NULL: nothing yet
    Column("coverage", text()),  # JSON: db.coverage.Kept, as it was counted last; NULL: never
)

robots = _table(
    "robots",
    _store(),
    Column("origin", key(ORIGIN_LENGTH), nullable=False),  # scheme and authority: each has its own (RFC 9309 §2.3)
    Column("url", text(), nullable=False),  # where it was read, after redirects
    Column("status", Integer, nullable=False),
    Column("body", text(), nullable=False),
    _number("fetched_at"),
    PrimaryKey("store", "origin"),
)

pages = _table(
    "pages",
    Column("id", identity(), primary_key=True),
    _store(),
    Column("url_key", key(URL_KEY_LENGTH), nullable=False),
    Column("url", text(), nullable=False),  # as found: the key says https, this is what is fetched
    Column("status", String(16), nullable=False),
    _string("claim_token", 64),
    _number("claim_expires_at"),
    _small("tries"),  # claims since the last saved visit
    Column("etag", text()),
    Column("last_modified", String(64)),
    Column("sitemap_lastmod", String(64)),
    Column("content_hash", String(64)),  # NULL: no accepted parse stands behind this page
    Column("details_hash", String(64)),
    Column("source_hash", String(32)),
    _small("hash_version"),
    _string("parser_version", 64),
    _number("first_seen_at"),
    Column("fetched_at", BigInteger),  # the last accepted parse
    Column("checked_at", BigInteger),  # the last answer that says something of the page: parsed, 304, 404
    _number("next_due_at"),
    _small("misses"),
    _text("last_error"),
    _string("last_failure", 16),  # outcome of the last visit if it didn't observe the page, else ""
    # What the page's canonical link names: another page's key, or its own key where it has that by its link alone.
    Column("canonical_key", key(URL_KEY_LENGTH)),
    Column("first_missed_at", BigInteger),  # NULL: the last answer of its own address didn't say that it's gone
    Column("missed_by", String(16)),  # the evidence: core.delist.Evidence
    Column("delisted_at", BigInteger),
    Column("unnamed_since", BigInteger),  # complete rounds enough of its source don't name it: when one last did
    Column("stray_hash", String(32)),  # core.soft404, where the last answer was a page without a product
    # What the planner knows of it: core.planner.
    _added("change_credit", Double),
    _added("exposure_h", Double),
    _added("listed_at", BigInteger),  # when a card showed it last
    _added("signal", SmallInteger),  # core.planner.hazard.Flag
    Column("value", Double, nullable=False, default=1, server_default="1"),  # of a change, beside others
    _added("category_id", Integer),
    _added("view_id", BigInteger),  # the catalogue page that shows its card
    Column("card_price_minor", BigInteger),  # as its card showed it last
    _added("card_stock", SmallInteger),  # the same: core.planner.cards.Stock
    Column("carded_at", BigInteger),  # when a card brought a change that its page hasn't confirmed; NULL: none
    Unique("store", "url_key"),
    Index("ix_pages_due", "store", "status", "next_due_at", "id"),  # the order in which pages are claimed
)

categories = _table(
    "categories",
    Column("id", identity(), primary_key=True),
    _store(),
    Column("name", wide_key(GROUP_LENGTH), nullable=False),
    Column("mean", Double, nullable=False, default=0),  # changes an hour
    Column("seen", Double, nullable=False, default=0),  # changes of late, and how many were expected
    Column("expected", Double, nullable=False, default=0),
    _number("at"),
    Unique("store", "name"),
)

catalogue_views = _table(
    "catalogue_views",
    Column("id", identity(), primary_key=True),
    _store(),
    Column("walk", wide_key(WALK_LENGTH), nullable=False),
    Column("number", Integer, nullable=False),
    Column("url", text(), nullable=False),
    _number("viewed_at"),
    _small("cards"),  # that it showed
    _text("shown"),  # JSON: the ids of their pages, in its order
    Unique("store", "walk", "number"),
)

aliases = _table(
    "aliases",
    _store(),
    Column("old_key", key(URL_KEY_LENGTH), nullable=False),
    Column("page_id", BigInteger().with_variant(Integer, "sqlite"), ForeignKey("pages.id"), nullable=False, index=True),
    _string("reason", 32),
    _number("created_at"),
    PrimaryKey("store", "old_key"),
)

listings = _table(
    "listings",
    Column("id", identity(), primary_key=True),
    Column("page_id", BigInteger().with_variant(Integer, "sqlite"), ForeignKey("pages.id"), nullable=False),
    Column("variant_id", wide_key(VARIANT_LENGTH), nullable=False),
    _store(index=True),
    Column("url", text(), nullable=False),
    Column("product_id", text()),
    Column("item_group_id", text()),
    Column("canonical_url", text()),
    Column("name", text()),
    Column("brand", text()),
    Column("gtin", text()),
    Column("mpn", text()),
    Column("sku", text()),
    Column("price_minor", BigInteger),
    Column("regular_price_minor", BigInteger),
    Column("currency", String(3)),
    Column("price_min_minor", BigInteger),
    Column("price_max_minor", BigInteger),
    Column("availability", String(32)),
    Column("condition", text()),
    Column("options", text(), nullable=False),
    Column("category_path", text(), nullable=False),
    Column("main_image", text()),
    Column("images", text(), nullable=False),
    Column("description", text()),
    Column("rating_value", text()),
    Column("review_count", BigInteger),
    Column("seller", text()),
    Column("field_source", text(), nullable=False),
    Column("disagreements", text(), nullable=False),
    Column("record_hash", String(64), nullable=False),
    Column("details_hash", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    _string("missing_why", 16),  # "page": its page is missing; "variant": its page no longer names it
    _string("parser", 255),
    _string("parser_version", 64),
    _string("page_sha256", 64),
    _number("run_id"),
    _string("tier", 16),
    _number("first_seen_at"),
    _number("last_seen_at"),  # while it's active, the page's checked_at is newer: see listings.current_listings
    _number("last_checked_at"),
    _number("last_changed_at"),
    Unique("page_id", "variant_id"),
    # The orders in which a dashboard lists them.
    Index("ix_listings_status", "store", "status", "id"),
    Index("ix_listings_changed", "store", "last_changed_at", "id"),
    Index("ix_listings_price", "store", "price_minor", "id"),
)

offers = _table(
    "offers",
    Column("id", identity(), primary_key=True),
    Column("page_id", BigInteger, nullable=False),
    Column("variant_id", wide_key(VARIANT_LENGTH), nullable=False),
    Column("price_minor", BigInteger),
    Column("regular_price_minor", BigInteger),
    Column("currency", String(3)),
    Column("availability", String(32)),
    # "seen" on the page; "card": on its card; "rebased": the parser moved, not the market; "corrected": the same page
    # read again, at the page's own time.
    _string("cause", 16),
    _number("run_id"),
    _number("at"),
    Index("ix_offers_listing", "page_id", "variant_id"),
)

changes = _table(
    "changes",
    Column("seq", identity(), primary_key=True),
    Column("id", String(64), nullable=False),
    # new | changed | delisted | relisted; missing | returned: of a variant that its page does not name, or names again;
    # corrected: the same page read again by another parser
    Column("type", String(16), nullable=False),
    _store(),
    Column("url_key", key(URL_KEY_LENGTH), nullable=False),
    Column("variant_id", wide_key(VARIANT_LENGTH), nullable=False),
    Column("fields", text(), nullable=False),
    _number("run_id"),
    _number("at"),
    Unique("id"),
    Index("ix_changes_run_id", "run_id"),
    Index("ix_changes_store", "store", "seq"),  # what came after a number, of one store among many
    sqlite_autoincrement=True,  # a consumer remembers the last seq that it read: none is ever given twice
)

holds = _table(
    "holds",
    Column("id", identity(), primary_key=True),
    _store(),
    Column("page_id", BigInteger, nullable=False, index=True),
    Column("url_key", key(URL_KEY_LENGTH), nullable=False),
    Column("run_id", BigInteger, nullable=False, index=True),  # that observed it last
    Column("visit_id", BigInteger, nullable=False),  # its row of the ledger in that run
    Column("kind", String(16), nullable=False),  # what the visit would have been: new | changed | rebased | missing
    Column("status", String(16), nullable=False),  # waiting | held | approved | rejected | superseded
    _string("gate", 16),  # which gate held it; "" while it only waits for the run to be old enough
    _text("reason"),
    _text("facts"),  # JSON: what it adds to the run's tally
    _text("fields"),  # JSON: [{variant_id, type, fields: [{field, before, after}]}]
    _text("visit"),  # JSON: all that publishing it takes; "" once it is decided
    _string("before_hash", 64),  # the page's content_hash that it was compared with; "" for a page never read
    _string("content_hash", 64),  # the one that was seen; "" for a missing page
    _number("created_at"),
    _number("stale_since"),  # as created_at, of the first of a series of holds of one page
    _number("decided_at"),
    _string("decided_by", 255),
    _text("why"),
    Index("ix_holds_open", "store", "status", "id"),
)

derived = _table(
    "derived",
    Column("stage", key(STAGE_LENGTH), nullable=False),
    Column("listing_id", BigInteger, nullable=False, autoincrement=False),
    _string("version", 64),  # of the stage's code: another one makes the row anew
    _string("inputs", 32),  # hash of all that the stage read of the listing; "" where it reads other listings too
    _text("facts"),  # JSON object: the whole of what it says
    Column("number", BigInteger),  # the one fact to sort by: a score, a price in minor units
    Column("group_key", wide_key(GROUP_LENGTH)),  # what listings have in common; NULL: nothing that is believed
    _small("flagged"),  # 1: a person should look
    _number("at"),  # when what it says changed last
    PrimaryKey("stage", "listing_id"),
    Index("ix_derived_group", "stage", "group_key"),
)

tiers = _table(
    "tiers",
    _store(),
    Column("page_type", String(16), nullable=False),
    Column("tier", String(16), nullable=False),
    _number("tries"),  # decayed counts, in thousandths: what is long past weighs little
    _number("successes"),
    _small("failures"),  # in a row, since the last success
    _number("tried_at"),
    _number("worked_at"),
    _number("filled_at"),  # when it last had the fields that a cheaper tier's page lacked
    _number("retry_at"),  # a tier that was left: when it's probed again
    _small("trips"),  # how often it was left, or probed in vain, in a row: the back-off's exponent
    _text("reason"),  # of the last failure
    PrimaryKey("store", "page_type", "tier"),
)

# Which proxies the store has blocked. Those that failed by themselves aren't here: each run tries them again.
proxies = _table(
    "proxies",
    _store(),
    Column("name", key(PROXY_LENGTH), nullable=False),  # core.proxy_pool.names: no password, no user
    _number("rests_until"),
    _small("blocks"),  # rests since it last served: the next one is twice as long
    PrimaryKey("store", "name"),
)

# What was spent, added up: of all requests, those of discovery too. Visits may be forgotten after a while, this isn't.
spending = _table(
    "spending",
    _store(),
    Column("day", Integer, nullable=False, autoincrement=False),  # days since the epoch, UTC
    Column("tier", String(16), nullable=False),
    Column("page_type", String(16), nullable=False),
    Column("currency", String(3), nullable=False),  # "": the tier wasn't priced
    _number("visits"),
    _number("requests"),
    _number("bytes"),
    _number("elapsed_ms"),
    _number("browser_ms"),
    _number("billed"),
    _number("cost_micro"),
    PrimaryKey("store", "day", "tier", "page_type", "currency"),
)

visits = _table(
    "visits",
    Column("id", identity(), primary_key=True),
    Column("run_id", BigInteger, nullable=False, index=True),
    _store(),
    Column("page_id", BigInteger, nullable=False, index=True),  # 0: a page of the catalogue, no row of `pages`
    Column("page_type", String(16), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("http_status", SmallInteger, nullable=False),
    Column("reason", text(), nullable=False),
    Column("tier", String(16), nullable=False),
    Column("requests", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("elapsed_ms", BigInteger, nullable=False),
    Column("rows_written", Integer, nullable=False),
    Column("changes", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    _added("browser_ms", BigInteger),
    _added("billed", Integer),
    _added("cost_micro", BigInteger),
    Column("steps", text()),  # escalations to another tier, one on a line; NULL: none
    Column("lane", String(16), nullable=False, default="", server_default=""),  # why: core.planner.scoring.Lane
)

blocks = _table(
    "blocks",
    Column("id", identity(), primary_key=True),
    Column("run_id", BigInteger, nullable=False, index=True),
    _store(),
    Column("page_id", BigInteger, nullable=False),
    Column("url", text(), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("value", text(), nullable=False),
    Column("vendor", String(64), nullable=False),
    Column("tier", String(16), nullable=False),
    Column("at", BigInteger, nullable=False),
)

checkpoints = _table(
    "checkpoints",
    _store(),
    Column("walk", wide_key(WALK_LENGTH), nullable=False),
    _small("page"),  # all pages up to this one are committed
    _text("params"),
    Column("state", String(16), nullable=False),
    _text("reason"),
    Column("next_url", text()),
    _text("url"),
    _number("run_id"),
    _number("at"),
    PrimaryKey("store", "walk"),
)

catalogue_pages = _table(
    "catalogue_pages",
    _store(),
    Column("walk", wide_key(WALK_LENGTH), nullable=False),
    Column("number", Integer, nullable=False),
    _string("fingerprint", 64),
    _small("entries"),
    _number("run_id"),
    _number("at"),
    PrimaryKey("store", "walk", "number"),
)

scopes = _table(
    "scopes",
    Column("id", identity(), primary_key=True),
    _store(),
    Column("source", String(16), nullable=False),  # sitemap | catalogue | platform | feed
    Column("params", key(64), nullable=False),  # hash of what the store file says of it: another one names other pages
    _small("rounds"),  # that were read whole; the one under way is the next
    _number("begun_at"),  # of the one under way
    Column("whole_from", BigInteger),  # begin and end of the last that was read whole; NULL: none ever was
    Column("whole_at", BigInteger),
    _text("reason"),  # why the last one that was begun isn't whole; "" if it is
    _number("at"),  # when a run last began or ended one
    Unique("store", "source", "params"),
)

# Narrow, because reading a sitemap touches a row for each of its entries: docs/decisions/0022-delisting.md.
namings = _table(
    "namings",
    Column("scope_id", BigInteger, nullable=False, autoincrement=False),
    Column("page_id", BigInteger, nullable=False, autoincrement=False),
    Column("round", Integer, nullable=False),  # the last that named the page
    Column("at", BigInteger, nullable=False),
    PrimaryKey("scope_id", "page_id"),
    sqlite_with_rowid=False,
)

runs = _table(
    "runs",
    Column("id", identity(), primary_key=True),
    _store(index=True),
    Column("kind", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    _text("reason"),
    _number("started_at"),
    Column("finished_at", BigInteger),
    _string("parser_version", 64),
    _small("hash_version"),
    _number("requests"),
    _number("bytes"),
    _text("counts"),  # JSON: outcome -> visits
    _number("discovered"),
    _number("rows_written"),
    _number("rows_skipped"),
    _number("change_events"),
    _number("pages_known"),
    _number("listings_known"),
    _text("walks_reason"),
    Column("overrides", text()),  # JSON: [{what, who, why}]; NULL: none
    Column("plan", text()),  # JSON: db.planned_runs.PlanNote; NULL: it had none
    Column("measured", text()),  # JSON: core.expect.Measures; NULL: it didn't end by itself
    Column("missed", text()),  # JSON: what was expected of it and isn't so, a sentence each; NULL: nothing
    Column("gate", text()),  # JSON: db.gating.gate_note, how its write gate stood at its end; NULL: not known
    sqlite_autoincrement=True,  # a run's number is never given twice
)

jobs = _table(
    "jobs",
    Column("id", identity(), primary_key=True),
    _store(),  # "": all stores
    Column("kind", String(16), nullable=False),  # core.job_kinds
    _text("args"),  # JSON: {name: value}
    _text("schedule"),  # JSON: core.schedule.Schedule; "": it runs once
    Column("origin", String(16), nullable=False),  # file: [schedule] of the store file; person: `scrapy jobs add`
    Column("status", String(16), nullable=False),  # core.jobs.JobStatus
    # store and kind while it may run (pending, running, paused, failed until its next slot); NULL: it's over.
    # Unique, so that no second job of the kind is stacked on it.
    Column("active_key", key(STORE_LENGTH + 20)),
    _small("priority"),  # the highest first
    Column("next_run_at", BigInteger),  # NULL: never by itself
    _number("slot_at"),  # the time that its schedule gives to the present or next occurrence, without jitter
    _small("attempts"),  # of the present occurrence, that failed
    _small("max_attempts"),
    _small("crashes"),  # of these, in a row, whose process or worker died
    _small("blocked"),  # in a row: the exponent of the long back-off
    _small("failures"),  # occurrences that were given up, in a row
    _number("time_limit_s"),
    _string("claim_token", 64),
    _number("claim_expires_at"),  # extended by the heartbeat
    _string("holder", 255),  # the worker's process: db.holders.Holder
    _string("asked", 16),  # what a person wants of it while it runs: "" | cancel | pause
    _number("started_at"),  # the last attempt
    _number("finished_at"),
    _number("done_at"),  # when it ended well last
    _string("last_verdict", 16),  # core.jobs.Verdict of the last attempt; "": there was none
    _text("last_error"),  # why the last attempt didn't end well; "" if it did
    _number("created_at"),
    _string("created_by", 255),
    Unique("active_key"),
    Index("ix_jobs_due", "status", "next_run_at"),
)

# One row an attempt: the history of jobs.
job_runs = _table(
    "job_runs",
    Column("id", identity(), primary_key=True),
    Column("job_id", BigInteger, nullable=False, index=True),
    _store(),
    Column("kind", String(16), nullable=False),
    Column("token", key(64), nullable=False),  # the claim; its process notes its end under it
    _string("holder", 255),  # the job's own process, where it runs on the worker's machine
    _string("node", 255),  # URL of the Scrapyd node that runs it; "": the worker's machine
    _text("log"),  # path of its log, or its address on the node
    _number("run_id"),  # of the table `runs`; 0: it opened none, or not yet
    _number("started_at"),
    Column("finished_at", BigInteger),  # NULL: it runs
    Column("exit_code", Integer),  # NULL: none is known, as of a process that was killed
    _string("verdict", 16),
    _text("reason"),
    Unique("token"),
)

# What is told to people: one row a condition, kept for as long as its comings are counted. core.alerts.alerting
alerts = _table(
    "alerts",
    Column("key", wide_key(ALERT_LENGTH), primary_key=True),  # kind, and what of: "breaker acme"
    Column("kind", String(32), nullable=False),
    _store(),
    _text("text"),  # what it says now
    _text("advice"),  # what to do about it
    _number("since"),  # when it came
    _number("gone_at"),  # since when it isn't there; 0: it is
    _number("told_at"),  # the last message of this coming; 0: none yet
    _small("open"),  # 1: its "cleared" is still to be told
    _small("flapping"),
    _text("starts"),  # JSON: when it came of late
)

# Messages to people, one row a message and recipient: what couldn't be delivered waits here.
outbox = _table(
    "outbox",
    Column("id", identity(), primary_key=True),
    Column("channel", String(16), nullable=False),  # operator | business
    Column("recipient", String(64), nullable=False),  # hash of its URL, which is a secret
    _string("service", 32),  # what the recipient is: mailto, slack …
    Column("alert_key", wide_key(ALERT_LENGTH), nullable=False),
    _string("severity", 16),
    _text("title"),
    _text("body"),
    Column("status", String(16), nullable=False),  # waiting | sent | dead
    _number("created_at"),
    _number("next_try_at"),
    _small("attempts"),
    _number("done_at"),  # when it was sent, or given up
    _text("last_error"),
    Index("ix_outbox_due", "status", "channel", "id"),
    sqlite_autoincrement=True,
)

channels = _table(
    "channels",
    Column("name", key(16), primary_key=True),
    _string("lease_token", 64),  # of the process that sends now
    _number("lease_expires_at"),
    _number(
        "seen_seq"
    ),  # the newest change that there was at seen_at: once that is a while ago, all before it are seen
    _number("seen_at"),
    _number("safe_seq"),  # changes up to this one are certainly committed
    _number("done_seq"),  # changes up to this one are told, or nobody's business
    _number("digest_at"),
)

# What a digest told of a listing, so that one that goes back and forth isn't told each time.
told = _table(
    "told",
    Column("watch", wide_key(64), nullable=False),
    Column("subject", key(64), nullable=False),  # hash of store, page, variant and field
    _number("at"),
    _text("news"),  # JSON: core.alerts.digest.News, as it was told
    _text("waiting"),  # JSON: the newest since then, to be told when the cool-down is over; "": none
    PrimaryKey("watch", "subject"),
)

# Receivers of webhooks. core.webhooks.subscription
subscriptions = _table(
    "subscriptions",
    Column("id", identity(), primary_key=True),
    Column("url", text(), nullable=False),
    _string("secret_env", 255),  # the variable of the environment that has its secrets
    _text("stores"),  # JSON: names; []: all
    _text("types"),  # JSON, the same
    _text("fields"),  # JSON, the same
    _small("most_changes"),  # in one message
    _small("allow_private"),
    _text("ended"),  # why nothing is sent any more; "": it's active
    _number("created_at"),
    _string("created_by", 255),
    _string("lease_token", 64),  # of the process that sends to it now
    _number("lease_expires_at"),
    sqlite_autoincrement=True,
)

# Up to which change a store's changes are sent to a subscription, given up, or not wanted. No row: from the first.
cursors = _table(
    "cursors",
    Column("subscription_id", BigInteger, nullable=False, autoincrement=False),
    _store(),
    _number("seq"),
    PrimaryKey("subscription_id", "store"),
)

# One row a message. What it says is made of its changes each time: they never change.
deliveries = _table(
    "deliveries",
    Column("id", identity(), primary_key=True),
    Column("subscription_id", BigInteger, nullable=False),
    _store(),
    Column("message_id", String(64), nullable=False),  # core.webhooks.message: the same changes have the same
    _number("after_seq"),  # it has those of the store's changes that are wanted, after this one
    _number("last_seq"),  # up to this one
    _small("changes"),  # how many
    Column("status", String(16), nullable=False),  # waiting | delivered | dead
    _number("created_at"),
    _number("next_try_at"),
    _small("attempts"),  # that were made
    _small("http_status"),  # of the last; 0: there was no answer
    _number("done_at"),
    _text("last_error"),
    Index("ix_deliveries_due", "subscription_id", "status", "done_at"),
    sqlite_autoincrement=True,
)

# Visits added up while they are saved: what a page of the dashboard needn't count over a million of them.
tallies = _table(
    "tallies",
    Column("run_id", BigInteger, nullable=False, autoincrement=False),
    Column("at", BigInteger, nullable=False, autoincrement=False),  # begin of its `db.tallies.SPAN_MS`
    Column("page_type", String(16), nullable=False),
    Column("tier", String(16), nullable=False),
    Column("outcome", String(16), nullable=False),
    _store(),
    _number("visits"),
    _number("requests"),
    _number("bytes"),
    _number("elapsed_ms"),
    PrimaryKey("run_id", "at", "page_type", "tier", "outcome", "store"),
    Index("ix_tallies_store", "store", "at"),
)

# Who may look at the dashboard, and who may act.
users = _table(
    "users",
    Column("name", wide_key(USER_LENGTH), primary_key=True),
    Column("role", String(16), nullable=False),  # core.dashboard.roles.Role
    _string("password_hash", 255),  # Argon2, with its parameters
    _number("created_at"),
    _string("created_by", 255),
    _number("password_at"),  # when it was set last: sessions from before are over
    _number("seen_at"),  # the last login
)

logins = _table(
    "logins",
    Column("token_hash", key(64), primary_key=True),  # SHA-256 of what the cookie has
    Column("user", wide_key(USER_LENGTH), nullable=False, index=True),
    _number("created_at"),
    _number("used_at"),
)

# What people did at the dashboard. A row is there before the deed; without a result its process died over it.
audit = _table(
    "audit",
    Column("id", identity(), primary_key=True),
    _number("at"),
    Column("who", wide_key(USER_LENGTH), nullable=False),
    Column("verb", String(32), nullable=False),
    _string("store", STORE_LENGTH),  # "": none in particular
    _text("subject"),  # of what kind and which: "holds 3, 4"
    _text("why"),  # what the person said
    _string("result", 16),  # done | refused | failed; "" while it's under way
    _text("text"),  # what was done, or why not
    _number("ended_at"),
    sqlite_autoincrement=True,
)
