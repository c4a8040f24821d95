"""``python -m bench.exports.with_pandas DATABASE FORMAT FILE``: what people write: one query, one frame, one call."""

from __future__ import annotations

import json
import sqlite3
import sys

import pandas as pd

from bench.exports.reading import QUERY, TIMES, limit_memory


def main(database: str, name: str, file: str) -> None:
    """Read all listings and write them in one format."""
    limit_memory()
    frame = pd.read_sql_query(QUERY, sqlite3.connect(database))
    frame["price"] = frame["price_minor"] / 100
    for column in TIMES:
        frame[column] = pd.to_datetime(frame[column], unit="ms")
    if name == "csv":
        frame.to_csv(file, index=False)
    elif name == "jsonl":
        frame.to_json(file, orient="records", lines=True, date_format="iso")
    elif name == "parquet":
        frame.to_parquet(file, compression="zstd")
    else:
        frame.to_excel(file, index=False, engine="xlsxwriter")
    print(json.dumps({"rows": len(frame)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
