"""The gateway's ears: an HTTP server on loopback, and the same on a unix socket for sandboxes without a network."""

import logging
import os
import socketserver
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from overclock.recipe.gateway.call import BadCallError, Call
from overclock.recipe.gateway.client_connection import Client, read_body

log = logging.getLogger(__name__)
Serve = Callable[[Call, Client], None]
REQUEST_SECONDS = 600.0  # the longest silence in a request, or in the reading of an answer


class Handler(BaseHTTPRequestHandler):
    """Hands each call to `serve`. Everything an agent asks besides is answered here and costs nothing."""

    protocol_version = "HTTP/1.1"
    timeout = REQUEST_SECONDS
    serve: Serve  # set by the servers below

    def do_GET(self) -> None:
        """Lists of models are empty; a WebSocket is not offered, so that agents turn to HTTP at once."""
        if self.headers.get("upgrade"):
            Client(self).problem(426, "upgrade_required", "The gateway speaks plain HTTP.")
        else:
            Client(self).json({"data": [], "models": []})

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        """A call, the only one of its connection: nothing idles, and nothing outlives the gateway."""
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
        """Into the log, not onto the terminal."""
        log.debug(format, *args)


class LoopbackServer(ThreadingHTTPServer):
    """On 127.0.0.1, at a free port."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, serve: Serve) -> None:
        super().__init__(("127.0.0.1", 0), _handler(serve))

    def handle_error(self, request: object, client_address: object) -> None:
        """Into the log, not onto the terminal."""
        log.exception("a call to the gateway failed")


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """On a unix socket that only its owner may use."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: Path, serve: Serve) -> None:
        path.unlink(missing_ok=True)
        super().__init__(str(path), _handler(serve))
        os.chmod(path, 0o600)

    def handle_error(self, request: object, client_address: object) -> None:
        """Into the log, not onto the terminal."""
        log.exception("a call to the gateway failed")


def _handler(serve: Serve) -> type[Handler]:
    return type("GatewayHandler", (Handler,), {"serve": staticmethod(serve)})
