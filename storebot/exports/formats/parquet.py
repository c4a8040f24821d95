"""Parquet with types: decimals, times in UTC, lists and maps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from storebot.core.export.cells import jsonable, text
from storebot.core.export.columns import Column, Kind, Row
from storebot.exceptions import ConfigurationError
from storebot.exports.format import Format


class Parquet(Format):
    """One row group of ``GROUP`` rows after another, zstd. ``fields`` of changes are JSON text."""

    name = "parquet"
    suffix = ".parquet"
    about = "Parquet, typed: decimal128(38, 4), timestamps in UTC, lists and maps"
    GROUP = 20_000

    def __init__(self, path: Path, what: str, columns: Sequence[Column]) -> None:
        super().__init__(path, what, columns)
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                f"--format parquet: {error}; install it with `pip install 'storebot[export]'`"
            ) from error
        self._pa = pa
        types = {
            Kind.TEXT: pa.string(),
            Kind.MONEY: pa.decimal128(38, 4),  # ISO 4217 knows up to four decimals
            Kind.INTEGER: pa.int64(),
            Kind.TIME: pa.timestamp("ms", tz="UTC"),
            Kind.LIST: pa.list_(pa.string()),
            Kind.MAP: pa.map_(pa.string(), pa.string()),
            Kind.FIELDS: pa.string(),
        }
        self._schema = pa.schema([pa.field(column.name, types[column.kind]) for column in columns])
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._waiting: list[Row] = []

    def write(self, rows: Sequence[Row]) -> None:
        self._waiting += rows
        self.rows += len(rows)
        if len(self._waiting) >= self.GROUP:
            self._flush()

    def close(self) -> None:
        if self._waiting:
            self._flush()
        self._writer.close()

    @staticmethod
    def count(path: Path) -> int:
        from pyarrow import ArrowException, parquet

        try:
            with parquet.ParquetFile(path) as file:
                return int(sum(batch.num_rows for batch in file.iter_batches(columns=[file.schema_arrow.names[0]])))
        except ArrowException as error:
            raise ValueError(f"no Parquet: {error}") from error

    def _flush(self) -> None:
        arrays = [
            self._pa.array([_value(column, row[column.name]) for row in self._waiting], type=field.type)
            for column, field in zip(self.columns, self._schema, strict=True)
        ]
        self._writer.write_table(self._pa.table(arrays, schema=self._schema))
        self._waiting = []


def _value(column: Column, value: Any) -> Any:
    if column.kind is Kind.FIELDS:
        return text(column, value)
    if column.kind is Kind.MAP:
        return [*jsonable(value).items()] if value is not None else None
    return jsonable(value) if column.kind in (Kind.TEXT, Kind.LIST) else value
