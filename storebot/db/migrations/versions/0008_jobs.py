"""Jobs: what is to run when, who runs it, and each attempt."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, String, UniqueConstraint

from storebot.db.types import STORE_LENGTH, identity, key, text

revision = "0008"
down_revision = "0007"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _small(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


def _string(name: str, length: int) -> Column[str]:
    return Column(name, String(length), nullable=False)


def _text(name: str) -> Column[str]:
    return Column(name, text(), nullable=False)


def upgrade() -> None:
    """Add both tables, empty: the worker fills them from the store files."""
    op.create_table(
        "jobs",
        Column("id", identity(), primary_key=True),
        Column("store", key(STORE_LENGTH), nullable=False),
        _string("kind", 16),
        _text("args"),
        _text("schedule"),
        _string("origin", 16),
        _string("status", 16),
        Column("active_key", key(STORE_LENGTH + 20)),
        _small("priority"),
        Column("next_run_at", BigInteger),
        _number("slot_at"),
        _small("attempts"),
        _small("max_attempts"),
        _small("crashes"),
        _small("blocked"),
        _small("failures"),
        _number("time_limit_s"),
        _string("claim_token", 64),
        _number("claim_expires_at"),
        _string("holder", 255),
        _string("asked", 16),
        _number("started_at"),
        _number("finished_at"),
        _number("done_at"),
        _string("last_verdict", 16),
        _text("last_error"),
        _number("created_at"),
        _string("created_by", 255),
        UniqueConstraint("active_key", name="uq_jobs_active_key"),
        **IN_MYSQL,
    )
    op.create_index("ix_jobs_due", "jobs", ["status", "next_run_at"])
    op.create_table(
        "job_runs",
        Column("id", identity(), primary_key=True),
        Column("job_id", BigInteger, nullable=False),
        Column("store", key(STORE_LENGTH), nullable=False),
        _string("kind", 16),
        Column("token", key(64), nullable=False),
        _string("holder", 255),
        _string("node", 255),
        _text("log"),
        _number("run_id"),
        _number("started_at"),
        Column("finished_at", BigInteger),
        Column("exit_code", Integer),
        _string("verdict", 16),
        _text("reason"),
        UniqueConstraint("token", name="uq_job_runs_token"),
        **IN_MYSQL,
    )
    op.create_index("ix_job_runs_job_id", "job_runs", ["job_id"])


def downgrade() -> None:
    """Drop them: person-made jobs are lost, those of store files come back."""
    op.drop_table("job_runs")
    op.drop_table("jobs")
