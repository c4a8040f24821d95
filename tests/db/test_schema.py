"""The tables that the migrations make are those that the code works with, on each backend."""

from __future__ import annotations

import subprocess
import sys

from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert, inspect, select

from storebot.db.database import Database, upgrade
from storebot.db.schema import REVISION, aliases, listings, metadata, pages, stores
from tests.db.shop import NOW, STORE, Worker, found, listing


class TestSchema:
    def test_a_new_database_and_a_migrated_one_have_the_tables_of_the_code(
        self, database: Database, empty_url: str
    ) -> None:
        """A new one is made without the migrations (`migrate.create`): both ways must lead to one schema."""
        upgrade(empty_url)
        migrated = Database.open(empty_url, create=False)
        described = []
        for made in (database, migrated):
            with made.read() as conn:
                context = MigrationContext.configure(conn, opts={"compare_type": True})
                assert compare_metadata(context, metadata) == []
                tables = sorted(inspect(conn).get_table_names())
                described.append([(name, inspect(conn).get_columns(name)) for name in tables])
        assert str(described[0]) == str(described[1])
        migrated.dispose()

    def test_keys_and_indexes_are_there(self, database: Database) -> None:
        with database.read() as conn:
            looked = inspect(conn)
            for table in metadata.sorted_tables:
                assert looked.get_pk_constraint(table.name)["constrained_columns"] == list(
                    table.primary_key.columns.keys()
                )
                indexes = {index["name"] for index in looked.get_indexes(table.name)}
                assert {index.name for index in table.indexes} <= indexes

    def test_keys_compare_byte_for_byte(self, database: Database) -> None:
        """MySQL's default collation would merge these."""
        shop = Worker(database)
        assert shop.discover("A", "a", "%C3%84", "%c3%84") == 4
        variants = ["A", "a", "Ä", "ä", "ß", "ss"]
        shop.known("v", listings=[listing(variant_id=variant) for variant in variants])
        mine = {row["variant_id"] for row in shop.rows(listings)}
        assert mine == set(variants)
        with database.read() as conn:
            query = select(pages.c.url_key).where(pages.c.url_key == "https://shop.example/p/a")
            assert len(conn.execute(query).all()) == 1
            names = conn.execute(select(pages.c.url_key).order_by(pages.c.url_key)).scalars().all()
            assert names == sorted(names), "and sort so"

    def test_the_longest_keys_fit_an_index(self, database: Database) -> None:
        shop = Worker(database, store="s" * 64)
        longest = "x" * (1100 - len(found("")[0].url_key))
        assert shop.discover(longest + "") == 1
        with database.write() as conn:
            page_id = conn.execute(select(pages.c.id)).scalar_one()
            row = {"store": "s" * 64, "old_key": "k" * 1100, "page_id": page_id, "created_at": NOW}
            conn.execute(insert(aliases), row)
        shop.known(listings=[])
        assert STORE not in {row["name"] for row in shop.rows(stores)}

    def test_long_variant_ids_stay_apart(self, database: Database) -> None:
        shop = Worker(database)
        long = "v" * 300
        shop.known("1", listings=[listing(variant_id=long + "1"), listing(variant_id=long + "2")])
        assert len({row["variant_id"] for row in shop.rows(listings)}) == 2


def test_the_revision_of_the_code_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", "storebot.db:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == REVISION


def test_migrations_can_be_undone(sqlite_url: str) -> None:
    from alembic import command

    database = Database.open(sqlite_url)
    config = Config()
    config.set_main_option("script_location", "storebot.db:migrations")
    with database.write() as conn:
        config.attributes["connection"] = conn
        command.downgrade(config, "base")
        assert set(inspect(conn).get_table_names()) == {"alembic_version"}
    database.dispose()


def test_the_schema_loads_no_dialect() -> None:
    """A dialect of a database that isn't used costs each start a tenth of a second."""
    code = "import sys, storebot.db.schema; print([name for name in sys.modules if 'dialects.' in name])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "mysql" not in said
