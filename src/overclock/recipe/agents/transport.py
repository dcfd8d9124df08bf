"""Sends requests to a model over HTTP: repeats one for a while when the model is busy, never beyond the deadline."""

import dataclasses
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

from overclock.errors import MissingError
from overclock.recipe.agents.outputs import REFUSING
from overclock.recipe.gateway.dialects.fields import Json

BUSY = (408, 409, 429, 500, 502, 503, 504, 529)
RETRIES = 4
FIRST_PAUSE = 1.0  # seconds, doubled each time
LONGEST_PAUSE = 30.0
POLL_S = 0.05  # how soon a stop is noticed while the model thinks
ANSWER_LIMIT = 32 << 20  # bytes
ERROR_SHOWN = 300  # characters


class FailedError(Exception):
    """There is no answer. `refused`: the model's side will accept no further calls."""

    def __init__(self, sentence: str, status: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.refused = status, status in REFUSING


class _BusyError(Exception):
    """A failure that may pass; `seconds` is how long the other side asks to wait."""

    def __init__(self, sentence: str, seconds: float | None = None, status: int | None = None) -> None:
        super().__init__(sentence)
        self.seconds, self.status = seconds, status


class OutOfTimeError(Exception):
    """The deadline passed, or the agent was stopped, before there was an answer."""


@dataclasses.dataclass(frozen=True)
class Connection:
    """Where requests go, until when, and what interrupts them."""

    url: str
    headers: dict[str, str]
    deadline: float  # of time.monotonic
    stop: threading.Event
    pause: Callable[[float], object] | None = None  # how to wait; by default until the stop is set

    def ask(self, body: Json) -> Json:
        """Send a request and return the JSON object of the answer; raises FailedError or OutOfTimeError."""
        pause = FIRST_PAUSE
        for _ in range(RETRIES):
            try:
                return self._try(body)
            except _BusyError as busy:
                seconds = min(pause if busy.seconds is None else busy.seconds, LONGEST_PAUSE)
            if self._left() <= seconds:
                raise OutOfTimeError
            (self.pause or self.stop.wait)(seconds)
            pause *= 2
        try:
            return self._try(body)
        except _BusyError as busy:
            raise FailedError(f"{busy} It was asked {RETRIES + 1} times.", busy.status) from None

    def _left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0 or self.stop.is_set():
            raise OutOfTimeError
        return left

    def _try(self, body: Json) -> Json:
        """One request, in a thread of its own: a thread that waits for a socket cannot be stopped, its waiter can."""
        asked: Future[Json] = Future()

        def ask() -> None:
            try:
                asked.set_result(self._asked(body))
            except BaseException as error:
                asked.set_exception(error)

        threading.Thread(target=ask, daemon=True).start()
        while not asked.done():
            wait([asked], min(self._left(), POLL_S))
        return asked.result()

    def _asked(self, body: Json) -> Json:
        httpx = _httpx()
        try:
            headers = {"content-type": "application/json", **self.headers}
            # Loopback must not go through a proxy, and a gateway is on loopback.
            local = httpx.URL(self.url).host in ("127.0.0.1", "localhost", "::1")
            with (
                httpx.Client(trust_env=not local, timeout=self._left()) as client,
                # Encoded here, because a model's text may hold half a character, which httpx does not encode.
                client.stream("POST", self.url, content=json.dumps(body).encode(), headers=headers) as response,
            ):
                content = bytearray()
                for chunk in response.iter_bytes():
                    content += chunk
                    self._left()  # a time limit of httpx is per chunk, and there may be many small ones
                    if len(content) > ANSWER_LIMIT:
                        raise FailedError(f"The model's answer is longer than {ANSWER_LIMIT} bytes.")
        except httpx.TransportError as error:
            self._left()
            what = str(error) or type(error).__name__
            raise _BusyError(f"The model at {self.url} cannot be reached: {what}.") from error
        except (httpx.InvalidURL, httpx.HTTPError) as error:
            raise FailedError(f"The model at {self.url} cannot be asked: {error}.") from error
        status = response.status_code
        if status >= 400:
            sentence = f"The model answered {status}: {error_message(bytes(content))}"
            if status in BUSY:
                raise _BusyError(sentence, _seconds(response.headers.get("retry-after")), status)
            raise FailedError(sentence, status)
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise FailedError("The model's answer is not JSON.") from error
        if not isinstance(answer, dict):
            raise FailedError("The model's answer is not a JSON object.")
        return answer


def error_message(content: bytes) -> str:
    """The message inside an error of any provider, shortened."""
    text = content.decode(errors="replace").strip()
    try:
        error = json.loads(text)["error"]
        text = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return text[:ERROR_SHOWN] or "nothing"


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.strip().isdecimal() else None  # it may also be a date


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise MissingError(
            "Talking to a model directly needs httpx; install it with `pip install 'overclock[agents]'`."
        ) from error
    return httpx
