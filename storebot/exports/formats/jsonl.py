"""JSON Lines, with a JSON Schema beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from storebot.core.export.cells import jsonable
from storebot.core.export.columns import Column, Kind, Row
from storebot.exports.format import Format

_TYPES: dict[Kind, dict[str, Any]] = {
    Kind.TEXT: {"type": ["string", "null"]},
    Kind.MONEY: {"type": ["string", "null"], "pattern": r"^-?\d+(\.\d+)?$"},
    Kind.INTEGER: {"type": ["integer", "null"]},
    Kind.TIME: {"type": ["string", "null"], "format": "date-time"},
    Kind.LIST: {"type": "array", "items": {"type": "string"}},
    Kind.MAP: {"type": "object", "additionalProperties": {"type": "string"}},
    Kind.FIELDS: {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"field": {"type": "string"}, "before": {}, "after": {}},
            "required": ["field", "before", "after"],
            "additionalProperties": False,
        },
    },
}


class JSONLines(Format):
    """One object a line, all columns in each: money as decimal text, times as ISO 8601, unknown as null."""

    name = "jsonl"
    suffix = ".jsonl"
    about = "JSON Lines (UTF-8), with a JSON Schema beside"

    def __init__(self, path: Path, what: str, columns: Sequence[Column]) -> None:
        super().__init__(path, what, columns)
        self._file = path.open("wb")

    def write(self, rows: Sequence[Row]) -> None:
        names = [column.name for column in self.columns]
        lines = (orjson.dumps({name: jsonable(row[name]) for name in names}) for row in rows)
        self._file.writelines(line + b"\n" for line in lines)
        self.rows += len(rows)

    def close(self) -> None:
        self._file.close()

    def beside(self) -> Mapping[str, bytes]:
        described = orjson.dumps(schema(self.what, self.columns), option=orjson.OPT_INDENT_2)
        return {".schema.json": described + b"\n"}

    @staticmethod
    def count(path: Path) -> int:
        rows = 0
        with path.open("rb") as file:
            for rows, line in enumerate(file, 1):
                try:
                    orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    raise ValueError(f"line {rows} is no JSON: {error}") from error
        return rows


def schema(what: str, columns: Sequence[Column]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"storebot: one line of {what}",
        "type": "object",
        "properties": {column.name: {**_TYPES[column.kind], "description": column.about} for column in columns},
        "required": [column.name for column in columns],
        "additionalProperties": False,
    }
