"""The agent's side of a connection: reads request bodies in all their forms, and writes answers, whole or streamed."""

import json
import select
import socket
import zlib
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler

from overclock.recipe.gateway.backend import JSON_TYPE, error_body
from overclock.recipe.gateway.call import BadCallError

LARGEST_BODY = 256 * 1024 * 1024
ANY_ZLIB = 47  # window bits that accept gzip and zlib alike


def read_body(handler: BaseHTTPRequestHandler) -> bytes:
    """Read the request's body, with its chunks joined and its compression undone; BadCallError if that fails."""
    if "chunked" in handler.headers.get("transfer-encoding", "").lower():
        body = _read_chunks(handler)
    else:
        length = handler.headers.get("content-length", "0")
        if not length.isdecimal():
            raise BadCallError(400, f"The content-length '{length}' is not a number.")
        body = _read(handler, int(length))
    packing = handler.headers.get("content-encoding", "identity").strip().lower()
    if packing in ("", "identity"):
        return body
    if packing not in ("gzip", "x-gzip", "deflate"):
        raise BadCallError(415, f"The gateway cannot unpack '{packing}'; send the body as it is, or with gzip.")
    return _unpack(body)


def _read_chunks(handler: BaseHTTPRequestHandler) -> bytes:
    body = bytearray()
    while True:
        size = handler.rfile.readline(1024).split(b";")[0].strip()
        try:
            length = int(size, 16)
        except ValueError as error:
            raise BadCallError(400, "The request's body is not in proper chunks.") from error
        if length == 0:
            break
        body += _read(handler, length, already=len(body))
        handler.rfile.readline(1024)
    while handler.rfile.readline(65536).strip():
        pass  # trailers
    return bytes(body)


def _read(handler: BaseHTTPRequestHandler, length: int, already: int = 0) -> bytes:
    if length < 0 or already + length > LARGEST_BODY:
        raise BadCallError(413, f"The request's body is larger than {LARGEST_BODY} bytes.")
    body = handler.rfile.read(length)
    if len(body) < length:
        raise BadCallError(400, "The request's body broke off.")
    return body


def _unpack(body: bytes) -> bytes:
    unpacker = zlib.decompressobj(ANY_ZLIB)
    try:
        unpacked = unpacker.decompress(body, LARGEST_BODY)
    except zlib.error as error:
        raise BadCallError(400, f"The request's body cannot be unpacked: {error}.") from error
    if not unpacker.eof:
        raise BadCallError(413, f"The request's body breaks off, or is larger than {LARGEST_BODY} bytes.")
    return unpacked


class Client:
    """Writes one answer. If the agent has gone, `gone` is set and nothing raised: the call must still be paid."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self.gone = False
        self._begun = False
        self._handler = handler
        self._chunked = handler.request_version != "HTTP/1.0"

    def whole(self, status: int, content_type: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Write an answer of known length."""
        self._head(status, content_type, {**(headers or {}), "content-length": str(len(body))})
        self._write(b"" if self._handler.command == "HEAD" else body)

    def json(self, content: object, status: int = 200) -> None:
        """Write a whole answer whose body is `content` as JSON."""
        self.whole(status, JSON_TYPE, json.dumps(content).encode())

    def problem(self, status: int, reason: str, message: str) -> None:
        """Write an error in the form that all agents show; in the middle of an answer, break the connection instead."""
        if not self._begun:
            self.whole(status, JSON_TYPE, error_body(status, reason, message))

    def begin(self, status: int, content_type: str, headers: Mapping[str, str]) -> None:
        """Write the head of an answer that comes in pieces."""
        self._head(status, content_type, {**headers, **({"transfer-encoding": "chunked"} if self._chunked else {})})

    def send(self, piece: bytes) -> None:
        """Write the next piece at once."""
        if piece:
            self._write(b"%x\r\n%b\r\n" % (len(piece), piece) if self._chunked else piece)

    def end(self) -> None:
        """Write the end of the answer. Without it, the agent sees a connection that broke."""
        if self._chunked:
            self._write(b"0\r\n\r\n")

    def has_left(self) -> bool:
        """Whether the agent has hung up before getting its answer."""
        connection = self._handler.connection
        try:
            readable, _, _ = select.select([connection], [], [], 0)
            self.gone = self.gone or (bool(readable) and connection.recv(1, socket.MSG_PEEK) == b"")
        except OSError:
            self.gone = True
        return self.gone

    def _head(self, status: int, content_type: str, headers: Mapping[str, str]) -> None:
        self._begun = True
        handler = self._handler
        handler.send_response(status)
        handler.send_header("content-type", content_type)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("connection", "close")
        try:
            handler.end_headers()
        except OSError:
            self.gone = True

    def _write(self, content: bytes) -> None:
        if not self.gone:
            try:
                self._handler.wfile.write(content)
            except OSError:
                self.gone = True
