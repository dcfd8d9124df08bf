"""The loopback proxy between a coding agent and a model: it meters and records every call and enforces the cap."""

import contextlib
import hmac
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.gateway.backend import Answer, CutError, ModelBackend, UnansweredError, error_body
from overclock.recipe.gateway.budget import Meter, RefusedError, Sharing
from overclock.recipe.gateway.call import Call
from overclock.recipe.gateway.client_connection import Client
from overclock.recipe.gateway.dialects import DIALECTS, DialectName
from overclock.recipe.gateway.exchange import Recorder
from overclock.recipe.gateway.ledger import Ledger, OpenCall, Outcome, UnrecordedError
from overclock.recipe.gateway.prices import Prices
from overclock.recipe.gateway.reader import Reader, data_of, messages, split_events
from overclock.recipe.gateway.server import LoopbackServer, UnixServer
from overclock.recipe.gateway.usage import Usage

PAYMENT_REQUIRED = 402  # ends every agent we know at once, with our message shown
BAD_REQUEST = 400  # the agent may ask otherwise
CLIENT_GONE = 499  # as web servers log it
MAX_OUTPUT = 32_000  # tokens; what Claude Code, Qwen Code and opencode ask for by themselves
PATIENCE = 30.0  # seconds that an answer may go on when nobody reads it any more


