"""Messages between the verifier and a subject's process: a length, then JSON; arrays as dtype, shape and base64 bytes.

Four bytes (little-endian length) followed by UTF-8 JSON. It is deliberately plain, so that a reference written
in C, Rust or JavaScript can speak it with a few lines.

Requests: `{"call": "reset" | "step" | "set_state" | "describe", ...arguments}`, and whatever further calls the
answer to `describe` lists under `calls`.
Replies: `{"ok": value}` or `{"error": "what went wrong"}`.
"""

import base64
import json
import struct
from typing import Any, BinaryIO

import numpy as np

LENGTH = struct.Struct("<I")


def encode(value: Any) -> Any:
    """A value in which arrays are replaced by JSON objects."""
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        return {
            "dtype": array.dtype.str,
            "shape": list(value.shape),
            "base64": base64.b64encode(array.tobytes()).decode("ascii"),
        }
    if isinstance(value, dict):
        return {str(key): encode(item) for key, item in value.items()}
    return value


def decode(value: Any) -> Any:
    """A value in which the JSON objects of `encode` are arrays again."""
    if isinstance(value, dict):
        if value.keys() == {"dtype", "shape", "base64"}:
            flat = np.frombuffer(base64.b64decode(value["base64"]), np.dtype(value["dtype"]))
            return flat.reshape(value["shape"]).copy()
        return {key: decode(item) for key, item in value.items()}
    return value


def write_message(stream: BinaryIO, message: dict[str, Any]) -> None:
    """Send one message: its length, then its JSON."""
    body = json.dumps(encode(message)).encode()
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()


def read_message(stream: BinaryIO) -> dict[str, Any] | None:
    """Receive one message; None when the other side closed."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    body = stream.read(length)
    if len(body) < length:
        return None
    return decode(json.loads(body))
