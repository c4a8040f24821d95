"""Real receivers of messages on this machine: an HTTP server for Apprise's ``json://``, and an SMTP server."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session


class Receiver:
    """What was got; ``status`` is what is answered."""

    def __init__(self, port: int) -> None:
        self.port, self.status = port, 200
        self.got: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.bodies: list[bytes] = []


@contextmanager
def http_receiver(port: int = 0) -> Iterator[Receiver]:
    """Serve as an HTTP receiver, on a free port unless one is named."""
    receiver = Receiver(port)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.paths.append(self.path)
            receiver.bodies.append(body)
            if receiver.status == 200 and self.headers["Content-Type"] == "application/json":
                receiver.got.append(json.loads(body))
            self.send_response(receiver.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    receiver.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Box:
    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        mail = BytesParser(policy=default).parsebytes(envelope.content)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 OK"


@contextmanager
def smtp_receiver() -> Iterator[tuple[int, list[EmailMessage]]]:
    """Serve as a mail server; yields its port, and the mails that came."""
    box = _Box()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield port, box.mails
    finally:
        controller.stop()