class Gateway:
    """Use it as a context manager. Agents are pointed at `base_url(dialect)`.

    `cap` (dollars), `max_calls` and `max_tokens` are hard; they count from `spent`, which a resumed run takes from its
    journal, and together with what `sharing` tells of other runs. After `seconds` no call is taken. A model without a
    price is refused under a cap alone; with `max_tokens` or without a cap it is let through, and its dollars are None.
    With a cap of dollars or tokens, a request of Codex or Gemini that sets no limit of output tokens gets `max_output`
    as its limit: without one, every call would have to reserve the longest answer that the model can give. What a
    provider bills beside the tokens of a model (its own web search, priority tiers) is refused then.
    With a `token`, only agents that present it as their API key are served; give one whenever the backend holds a key,
    since anybody on this machine can reach a loopback port.
    """

    def __init__(
        self,
        backend: ModelBackend,
        *,
        prices: Prices | None = None,
        cap: float | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        seconds: float | None = None,
        sharing: Sharing | None = None,
        spent: Usage = Usage(),
        recorder: Recorder | None = None,
        token: str | None = None,
        max_output: int = MAX_OUTPUT,
        unix_socket: Path | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self._backend, self._token, self._patience = backend, token, patience
        self._meter = Meter(cap, max_calls, spent, max_tokens, seconds, sharing)
        secrets = (*backend.secrets, *([token] if token else []))
        self._ledger = Ledger(self._meter, prices or Prices.load(), recorder, secrets, max_output)
        self._loopback = LoopbackServer(self._serve)
        self._servers: list[LoopbackServer | UnixServer] = [self._loopback]
        self._unix_socket = unix_socket
        if unix_socket is not None:
            try:
                self._servers.append(UnixServer(unix_socket, self._serve))
            except OSError as error:
                self._loopback.server_close()
                raise UsageError(f"Cannot listen at '{unix_socket}': {error}; choose a shorter path.") from error

    def __enter__(self) -> "Gateway":
        for server in self._servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        """Take no more calls; those under way have `patience` seconds to end, and count at their reservation if not.

        Whoever interrupts waits for none of them.
        """
        patience = self._patience if kind is None or issubclass(kind, Exception) else 0.0
        self._meter.close()
        for server in self._servers:
            server.shutdown()
            server.server_close()
        self._meter.wait_until_idle(patience)
        self._ledger.abandon()
        self._backend.close()
        if self._unix_socket is not None:
            with contextlib.suppress(OSError):
                self._unix_socket.unlink()

    def base_url(self, dialect: DialectName, port: int | None = None) -> str:
        """The base URL for an agent of this dialect; `port` is that of a forwarder inside a sandbox."""
        return f"http://127.0.0.1:{port or self._loopback.server_port}{DIALECTS[dialect].prefix}"

    def spent(self) -> Usage:
        """What was paid so far, with the amount at the start."""
        return self._meter.spent()

    def reserved(self) -> float:
        """The most that the calls under way can still cost, in dollars."""
        return self._meter.reserved()

    @property
    def failure(self) -> Exception | None:
        """Why calls could no longer be recorded, or None; after a failure nothing is forwarded."""
        return self._ledger.failure

    def _serve(self, call: Call, client: Client) -> None:
        if self._token and not hmac.compare_digest((call.key or "").encode(), self._token.encode()):
            client.problem(401, "unauthorized", "The gateway wants its own token as the API key.")
            return
        try:
            self._serve_metered(call, client)
        except RefusedError as error:
            status = BAD_REQUEST if error.reason == "not_metered" else PAYMENT_REQUIRED
            body = error_body(status, error.reason, str(error))
            with contextlib.suppress(UnrecordedError):
                self._ledger.refuse(call, status, body)
            client.problem(status, error.reason, str(error))
        except UnrecordedError as error:
            client.problem(500, "not_recorded", f"Nothing is forwarded that cannot be recorded: {error.__cause__}")

    def _serve_metered(self, call: Call, client: Client) -> None:
        opened = self._ledger.open(call)
        if client.has_left():  # it may have waited long for its turn
            self._ledger.close(opened, Outcome(CLIENT_GONE, worked=False))
            return
        try:
            answer = self._backend.answer(opened.call)
        except UnansweredError as error:
            said = error_body(error.status, "no_answer", str(error))
            self._ledger.close(opened, Outcome(error.status, body=said, worked=error.paid))
            client.problem(error.status, "no_answer", str(error))
            return
        except BaseException:  # a bug of ours: nobody knows what it cost
            self._ledger.close(opened, Outcome(500))
            raise
        self._pass_on(opened, answer, client)

    def _pass_on(self, opened: OpenCall, answer: Answer, client: Client) -> None:
        """Pass pieces on as they come; the end of the answer only once the call is recorded."""
        reader = Reader(opened.call.dialect, answer.content_type)
        passed, held = [], []
        if reader.streamed:
            client.begin(answer.status, answer.content_type, answer.headers)
        ended = False
        with contextlib.suppress(CutError):
            for piece in self._while_wanted(answer, client):
                reader.feed(piece)
                if reader.streamed and not reader.finished:
                    passed.append(piece)
                    client.send(piece)
                else:
                    held.append(piece)
            reader.end()
            ended = True
        body = b"".join(held)
        complete = ended and (reader.finished or not reader.streamed)
        whole = b"".join(passed) + body
        worked = answer.status < 400 or reader.tokens is not None  # providers do not bill an error
        outcome = Outcome(answer.status, answer.content_type, whole, complete, reader.tokens, reader.doubt, worked)
        self._ledger.close(opened, outcome)
        if reader.streamed:
            client.send(_without_hidden(opened.call, body))
            if ended:
                client.end()
        elif ended:
            client.whole(answer.status, answer.content_type, body, answer.headers)

    def _while_wanted(self, answer: Answer, client: Client) -> Iterator[bytes]:
        """The pieces of an answer; for a limited time after the agent has gone, to learn what was used."""
        deadline = None
        for piece in answer.chunks:
            yield piece
            if client.gone:
                deadline = deadline or time.monotonic() + self._patience
                if time.monotonic() > deadline:
                    raise CutError("the agent has gone")


def _without_hidden(call: Call, events: bytes) -> bytes:
    """The end of a stream without events that the agent did not ask for (`Dialect.hidden`)."""
    dialect = call.dialect
    if dialect.to_forward(call.json) is call.json:
        return events
    return b"".join(
        event
        for event in split_events(events)
        if not any(dialect.hidden(message) for message in messages(data_of(event)))
    )
