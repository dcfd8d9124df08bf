"""Answers calls from a recording: the same run again, without a provider and without paying."""

import dataclasses
import json
import threading
from collections.abc import Iterable, Iterator

from overclock.recipe.gateway.backend import Answer, CutError, UnansweredError
from overclock.recipe.gateway.call import Call
from overclock.recipe.gateway.dialects import DIALECTS, Dialect, Json
from overclock.recipe.gateway.exchange import Exchange
from overclock.recipe.gateway.normalise import fingerprint, first_difference, normalised
from overclock.recipe.gateway.reader import EVENT_STREAM, split_events

DOES_NOT_FIT = 422  # not 409, which clients take for something that passes


@dataclasses.dataclass
class _Recorded:
    exchange: Exchange
    request: Json  # normalised
    fingerprint: str
    shape: tuple
    used: bool = False


class Cassette:
    """Each recorded answer is given once; `exchanges` are closed ones, in the order in which they were opened.

    A call gets the first unused answer to a request that is equal but for ids, dates, durations and the two folders of
    `moved`. If there is none it gets, in recorded order, the first unused answer to a request of the same shape: same
    dialect, model and tools, and as many prompts, tool results and answers before it. Otherwise it is refused with the
    first difference. Answers are given as they were, but in the second folder of `moved` instead of the first.
    """

    secrets: tuple[str, ...] = ()

    def __init__(self, exchanges: Iterable[Exchange], moved: tuple[str, str] | None = None) -> None:
        self._moved = moved
        self._taking = threading.Lock()
        self._recorded = [self._prepare(exchange) for exchange in exchanges]

    def unused(self) -> int:
        """The number of answers that nobody has asked for yet."""
        with self._taking:
            return sum(not recorded.used for recorded in self._recorded)

    def answer(self, call: Call) -> Answer:
        exchange = self._take(call)
        if not exchange.content_type:
            paid = exchange.charged == "reservation"
            raise UnansweredError("The recorded call got no answer.", paid=paid, status=exchange.status or 502)
        text = exchange.response if self._moved is None else exchange.response.replace(*self._moved)
        return Answer(exchange.status or 200, exchange.content_type, _chunks(exchange, text.encode()))

    def close(self) -> None:
        """Do nothing: a recording holds no connection."""

    def _prepare(self, exchange: Exchange) -> _Recorded:
        dialect, request = DIALECTS[exchange.dialect], json.loads(exchange.request)
        shape = _shape(dialect, exchange.operation, exchange.model, exchange.streamed, request)
        request = normalised(request, self._moved or ())
        return _Recorded(exchange, request, fingerprint(request), shape)

    def _take(self, call: Call) -> Exchange:
        request = normalised(call.json, self._moved or ())
        shape, mark = _shape(call.dialect, call.operation, call.model, call.streams, call.json), fingerprint(request)
        with self._taking:
            unused = [recorded for recorded in self._recorded if not recorded.used]
            fitting = [recorded for recorded in unused if recorded.shape == shape]
            equal = [recorded for recorded in fitting if recorded.fingerprint == mark]
            if not fitting:
                raise UnansweredError(self._conflict(call, request, unused), paid=False, status=DOES_NOT_FIT)
            chosen = (equal or fitting)[0]
            chosen.used = True
            return chosen.exchange

    def _conflict(self, call: Call, request: Json, unused: list[_Recorded]) -> str:
        if not unused:
            return f"The recording has no more answers: all {len(self._recorded)} are used."
        expected = unused[0]
        for what, recorded, asked in (
            ("dialect", expected.exchange.dialect, call.dialect.name),
            ("operation", expected.exchange.operation, call.operation),
            ("model", expected.exchange.model, call.model),
            ("streaming", expected.exchange.streamed, call.streams),
        ):
            if recorded != asked:
                return f"The call does not fit the recording: {what} is {asked!r}, recorded was {recorded!r}."
        return f"The call does not fit the recording: {first_difference(expected.request, request)}."


def _shape(dialect: Dialect, operation: str, model: str, streamed: bool, request: Json) -> tuple:
    turns = tuple(said.kind for said in dialect.conversation(request))
    tools = tuple(sorted(tool.name for tool in dialect.tools(request)))
    return (dialect.name, operation, model, streamed, turns, tools)


def _chunks(exchange: Exchange, body: bytes) -> Iterator[bytes]:
    yield from split_events(body) if exchange.content_type.lower().startswith(EVENT_STREAM) else [body]
    if not exchange.complete:
        raise CutError("the recorded answer broke off here")
