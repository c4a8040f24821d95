"""Tests of `storebot.db`: the same classes on SQLite, MariaDB and PostgreSQL."""
