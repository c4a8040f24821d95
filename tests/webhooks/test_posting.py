"""What a message may reach, and how long it takes at most."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from pathlib import Path

import pytest

from storebot.core.webhooks.answers import Answer
from storebot.demo.certificate import write_certificate
from storebot.webhooks import posting
from storebot.webhooks.posting import post
from tests.webhooks.receiving import Receiver, closed_port, status


def say(url: str, *, allow_private: bool = True, timeout_s: float = 5) -> Answer:
    return post(url, {"webhook-id": "1"}, b"{}", allow_private=allow_private, timeout_s=timeout_s)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0x7f.1"])
def test_a_private_address_is_not_posted_to_unless_it_is_allowed(host: str, receiver: Receiver) -> None:
    answer = say(f"http://{host}:{receiver.port}/", allow_private=False)
    assert "it isn't posted to, because" in answer.reason
    assert "is in a private network" in answer.reason
    assert receiver.got == []


def test_a_name_that_leads_into_a_private_network_is_not_connected_to(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(host: str, port: int, *args: object, **options: object) -> list[object]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("93.184.215.14", "10.0.0.1")
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    answer = say(f"http://hooks.example.com:{receiver.port}/", allow_private=False)
    assert answer.reason == (
        "it isn't posted to, because hooks.example.com, which is 10.0.0.1, is in a private network"
    )


def test_where_clouds_keep_their_secrets_is_never_posted_to() -> None:
    assert "where clouds keep their secrets" in say("http://169.254.169.254/latest/").reason


def test_tls_is_verified_for_the_name_although_the_address_is_connected_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = write_certificate(tmp_path, "127.0.0.1")
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(mine.certificate, mine.key)
    trusting = ssl.create_default_context(cafile=str(mine.certificate))
    with socket.create_server(("127.0.0.1", 0)) as plain:
        thread = threading.Thread(target=_serve_tls, args=(plain, serving, 3))
        thread.start()
        port = plain.getsockname()[1]
        assert "certificate verify failed" in say(f"https://localhost:{port}/").reason
        monkeypatch.setattr(posting, "_tls", lambda: trusting)
        assert say(f"https://localhost:{port}/") == Answer(200)

        def resolve(host: str, port: int, *args: object, **options: object) -> list[object]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        assert "Hostname mismatch" in say(f"https://other.example:{port}/").reason
        thread.join()


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.script = [status(302, Location=receiver.url)]
    assert say(receiver.url).reason == "it answered 302: redirects aren't followed, give the new address"
    assert len(receiver.got) == 1


def test_what_is_no_answer_has_a_reason() -> None:
    assert say(f"http://127.0.0.1:{closed_port()}/").reason.startswith("can't connect: ")
    assert "has no address" in say(f"http://{'x' * 70}.example/", allow_private=False).reason
    for sent, reason in ((b"SSH-2.0-OpenSSH\r\n\r\n", "its answer is no HTTP/1.1"), (b"", "it hung up before")):
        with socket.create_server(("127.0.0.1", 0)) as server:
            thread = threading.Thread(target=_serve, args=(server, sent))
            thread.start()
            assert say(f"http://127.0.0.1:{server.getsockname()[1]}/").reason.startswith(reason)
            thread.join()


def test_an_answer_that_drips_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_drip, args=(server,))
        thread.start()
        began = time.monotonic()
        assert say(f"http://127.0.0.1:{server.getsockname()[1]}/", timeout_s=0.3).reason == "no answer within 0.3 s"
        assert time.monotonic() - began < 3
        thread.join()


def _serve(server: socket.socket, sent: bytes) -> None:
    conn, _ = server.accept()
    with conn:
        conn.recv(65_536)
        conn.sendall(sent)


def _serve_tls(server: socket.socket, context: ssl.SSLContext, times: int) -> None:
    for _ in range(times):
        conn, _ = server.accept()
        with conn:
            try:
                with context.wrap_socket(conn, server_side=True) as secure:
                    secure.recv(65_536)
                    secure.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
            except OSError:
                continue  # who asked doesn't trust it, which is what the test wants


def _drip(server: socket.socket) -> None:
    conn, _ = server.accept()
    with conn:
        try:
            for byte in b"HTTP/1.1 200 OK\r\n" + b"X: " + b"x" * 200:
                conn.sendall(bytes([byte]))
                time.sleep(0.05)
        except OSError:
            return  # who asked is gone, which is what the test wants
