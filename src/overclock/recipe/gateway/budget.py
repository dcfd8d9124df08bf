"""Enforces the cap: a call reserves the most it can cost before it is forwarded, and pays its real cost afterwards.

A call is refused if what is spent plus its own worst case passes the cap. If it fits, but not beside the calls that
are under way, it waits until they have been paid: calls in parallel can neither overshoot together nor starve one
another of money that is not gone.
"""

import dataclasses
import math
import threading
from typing import Literal

from overclock.errors import UsageError
from overclock.recipe.gateway.usage import Usage

Reason = Literal["budget_exceeded", "calls_exceeded", "price_unknown", "not_metered", "closed"]


class RefusedError(Exception):
    """A call that must not be forwarded; the message says why and what to do."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason: Reason = reason


@dataclasses.dataclass(eq=False)
class Reservation:
    """One call under way. Dollars are None where there is no price and no cap."""

    dollars: float | None


class Meter:
    """Counts what is spent and what is reserved. Every method may be called from any thread."""

    def __init__(self, cap: float | None = None, max_calls: int | None = None, spent: Usage = Usage()) -> None:
        if cap is not None and (not math.isfinite(cap) or cap < 0):
            raise UsageError("The cap must be a number of dollars that is not negative.")
        if max_calls is not None and max_calls < 0:
            raise UsageError("The limit of calls must not be negative.")
        if cap is not None and spent.dollars is None:
            raise UsageError(
                "What was spent so far has no price, so a cap cannot hold; add the model to a price table."
            )
        self.cap, self.max_calls = cap, max_calls
        self._spent = spent
        self._open: set[Reservation] = set()
        self._changed = threading.Condition()
        self._closed = False

    def spent(self) -> Usage:
        """What was paid, with the amount at the start and without calls under way."""
        with self._changed:
            return self._spent

    def reserved(self) -> float:
        """The worst case of the calls under way, in dollars."""
        with self._changed:
            return self._reserved()

    def check(self) -> None:
        """Refuse anything further once a limit is reached, even what is free of charge."""
        with self._changed:
            self._check_limits()

    def reserve(self, worst: float | None, model: str) -> Reservation:
        """Set aside the most that a call can cost; raises RefusedError if it does not fit."""
        with self._changed:
            if self.cap is not None and worst is None:
                raise RefusedError("price_unknown", _no_price(model))
            while True:
                self._check_limits()
                self._check_worst(worst)
                if self._fits_beside_others(worst):
                    reservation = Reservation(worst)
                    self._open.add(reservation)
                    return reservation
                self._changed.wait()

    def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Pay for a call and give its reservation back."""
        with self._changed:
            self._open.discard(reservation)
            self._spent += usage
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

    def _reserved(self) -> float:
        return sum(reservation.dollars or 0.0 for reservation in self._open)

    def _check_limits(self) -> None:
        if self._closed:
            raise RefusedError("closed", "The gateway is closed.")
        if self.max_calls is not None and self._spent.calls + len(self._open) >= self.max_calls:
            raise RefusedError(
                "calls_exceeded", f"The limit of {self.max_calls} model calls is reached; raise it and resume to go on."
            )
        if self.cap is not None and _dollars(self._spent) >= self.cap:
            raise RefusedError(
                "budget_exceeded", f"The budget of ${self.cap:.2f} is spent; raise it and resume to go on."
            )

    def _check_worst(self, worst: float | None) -> None:
        if self.cap is not None and worst is not None and _dollars(self._spent) + worst > self.cap:
            raise RefusedError(
                "budget_exceeded",
                f"The budget of ${self.cap:.2f} could be passed: ${_dollars(self._spent):.4f} are spent and this call "
                f"can cost up to ${worst:.4f}; raise the budget and resume, or limit the output of a call.",
            )

    def _fits_beside_others(self, worst: float | None) -> bool:
        return self.cap is None or _dollars(self._spent) + self._reserved() + (worst or 0.0) <= self.cap


def _dollars(usage: Usage) -> float:
    if usage.dollars is None:
        raise AssertionError("with a cap, every call that was let through has a price")
    return usage.dollars


def _no_price(model: str) -> str:
    return (
        f"The model '{model}' has no price, so the budget cannot be held; put a line "
        f"'\"{model}\" = {{ input = ..., output = ... }}' (dollars per million tokens) under [models] in a price table "
        "of your own, or run without a budget."
    )
