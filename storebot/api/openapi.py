"""The OpenAPI document, made of the operations and of the columns of exports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storebot import __version__
from storebot.api.operations import OPERATIONS, Operation, Parameter
from storebot.core.export.columns import CHANGES, LISTINGS, Column
from storebot.exports.formats.jsonl import schema
from storebot.items import Outcome, RunStatus

_TEXT: dict[str, Any] = {"type": "string"}
_MAYBE: dict[str, Any] = {"type": ["string", "null"]}
_TIME: dict[str, Any] = {"type": ["string", "null"], "format": "date-time"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}


def document() -> dict[str, Any]:
    """Return the description of the API (OpenAPI 3.1)."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "storebot",
            "version": __version__,
            "description": "What storebot knows of stores, to read. Times are ISO 8601 in UTC, money is decimal text.",
        },
        "security": [{"token": []}],
        "paths": {one.path: {"get": _get(one)} for one in OPERATIONS},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Listing": _object(id=_COUNT, **_columns(LISTINGS, "listings")),
                "Change": _object(**_columns(CHANGES, "changes")),
                "Run": _run(),
                "Span": _span(),
                "Problem": _object(title=_TEXT, status=_COUNT, detail=_TEXT),
            },
        },
    }


def _get(one: Operation) -> dict[str, Any]:
    return {
        "operationId": one.name,
        "summary": one.about,
        "parameters": [_parameter(parameter) for parameter in one.parameters],
        "responses": {
            "200": {
                "description": "what there is",
                "headers": {"ETag": {"schema": _TEXT}},
                "content": {"application/json": {"schema": _answer(one)}},
            },
            "304": {"description": "it's the same as what If-None-Match names"},
            "400": _problem("a parameter isn't valid"),
            "401": _problem("no token, or one that isn't known"),
            "404": _problem("there is no such store, or listing"),
            "503": _problem("the database can't serve"),
        },
    }


def _answer(one: Operation) -> dict[str, Any]:
    row = {"$ref": f"#/components/schemas/{one.shape}"}
    if not one.many:
        return row
    data: dict[str, Any] = {"type": "array", "items": row}
    if not one.paged:
        return _object(data=data)
    after = {**_COUNT, "description": "what to give as `after` next time"}
    more = {"type": "boolean", "description": "whether there is more already"}
    return _object(data=data, after=after, more=more)


def _parameter(one: Parameter) -> dict[str, Any]:
    kind: dict[str, Any] = (
        dict(_TEXT) if one.least is None else {"type": "integer", "minimum": one.least, "maximum": one.most}
    )
    if one.known:
        kind["enum"] = [*one.known]
    if one.is_time:
        kind["format"] = "date-time"
    if one.default is None:
        return {"name": one.name, "in": "path", "required": True, "description": one.about, "schema": kind}
    if one.least is not None:
        kind["default"] = one.default
    return {"name": one.name, "in": "query", "description": one.about, "schema": kind}


def _columns(columns: Sequence[Column], what: str) -> dict[str, Any]:
    found: dict[str, Any] = schema(what, columns)["properties"]
    return found


def _run() -> dict[str, Any]:
    counts = ("requests", "bytes", "discovered", "change_events", "pages_known", "listings_known")
    return _object(
        id=_COUNT,
        kind=_TEXT,
        status={**_TEXT, "enum": [one.value for one in RunStatus]},
        reason=_TEXT,
        started_at=_TIME,
        finished_at=_TIME,
        parser_version=_TEXT,
        outcomes={
            "type": "object",
            "propertyNames": {"enum": [one.value for one in Outcome]},
            "additionalProperties": _COUNT,
        },
        missed={"type": "array", "items": _TEXT, "description": "what was expected of it and isn't so"},
        **dict.fromkeys(counts, _COUNT),
    )


def _span() -> dict[str, Any]:
    kinds = ["observed", "not observed", "missing"]
    offer = dict.fromkeys(("price", "currency", "availability", "cause"), _MAYBE)
    return _object(kind={**_TEXT, "enum": kinds}, since=_TIME, until=_TIME, looks=_COUNT, **offer)


def _problem(about: str) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": about, "content": content}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
