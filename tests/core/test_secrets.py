"""URLs that are secrets: what of them may be seen, and that nothing else of them stays in a text."""

from __future__ import annotations

import pytest

from storebot.core.secrets import has_password, redacted, secret_parts, shown_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://hooks.example/T000/SECRET?key=1", "https://hooks.example/***"),
        ("https://user:pass@hc.example:8000/uuid", "https://hc.example/***"),
        ("tgram://123:TOKEN/456", "tgram://***"),
        ("no address", "***"),
    ],
)
def test_a_url_is_shown_without_what_makes_it_a_secret(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_every_part_of_a_url_is_taken_out_as_it_is_written_and_as_it_is_meant() -> None:
    url = "json://ann:p%40ss-word@hooks.example/T000/SE%20CRET?token=a%2Bb%2Bc"
    secrets = secret_parts(url)
    text = f"POST {url} failed: p@ss-word, SE CRET and /T000/SE%20CRET?token=a%2Bb%2Bc of a+b+c at hooks.example"
    said = redacted(text, secrets)
    assert [
        part for part in ("ann", "p@ss", "p%40ss", "T000", "SE CRET", "SE%20", "a+b+c", "a%2Bb") if part in said
    ] == []
    assert "hooks.example" not in said
    assert said.startswith("POST ")
    assert "hooks.example" in redacted("at hooks.example", secret_parts(url, host=False))


@pytest.mark.parametrize(
    ("url", "has_one"),
    [
        ("sftp://ann:hunter2@files.example/shops", True),
        ("sftp://ann:@files.example/shops", True),
        ("sftp://ann:a@b@files.example", True),
        ("sftp://ann@files.example:2222/a:b@c", False),
        ("s3://bucket/a:b@c", False),
        ("var/exports", False),
        ("C:/exports", False),
    ],
)
def test_a_password_in_an_address_is_seen(url: str, has_one: bool) -> None:
    assert has_password(url) is has_one
