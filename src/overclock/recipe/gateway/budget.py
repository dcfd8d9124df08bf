"""Enforces the caps: a call reserves the most it can use before it is forwarded, and pays what it used afterwards.

A call is refused if what is spent plus its own worst case passes a cap. If it fits, but not beside the calls that are
under way, it waits until they have been paid: calls in parallel can neither overshoot together nor starve one another
of money that is not gone. Runs of one project that are under way at the same time share their caps (`Sharing`).
"""

import contextlib
import dataclasses
import math
import threading
import time
from typing import Literal, Protocol

from overclock.errors import OverclockError, UsageError
from overclock.recipe.gateway.usage import Usage

Reason = Literal[
    "budget_exceeded", "calls_exceeded", "tokens_exceeded", "time_exceeded", "price_unknown", "not_metered", "closed"
]
LOOK_AGAIN_S = 0.2  # no other process tells when it has paid


class RefusedError(Exception):
    """A call that must not be forwarded; the message says why and what to do."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason: Reason = reason


@dataclasses.dataclass(eq=False)
class Reservation:
    """One call under way. Dollars are None where there is no price and no cap."""

    dollars: float | None
    tokens: int = 0


@dataclasses.dataclass(frozen=True)
class Amount:
    """What caps count: dollars as far as prices are known, tokens of prompts and answers, and calls."""

    dollars: float = 0.0
    tokens: int = 0
    calls: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.dollars + other.dollars, self.tokens + other.tokens, self.calls + other.calls)

    @classmethod
    def of(cls, usage: Usage) -> "Amount":
        """The amount of a usage."""
        return cls(usage.dollars or 0.0, usage.input_tokens + usage.output_tokens, usage.calls)


class Sharing(Protocol):
    """What other runs under the same caps use; `turn` keeps all but one of them waiting."""

    def turn(self) -> contextlib.AbstractContextManager[object]:
        """Inside, no other run reserves or pays."""
        ...

    def others(self) -> tuple[Amount, Amount]:
        """What they have spent, and what their calls under way have reserved."""
        ...

    def note(self, spent: Amount, reserved: Amount) -> None:
        """Tell the others the same of this run."""
        ...


class Alone:
    """No other run shares the caps."""

    def turn(self) -> contextlib.AbstractContextManager[object]:
        """A context that keeps nobody waiting."""
        return contextlib.nullcontext()

    def others(self) -> tuple[Amount, Amount]:
        """Two empty amounts: there are no others."""
        return Amount(), Amount()

    def note(self, spent: Amount, reserved: Amount) -> None:
        """Do nothing, because there is nobody to tell."""


class Meter:
    """Counts what is spent and what is reserved. Every method may be called from any thread.

    `cap` is in dollars. `seconds` may pass from now on; `spent` counts from before.
    """

    def __init__(
        self,
        cap: float | None = None,
        max_calls: int | None = None,
        spent: Usage = Usage(),
        max_tokens: int | None = None,
        seconds: float | None = None,
        sharing: Sharing | None = None,
    ) -> None:
        if cap is not None and (not math.isfinite(cap) or cap < 0):
            raise UsageError("The cap must be a number of dollars that is not negative.")
        if max_calls is not None and max_calls < 0:
            raise UsageError("The limit of calls must not be negative.")
        if max_tokens is not None and max_tokens < 0:
            raise UsageError("The limit of tokens must not be negative.")
        if cap is not None and max_tokens is None and spent.dollars is None:
            raise UsageError(
                "What was spent so far has no price, so a cap cannot hold; add the model to a price table, or set a "
                "limit of tokens."
            )
        self.cap, self.max_calls, self.max_tokens = cap, max_calls, max_tokens
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._spent, self._amount = spent, Amount.of(spent)
        self._open: set[Reservation] = set()
        self._changed = threading.Condition()
        self._closed = False
        self._sharing: Sharing = sharing or Alone()
        with self._sharing.turn():
            self._note()

    @property
    def limited(self) -> bool:
        """Whether a cap counts dollars or tokens, so that every call needs a worst case."""
        return self.cap is not None or self.max_tokens is not None

    def spent(self) -> Usage:
        """What was paid, with the amount at the start and without calls under way."""
        with self._changed:
            return self._spent

    def reserved(self) -> float:
        """The worst case of the calls under way, in dollars."""
        with self._changed:
            return self._reserved().dollars

    def check(self) -> None:
        """Refuse anything further once a limit is reached, even what is free of charge."""
        with self._changed, self._sharing.turn():
            self._check_limits(self._sharing.others())

    def reserve(self, worst: float | None, model: str, tokens: int = 0) -> Reservation:
        """Set aside the most that a call can use; raises RefusedError if it does not fit."""
        asked = Amount(worst or 0.0, tokens, 1)
        with self._changed:
            if self.cap is not None and self.max_tokens is None and worst is None:
                raise RefusedError("price_unknown", _no_price(model))
            while True:
                with self._sharing.turn():
                    spent, reserved = self._sharing.others()
                    self._check_limits((spent, reserved))
                    self._check_worst(asked, spent)
                    if self._fits(asked + self._amount + self._reserved() + spent + reserved):
                        reservation = Reservation(worst, tokens)
                        self._open.add(reservation)
                        self._note()
                        return reservation
                self._changed.wait(None if isinstance(self._sharing, Alone) else LOOK_AGAIN_S)

    def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Pay for a call and give its reservation back."""
        with self._changed:
            self._open.discard(reservation)
            self._spent += usage
            self._amount += Amount.of(usage)
            # What cannot be told now is told before the next call goes out, or that call does not.
            with contextlib.suppress(OverclockError), self._sharing.turn():
                self._note()
            self._changed.notify_all()

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait for the calls under way, at most so long; whether all have been paid."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._open, seconds)

    def close(self) -> None:
        """Refuse everything from now on, and wake whoever waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _note(self) -> None:
        self._sharing.note(self._amount, self._reserved())

    def _reserved(self) -> Amount:
        under_way = [Amount(one.dollars or 0.0, one.tokens, 1) for one in self._open]
        return sum(under_way, Amount())

    def _check_limits(self, others: tuple[Amount, Amount]) -> None:
        spent, reserved = others
        used = self._amount + spent
        if self._closed:
            raise RefusedError("closed", "The gateway is closed.")
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise RefusedError("time_exceeded", "The time that the run may take is over; raise it and resume to go on.")
        calls = used.calls + len(self._open) + reserved.calls
        if self.max_calls is not None and calls >= self.max_calls:
            raise RefusedError(
                "calls_exceeded", f"The limit of {self.max_calls} model calls is reached; raise it and resume to go on."
            )
        if self.max_tokens is not None and used.tokens >= self.max_tokens:
            raise RefusedError(
                "tokens_exceeded", f"The limit of {self.max_tokens:,} tokens is reached; raise it and resume to go on."
            )
        if self.cap is not None and used.dollars >= self.cap:
            raise RefusedError(
                "budget_exceeded", f"The budget of ${self.cap:.2f} is spent; raise it and resume to go on."
            )

    def _check_worst(self, asked: Amount, others: Amount) -> None:
        used = self._amount + others
        if self.cap is not None and used.dollars + asked.dollars > self.cap:
            shared = f" (${others.dollars:.4f} of it by other runs of the project)" if others.dollars else ""
            raise RefusedError(
                "budget_exceeded",
                f"The budget of ${self.cap:.2f} could be passed: ${used.dollars:.4f} are spent{shared} and this call "
                f"can cost up to ${asked.dollars:.4f}; raise the budget and resume, or limit the output of a call.",
            )
        if self.max_tokens is not None and used.tokens + asked.tokens > self.max_tokens:
            raise RefusedError(
                "tokens_exceeded",
                f"The limit of {self.max_tokens:,} tokens could be passed: {used.tokens:,} are used and this call can "
                f"use up to {asked.tokens:,}; raise the limit and resume, or limit the output of a call.",
            )

    def _fits(self, together: Amount) -> bool:
        dollars = self.cap is None or together.dollars <= self.cap
        return dollars and (self.max_tokens is None or together.tokens <= self.max_tokens)


def _no_price(model: str) -> str:
    return (
        f"The model '{model}' has no price, so the budget cannot be held; put a line "
        f"'\"{model}\" = {{ input = ..., output = ... }}' (dollars per million tokens) under [models] in a price table "
        "of your own, or set a limit of tokens."
    )
