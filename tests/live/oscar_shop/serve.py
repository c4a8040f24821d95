"""The shop's server, Django's own, a thread for each connection: prints its port, then serves until it is killed."""

from __future__ import annotations

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler, get_internal_wsgi_application


class Handler(WSGIRequestHandler):
    """Django's handler, whose second packet of each page would wait 40 ms for the client to acknowledge the first."""

    disable_nagle_algorithm = True


if __name__ == "__main__":
    server = ThreadedWSGIServer(("127.0.0.1", 0), Handler)
    server.set_app(get_internal_wsgi_application())
    print(server.server_port, flush=True)
    server.serve_forever()
