"""`[fetch.attached]`: a browser that runs, Kameleo, a local API; and what of it doesn't fit together."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.exceptions import StoreFileError
from storebot.stores.fetch_attached import Attached
from tests.stores.writing import LEAST, read

GOLOGIN = """
profiles = ["a", "b"]
[fetch.attached.start]
method = "POST"
url = "http://localhost:36912/browser/start-profile"
body = {profileId = "{profile}", sync = true}
endpoint = "{wsUrl}"
[fetch.attached.stop]
method = "POST"
url = "http://localhost:36912/browser/stop-profile"
body = {profileId = "{profile}"}
"""
MULTILOGIN = """
key_env = "MLX_TOKEN"
headers = {Authorization = "Bearer {key}"}
expect = {"status.http_code" = 200}
[fetch.attached.create]
method = "POST"
url = "https://api.example/profile/create"
body = {name = "{name}", parameters = {proxy = {host = "{proxy.host}", port = "{proxy.port}"}}}
profile = "{data.ids.0}"
[fetch.attached.start]
url = "https://launcher.example/profile/f/folder/p/{profile}/start?automation_type=playwright"
endpoint = "http://127.0.0.1:{data.port}"
[fetch.attached.stop]
url = "https://launcher.example/profile/stop/p/{profile}"
[fetch.attached.delete]
method = "POST"
url = "https://api.example/profile/remove"
body = {ids = ["{profile}"]}
"""


def attached(tmp_path: Path, keys: str) -> Attached:
    """Return the section of a store file with these keys."""
    found = read(tmp_path, f'{LEAST}\n[fetch]\ntiers = ["http", "attached"]\n[fetch.attached]\n{keys}\n').fetch.attached
    assert found is not None
    return found


@pytest.mark.parametrize(
    "keys", ['endpoint = "ws://h:9/devtools/browser/1"', 'endpoint_env = "CDP"', 'vendor = "kameleo"']
)
def test_a_browser_is_named_in_one_way(tmp_path: Path, keys: str) -> None:
    assert attached(tmp_path, keys).concurrency == 1


def test_local_apis_are_described_by_their_calls(tmp_path: Path) -> None:
    assert len(attached(tmp_path, GOLOGIN).calls) == 2
    found = attached(tmp_path, MULTILOGIN)
    assert len(found.calls) == 4
    assert (found.expect, found.timeout_s) == ({"status.http_code": 200}, 90.0)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("", r"fetch\.attached: expected an endpoint, a vendor, or a start section"),
        ('endpoint = "http://user:secret@h:1"', r"one with a password or key belongs into endpoint_env"),
        ('endpoint = "localhost:9222"', r"fetch\.attached\.endpoint: expected an address such as"),
        ('endpoint = "http://h:1"\nendpoint_env = "X"', r"endpoint_env: has no effect beside endpoint"),
        ('endpoint = "http://h:1"' + GOLOGIN, r"endpoint: has no effect beside the start section"),
        ('vendor = "kameleo"' + GOLOGIN, r"vendor: has no effect beside the start section"),
        ('vendor = "adspower"', r"fetch\.attached\.vendor"),
        ('endpoint = "http://h:1"\n[fetch.attached.stop]\nurl = "http://h/"', r"stop: has no effect without a start"),
        (
            GOLOGIN.partition("[fetch.attached.stop]")[0],
            r"stop: is missing: a profile that is started",
        ),
        (GOLOGIN.replace('profiles = ["a", "b"]', ""), r"profiles: is missing: expected ids of profiles, or a create"),
        (MULTILOGIN.partition("[fetch.attached.delete]")[0], r"delete: is missing: a profile that is made"),
        (MULTILOGIN.replace('key_env = "MLX_TOKEN"', ""), r"key_env: is missing: \{key\} is used"),
        ('key_env = "X"' + GOLOGIN, r"key_env: has no effect, because nothing says \{key\}"),
        (GOLOGIN.replace("{profile}", "{profil}"), r"has \{profil\}: expected one of .*did you mean 'profile'"),
        (GOLOGIN.replace("start-profile", "{key}"), r"has a secret in its url"),
        ('key_env = "k-3!"' + GOLOGIN, r"key_env: expected the name of an environment variable, got 4 characters"),
        ("expect = {}" + GOLOGIN, r"expect: expected a table of paths"),
    ],
)
def test_what_does_not_fit_together_is_told(tmp_path: Path, keys: str, told: str) -> None:
    with pytest.raises(StoreFileError, match=told) as raised:
        attached(tmp_path, keys)
    assert "secret@" not in str(raised.value)
    assert "k-3!" not in str(raised.value)


def test_a_tier_without_a_browser_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreFileError, match=r'fetch\.attached: is missing: fetch\.tiers lists "attached"'):
        read(tmp_path, f'{LEAST}\n[fetch]\ntiers = ["attached"]\n')
