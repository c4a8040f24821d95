"""``scrapy demo`` opens a shop, says where, and ends cleanly; what is wrong is said in one line, with exit code 2."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storebot.demo import DemoClient

ROOT = Path(__file__).resolve().parents[2]


def scrapy_demo(*options: str) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "scrapy", "demo", *options]


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal_and_says_what_to_try(number: signal.Signals) -> None:
    command = scrapy_demo("--products", "7", "--port", "0", "--markup", "plain")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        lines = [running.stdout.readline() for _ in range(5)]
        url = lines[0].split()[6].rstrip("/")
        assert url.startswith("http://127.0.0.1:")
        status = DemoClient(url).status()
        running.send_signal(number)
        assert running.wait(timeout=20) == 0
        assert running.stderr.read() == ""
    assert (status["products"], status["options"]["markup"]) == (7, "plain")
    assert f"{url}/sitemap.xml" in lines[1]
    assert f"curl -X POST '{url}/_demo/advance?changed=11'" in lines[2]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--products", "-3"], "products is -3: give a number from 0 to"),
        (["--markup", "rdfa"], "markup is 'rdfa': choose one of jsonld, microdata, plain, mixed"),
        (["--port", "70000"], "port is 70000"),
        (["--guard", "locks"], "guard is 'locks': choose one of needs_cookies, needs_http2"),
        (["--guard", "needs_http2"], "switch https on"),
        (["--guard", "blocks_always", "--guarded", "("], "the pattern '(' is no regular expression"),
        (["extra"], "takes no argument 'extra'"),
        (["--products", "many"], "invalid int value: 'many'"),
    ],
)
def test_a_bad_option_is_refused_with_a_sentence(options: list[str], sentence: str) -> None:
    done = subprocess.run(scrapy_demo(*options), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_a_port_in_use_is_one_line_and_exit_code_2(taken_port: int) -> None:
    command = scrapy_demo("--port", str(taken_port))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert f"127.0.0.1:{taken_port} (Address already in use)" in done.stderr


def test_a_host_that_is_not_known_is_one_line_and_exit_code_2() -> None:
    done = subprocess.run(
        scrapy_demo("--host", "nowhere.invalid"), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("scrapy demo: can't listen on nowhere.invalid:8400 (")
