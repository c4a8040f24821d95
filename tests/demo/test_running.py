"""The demo store runs in a thread or a process, serves over HTTP, and is steered from outside."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from storebot.demo import DemoClient, DemoProcess, DemoStore
from storebot.exceptions import ConfigurationError


@pytest.fixture
def store() -> Iterator[DemoStore]:
    with DemoStore(products=30, seed=3) as opened:
        yield opened


def fetch(url: str, method: str = "GET", **headers: str) -> tuple[int, bytes, http.client.HTTPMessage]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def test_every_product_is_served_and_counted(store: DemoStore) -> None:
    truth = store.truth()
    assert len(truth) == 30
    for row in truth:
        status, body, headers = fetch(row["url"])
        assert status == 200
        assert row["sku"].encode() in body
        assert headers["Content-Type"] == "text/html; charset=utf-8"
    requests = store.requests()
    assert requests.full["product"] == requests.total == 30
    assert requests.bytes["product"] > 30 * 60_000
    assert requests.paths("/p/") == {urlsplit(row["url"]).path: 1 for row in truth}


def test_a_304_is_true_over_http_and_counted_apart(store: DemoStore) -> None:
    url = store.truth()[0]["url"]
    _, _, headers = fetch(url)
    status, body, again = fetch(url, **{"If-None-Match": headers["ETag"]})
    assert (status, body, again["ETag"]) == (304, b"", headers["ETag"])
    requests = store.requests()
    assert (requests.full["product"], requests.not_modified["product"]) == (1, 1)
    assert requests.count(urlsplit(url).path, status=304) == 1


def test_head_gives_the_headers_without_the_body(store: DemoStore) -> None:
    url = store.truth()[0]["url"]
    full = fetch(url)
    status, body, headers = fetch(url, method="HEAD")
    assert (status, body, headers["Content-Length"]) == (200, b"", str(len(full[1])))
    assert fetch(url, method="POST")[0] == 405


def test_the_query_is_counted_but_does_not_change_the_page(store: DemoStore) -> None:
    url = store.truth()[0]["url"]
    assert fetch(f"{url}?variant=x")[1] == fetch(url)[1]
    assert store.requests().count(f"{urlsplit(url).path}?variant=x") == 1


def test_the_clock_moves_the_truth_and_the_pages(store: DemoStore) -> None:
    before = {row["id"]: row for row in store.truth()}
    changes = store.advance(changed=3, vanished=1, vanished_status=410, appeared=2)
    after = {row["id"]: row for row in store.truth()}
    assert [change.kind for change in changes[3:]] == ["vanished", "appeared", "appeared"]
    assert {change.id for change in changes[:3]} == {
        key for key in after if key in before and after[key] != before[key]
    }
    assert fetch(changes[3].url)[0] == 410
    assert fetch(changes[4].url)[0] == 200
    assert store.status()["products"] == 31


def test_lies_are_told_over_http_until_honest(store: DemoStore) -> None:
    url = store.truth()[0]["url"]
    store.lie("too_many", pattern="/p/", retry_after=3)
    status, _, headers = fetch(url)
    assert (status, headers["Retry-After"]) == (429, "3")
    assert fetch(f"{store.url}/robots.txt")[0] == 200
    assert [lie["name"] for lie in store.lies()["active"]] == ["too_many"]
    store.honest()
    assert fetch(url)[0] == 200
    assert store.requests().other["product"] == 1


def test_a_cut_connection_breaks_after_half_of_the_promised_body(store: DemoStore) -> None:
    url = store.truth()[0]["url"]
    whole = fetch(url)[1]
    store.lie("cut", times=1)
    with pytest.raises(http.client.IncompleteRead) as broken:
        fetch(url)
    assert broken.value.partial == whole[: len(whole) // 2]
    assert fetch(url)[1] == whole


def test_a_slow_answer_comes_and_others_overtake_it(store: DemoStore) -> None:
    url = store.truth()[0]["url"]
    store.lie("slow", pattern="/p/", delay_s=30.0)
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as waiting:
        waiting.sendall(f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        while not store.requests().arrivals["product"]:
            pass
        assert fetch(f"{store.url}/robots.txt")[0] == 200
        assert store.requests().max_concurrent == 2


def test_counts_are_forgotten_on_reset_and_control_is_never_counted(store: DemoStore) -> None:
    fetch(f"{store.url}/")
    store.reset_counts()
    store.status()
    assert store.requests().total == 0


def test_control_takes_a_query_as_well_for_people_with_curl(store: DemoStore) -> None:
    status, body, _ = fetch(f"{store.url}/_demo/advance?changed=2&seed=7", method="POST")
    assert (status, len(json.loads(body)["changes"])) == (200, 2)
    assert fetch(f"{store.url}/_demo/lie?name=challenge&times=1", method="POST")[0] == 200
    assert b"challenge-platform" in fetch(f"{store.url}/")[1]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda client: client.advance(changed=31), "the shop sells 30"),
        (lambda client: client.advance(chnaged=1), "advance takes"),
        (lambda client: client.advance(changed="many"), "advance takes"),
        (lambda client: client.lie("sloth"), "no lie 'sloth'"),
    ],
)
def test_what_control_refuses_comes_back_as_its_sentence(store: DemoStore, call: Any, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        call(store)
    assert fetch(f"{store.url}/_demo/nothing")[0] == 404


def test_nobody_listens_once_the_store_is_closed() -> None:
    with DemoStore(products=3) as store:
        url = store.url
    with pytest.raises(urllib.error.URLError):
        DemoClient(url).status()


def test_a_port_in_use_is_an_error_of_the_block(store: DemoStore) -> None:
    port = urlsplit(store.url).port
    with pytest.raises(OSError, match="in use"), DemoStore(port=port or 0):
        pass


def test_a_process_of_its_own_serves_the_same_shop_and_ends_with_the_block(store: DemoStore) -> None:
    with DemoProcess(products=30, seed=3) as apart:
        there = [{**row, "url": "", "images": []} for row in apart.truth()]
        assert there == [{**row, "url": "", "images": []} for row in store.truth()]
        assert len(apart.advance(changed=4)) == 4
        process = apart.process
    assert process is not None
    assert process.returncode == 0


def test_a_process_ends_when_its_parent_is_gone() -> None:
    with DemoProcess(products=3) as apart:
        assert apart.process is not None
        assert apart.process.stdin is not None
        apart.process.stdin.close()
        assert apart.process.wait(timeout=20) == 0


def curl(store: DemoClient, url: str, *options: str) -> list[str]:
    """Return the status and the HTTP version of one answer, as curl tells them."""
    command = ["curl", "--silent", "--noproxy", "*", "--cacert", str(store.certificate), "--output", "/dev/null"]
    wanted = ["--write-out", "%{http_code} %{http_version}"]
    return subprocess.run(
        [*command, *wanted, *options, url], capture_output=True, text=True, check=False
    ).stdout.split()


@pytest.mark.parametrize("kind", [DemoStore, DemoProcess])
def test_https_speaks_both_versions_and_the_guard_wants_the_second(kind: type[DemoStore] | type[DemoProcess]) -> None:
    with kind(products=3, https=True, guard="needs_http2") as store:
        url = store.truth()[0]["url"]
        assert url.startswith("https://127.0.0.1:")
        assert curl(store, url, "--http1.1") == ["403", "1.1"]
        assert curl(store, url, "--http2", "--user-agent", "me", "--cookie", "visitor=7") == ["200", "2"]
        assert curl(store, url, "--http2", "--header", "X-Demo-Front: guess 3 10.0.0.1", "--head") == ["200", "2"]
        requests = store.requests()
        assert requests.by("http", "product") == {"1.1": 1, "2": 2}
        assert requests.by("address") == {"127.0.0.1": 3}
        assert requests.by("agent", status=200)["me"] == 1
        assert requests.by("visitor", status=200) == {"7": 1, "": 1}
        store.lie("cut")
        assert curl(store, url, "--http2", "--fail") == ["200", "2"]
        store.honest()
        assert curl(store, url, "--http1.1") == ["200", "1.1"]


def test_a_guard_stands_from_the_opening_on_before_what_it_guards() -> None:
    with DemoStore(products=3, guard="blocks_always", guarded="^/catalogue/") as store:
        assert fetch(f"{store.url}/catalogue/page-1.html")[0] == 403
        assert fetch(store.truth()[0]["url"])[0] == 200
        assert [lie["name"] for lie in store.lies()["active"]] == ["blocks_always"]


def test_a_guard_with_a_bad_pattern_is_an_error_of_the_block() -> None:
    with pytest.raises(ConfigurationError, match="no regular expression"), DemoStore(guard="api_only", guarded="["):
        pass
