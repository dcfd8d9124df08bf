"""The gateway's HTTP servers: one on loopback, and one on a Unix socket for sandboxes without a network.

The standard library's server with a thread for each call, not starlette and uvicorn: calls wait for the budget and for
blocking clients, bodies may be packed in ways that starlette does not unpack, and whether an agent has hung up must be
known before anything is forwarded; with them it would take more lines and two packages.
"""

import logging
import os
import socketserver
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from overclock.recipe.gateway.call import BadCallError, Call
from overclock.recipe.gateway.client_connection import Client, read_body

log = logging.getLogger(__name__)
Serve = Callable[[Call, Client], None]
REQUEST_SECONDS = 600.0  # the longest silence in a request, or in the reading of an answer


class Handler(BaseHTTPRequestHandler):
    """Hands each call to `serve`. Any other request of an agent is answered here and costs nothing."""

    protocol_version = "HTTP/1.1"
    timeout = REQUEST_SECONDS
    serve: Serve  # set by the servers below

    def do_GET(self) -> None:
        """Answer with an empty list of models; refuse a WebSocket, so that agents use HTTP at once."""
        if self.headers.get("upgrade"):
            Client(self).problem(426, "upgrade_required", "The gateway speaks plain HTTP.")
        else:
            Client(self).json({"data": [], "models": []})

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        """Serve one call, the only one of its connection, so that no idle connection outlives the gateway."""
        self.close_connection = True
        client = Client(self)
        try:
            body = read_body(self)
            call = Call.parse(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        except BadCallError as error:
            client.problem(error.status, "invalid_request", str(error))
            return
        type(self).serve(call, client)

    def log_message(self, format: str, *args: object) -> None:
        """Write into the log instead of onto the terminal."""
        log.debug(format, *args)


class _Threaded(socketserver.ThreadingMixIn):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Write into the log instead of onto the terminal."""
        log.exception("a call to the gateway failed")


class LoopbackServer(_Threaded, HTTPServer):
    """A server on 127.0.0.1, at a free port."""

    def __init__(self, serve: Serve) -> None:
        super().__init__(("127.0.0.1", 0), _handler(serve))


class UnixServer(_Threaded, socketserver.UnixStreamServer):
    """A server on a Unix socket that only its owner may use."""

    def __init__(self, path: Path, serve: Serve) -> None:
        path.unlink(missing_ok=True)
        super().__init__(str(path), _handler(serve))
        os.chmod(path, 0o600)


def _handler(serve: Serve) -> type[Handler]:
    return type("GatewayHandler", (Handler,), {"serve": staticmethod(serve)})
