"""``python -m bench.exports.with_polars DATABASE FORMAT FILE``: what people write: one query, one frame, one call."""

from __future__ import annotations

import json
import sqlite3
import sys

import polars as pl

from bench.exports.reading import QUERY, TIMES, limit_memory


def main(database: str, name: str, file: str) -> None:
    """Read all listings and write them in one format."""
    limit_memory()
    frame = pl.read_database(QUERY, sqlite3.connect(database), infer_schema_length=None)
    times = [pl.from_epoch(column, time_unit="ms") for column in TIMES]
    frame = frame.with_columns((pl.col("price_minor") / 100).alias("price"), *times)
    if name == "csv":
        frame.write_csv(file)
    elif name == "jsonl":
        frame.write_ndjson(file)
    elif name == "parquet":
        frame.write_parquet(file, compression="zstd")
    else:
        frame.write_excel(file)
    print(json.dumps({"rows": len(frame)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
