"""Whether a database is sound: asked of its contents, not only of its door."""

from __future__ import annotations

from sqlalchemy import func, select, text

from storebot.db.database import Database
from storebot.db.schema import metadata, pages
from storebot.exceptions import DatabaseUnavailable


def check(database: Database) -> dict[str, int]:
    """Read the whole structure and count the rows of each table; return the counts.

    Raises `DatabaseUnavailable` where anything can't be read. SQLite's file is checked page by page.
    """
    with database.explaining(), database.read() as conn:
        if conn.dialect.name == "sqlite":
            verdict = conn.execute(text("PRAGMA quick_check(1)")).scalar()
            if verdict != "ok":
                raise DatabaseUnavailable(f"{database} is damaged: {verdict}; restore a backup (`scrapy db backup`)")
        conn.execute(select(pages).limit(1)).all()
        return {
            table.name: int(conn.execute(select(func.count()).select_from(table)).scalar_one())
            for table in metadata.sorted_tables
        }
