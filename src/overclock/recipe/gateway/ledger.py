"""Keeps the meter and the record of calls in step: reserved and recorded before a call, recorded and paid after it."""

import dataclasses
import threading
import time
import uuid

from overclock.errors import OverclockError
from overclock.recipe.gateway.budget import Meter, RefusedError, Reservation
from overclock.recipe.gateway.call import Call, Worst, redacted
from overclock.recipe.gateway.dialects.unseen import LONGEST_PROMPT
from overclock.recipe.gateway.exchange import Charged, Exchange, Recorder
from overclock.recipe.gateway.prices import MAX_OUTPUT, ModelPrice, Prices
from overclock.recipe.gateway.tokens import Tokens
from overclock.recipe.gateway.usage import Usage


class UnrecordedError(Exception):
    """A record could not be written, so the call must not go on; the cause says why."""


@dataclasses.dataclass(frozen=True)
class OpenCall:
    """A call that was let through and is not yet paid."""

    call: Call
    price: ModelPrice | None
    reservation: Reservation | None  # None for what is free of charge
    exchange: Exchange
    worst: Worst


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a call ended: what was answered, and which tokens the provider reported."""

    status: int
    content_type: str = ""
    body: bytes = b""
    complete: bool = False
    tokens: Tokens | None = None
    doubt: str | None = None  # why these cannot be what the call used
    worked: bool = True  # the provider may have done work, and so may ask for money


class Ledger:
    """Every method may be called from any thread."""

    def __init__(
        self, meter: Meter, prices: Prices, recorder: Recorder | None, secrets: tuple[str, ...], max_output: int
    ) -> None:
        self.failure: Exception | None = None  # the first that the recorder raised
        self._meter, self._prices, self._recorder, self._secrets = meter, prices, recorder, secrets
        self._max_output = max_output
        self._recording = threading.Lock()
        self._abandoned = False

    def open(self, call: Call) -> OpenCall:
        """Reserve the worst case and record the call; raises RefusedError or UnrecordedError."""
        self._require_metered(call)
        price = self._prices.find(call.model)
        if self._meter.limited:
            most = self._max_output if price is None else min(self._max_output, price.max_output)
            call = call.with_limit(most)
        reservation, worst = None, call.worst(price)
        if call.operation == "generate":
            try:
                reservation = self._meter.reserve(worst.dollars, call.model, worst.tokens)
            except OverclockError as error:
                self.failure = error
                raise UnrecordedError from error
        else:
            self._meter.check()
        exchange = self._exchange(call, reservation)
        try:
            self._record(exchange)
        except UnrecordedError:
            if reservation is not None:  # the call never goes out
                self._meter.settle(reservation, Usage())
            raise
        return OpenCall(call, price, reservation, exchange, worst)

    def _require_metered(self, call: Call) -> None:
        what = call.dialect.unmetered(call.json) if self._meter.limited else None
        if call.operation == "generate" and what is not None:
            raise RefusedError(
                "not_metered",
                f"With a budget, a call cannot have {what} because it is paid beside the tokens of its model; leave it "
                "out, or run without a budget.",
            )

    def refuse(self, call: Call, status: int, body: bytes) -> None:
        """Record a call that was not let through."""
        exchange = self._exchange(call, None)
        answer = redacted(body, self._all_secrets(call))
        self._record(dataclasses.replace(exchange, stage="closed", status=status, response=answer))

    def close(self, opened: OpenCall, outcome: Outcome) -> None:
        """Record what a call cost, then pay it; raises UnrecordedError once it is paid."""
        charged, usage = _charge(opened, outcome)
        exchange = dataclasses.replace(
            opened.exchange,
            stage="closed",
            seconds=time.time() - opened.exchange.opened_at,
            status=outcome.status,
            content_type=outcome.content_type,
            response=redacted(outcome.body, self._all_secrets(opened.call)),
            complete=outcome.complete,
            charged=charged,
            usage=usage,
            doubt=outcome.doubt if charged == "reservation" else None,
        )
        try:
            self._record(exchange)
        finally:
            if opened.reservation is not None:
                self._meter.settle(opened.reservation, usage)

    def abandon(self) -> None:
        """Record nothing from now on: calls still under way stay opened, and count at their reservation."""
        with self._recording:
            self._abandoned = True

    def _exchange(self, call: Call, reservation: Reservation | None) -> Exchange:
        return Exchange(
            id=uuid.uuid4().hex,
            stage="opened",
            dialect=call.dialect.name,
            operation=call.operation,
            model=call.model,
            path=call.path,
            streamed=call.streams,
            opened_at=time.time(),
            request=redacted(call.body, self._all_secrets(call)),
            reserved=reservation.dollars if reservation else 0.0,
            reserved_tokens=reservation.tokens if reservation else 0,
        )

    def _all_secrets(self, call: Call) -> tuple[str | None, ...]:
        return (*self._secrets, call.key)

    def _record(self, exchange: Exchange) -> None:
        with self._recording:
            if self.failure is not None:
                raise UnrecordedError from self.failure
            if self._recorder is None or self._abandoned:
                return
            try:
                self._recorder.record(exchange)
            except Exception as error:
                self.failure = error
                raise UnrecordedError from error


def _charge(opened: OpenCall, outcome: Outcome) -> tuple[Charged, Usage]:
    if opened.reservation is None:
        return "nothing", Usage()
    if not outcome.worked:
        return "nothing", Usage(calls=1)
    tokens, worst = outcome.tokens or Tokens(), opened.worst
    cost = None if opened.price is None else opened.price.dollars(tokens)
    if outcome.doubt is not None or _impossible(tokens, worst):
        return "reservation", worst.usage()
    if outcome.tokens is not None and outcome.complete:
        return "usage", tokens.usage(cost)
    # It broke off: what was told so far can be more than the worst case, where that was estimated too low.
    usage = worst.usage()
    return "reservation", dataclasses.replace(
        usage,
        input_tokens=max(usage.input_tokens, tokens.input),
        output_tokens=max(usage.output_tokens, tokens.output),
        dollars=None if worst.dollars is None or cost is None else max(worst.dollars, cost),
    )


def _impossible(tokens: Tokens, worst: Worst) -> bool:
    """Whether more is reported than any model reads or writes at once."""
    return tokens.input > max(LONGEST_PROMPT, worst.prompt) or tokens.output > max(MAX_OUTPUT, worst.answer)
