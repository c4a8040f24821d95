"""Headers, languages and countries of `[fetch]`."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.exceptions import StoreFileError
from tests.stores.writing import LEAST, read


def test_headers_are_what_the_file_says(tmp_path: Path) -> None:
    text = "[fetch]\nheaders = {Accept = 'text/html', DNT = '1'}\nlanguage = 'de-DE,de;q=0.9'"
    fetch = read(tmp_path, LEAST + text).fetch
    assert (fetch.headers, fetch.language, fetch.country) == (
        {"Accept": "text/html", "DNT": "1"},
        "de-DE,de;q=0.9",
        None,
    )


@pytest.mark.parametrize("language", ["de", "de-DE", "zh-Hant-TW", "*", "en-GB,en;q=0.9,*;q=0.1", "de, en;q=0"])
def test_languages_are_those_of_the_header(tmp_path: Path, language: str) -> None:
    assert read(tmp_path, f"{LEAST}[fetch]\nlanguage = '{language}'").fetch.language == language


WRONG = {
    "user agent": ("headers = {user-agent = 'me'}", "user-agent can't be set here: politeness.user_agent says it"),
    "language": ("headers = {Accept-Language = 'de'}", "Accept-Language can't be set here: fetch.language says it"),
    "validator": ("headers = {If-None-Match = '\"a\"'}", "storebot sets it, page by page"),
    "cookie": ("headers = {Cookie = 'a=1'}", "storebot keeps the cookies that the shop sets"),
    "host": ("headers = {Host = 'x'}", "it belongs to the connection"),
    "line break": ('headers = {X = "a\\nHost: b"}', "expected printable ASCII on one line for X"),
    "name": ("headers = {'X:' = 'a'}", "got the name"),
    "number": ("headers = {DNT = 1}", "put it in quotes"),
    "twice": ("headers = {DNT = '1', dnt = '0'}", "names a header twice"),
    "no table": ("headers = ['DNT: 1']", "expected a table of headers"),
    "quality": ("language = 'de;q=2'", "expected languages such as"),
    "break": ('language = "de\\n"', "expected languages such as"),
    "small country": ("country = 'de'", "(did you mean 'DE'?)"),
    "country's name": ("country = 'Germany'", "expected an ISO 3166 code"),
}


@pytest.mark.parametrize(("text", "told"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_sent_is_told(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(StoreFileError) as raised:
        read(tmp_path, f"{LEAST}[fetch]\n{text}")
    assert told in str(raised.value)
