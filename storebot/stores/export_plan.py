"""`[schedule.export]` of a store file: which files are written, of what, and to where."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from storebot.core.export.columns import COLUMNS, chosen
from storebot.core.export.filters import parse
from storebot.core.secrets import has_password
from storebot.stores.schedule_values import WHEN, When
from storebot.stores.section import Section
from storebot.stores.texts import distinct, text_of, texts_of
from storebot.stores.values import field_names
from storebot.stores.wording import clipped, nearest, shown, wrong


def place(value: object) -> str:
    """Return a folder or a URL that holds no password: a store file is no place for one, nor is a job's row."""
    expected = 'a folder or a URL such as "s3://bucket/shops"'
    text = text_of(value, expected)
    if not text.isprintable():
        raise wrong(f"expected {expected} on one line")
    if has_password(text):
        raise wrong(f"expected {expected} without a password: give it a key, or the variables that fsspec reads")
    return text


def web_address(value: object) -> str:
    """Return the address of a page."""
    expected = 'an address such as "https://files.example/shops"'
    text = text_of(value, expected)
    if not text.startswith(("http://", "https://")) or not text.isprintable() or " " in text:
        raise wrong(f"expected {expected}, got {clipped(text)}")
    return text


def format_names(value: object) -> tuple[str, ...]:
    """Return names of formats, not yet compared with those that exist."""
    return distinct(texts_of(value, 'a list of formats such as ["csv", "xlsx"]'))


def conditions(value: object) -> tuple[str, ...]:
    """Return conditions, not yet compared with the columns."""
    expected = 'a list of conditions such as ["price<20", "brand=Acme"]'
    found = distinct(texts_of(value, expected))
    for text in found:
        if "\n" in text:
            raise wrong(f"expected {expected}, each on one line, got {clipped(text)}")
    return found


class ExportPlan(Section):
    """What is exported, and when. As a text it says when alone."""

    when: When = Field(description="When they are written: `every DURATION`, or a cron line.")
    formats: Annotated[tuple[str, ...], BeforeValidator(format_names)] = Field(
        default=("csv",), description="In which formats, all in one pass: those of `scrapy export --format`."
    )
    what: Literal["listings", "changes", "offers"] = Field(default="listings", description="The rows of what.")
    columns: Annotated[tuple[str, ...], BeforeValidator(field_names)] = Field(
        default=(), description="These columns, in this order. Without the key: all."
    )
    filter: Annotated[tuple[str, ...], BeforeValidator(conditions)] = Field(
        default=(), description='Only rows that meet all of these conditions: `["price<20", "brand=Acme"]`.'
    )
    out: Annotated[str, BeforeValidator(place)] = Field(
        default="var/exports", description="Where they are put: a folder, or a URL that fsspec knows."
    )
    tell: bool = Field(default=True, description="Whether the business channel is told of it.")
    link: Annotated[str, BeforeValidator(web_address)] | None = Field(
        default=None, description="The web address under which people find `out`, for what they are told."
    )

    @model_validator(mode="before")
    @classmethod
    def _a_text_says_when(cls, value: object) -> object:
        if isinstance(value, str):
            return {"when": value}
        if not isinstance(value, dict):
            raise wrong(f"expected {WHEN}, or a table, got {shown(value)}")
        return value

    @model_validator(mode="after")
    def _the_rows_have_them(self) -> Self:
        known = [column.name for column in COLUMNS[self.what]]
        for name in self.columns:
            if name not in known:
                key, close = "schedule.export.columns", nearest(name, known)
                raise wrong(f"{self.what} have no column {clipped(name)}", key=key, nearest=close)
        chosen(self.what, self.columns)
        try:
            parse(self.what, self.filter)
        except ValueError as error:
            raise wrong(str(error).removeprefix("--filter "), key="schedule.export.filter") from error
        if self.link and not self.tell:
            raise wrong("has no effect, because nobody is told; leave it or tell out", key="schedule.export.link")
        return self

    @property
    def arguments(self) -> dict[str, str]:
        """What it says beside when, as a job's arguments: those of `scrapy export` that aren't its defaults."""
        found = {
            "format": ",".join(self.formats),
            "what": self.what,
            "columns": ",".join(self.columns),
            "filter": "\n".join(self.filter),
            "out": self.out,
            "link": self.link or "",
        }
        defaults = {"format": "csv", "what": "listings", "out": "var/exports"}
        said = {name: text for name, text in found.items() if text != defaults.get(name, "")}
        return said if self.tell else {**said, "no-tell": ""}
