"""How far a verdict reaches: what the ledger of all comparisons says once a contract's excuses are applied to it."""

import dataclasses
from collections.abc import Sequence

from overclock.verify.reach.excuse import Excuse
from overclock.verify.reach.ledger import ASIDE, Ledger, Outcome

NOT_OFFERED = "the reference does not tell which branches of its code ran, so nothing is known of those that did not"
NO_PYTHON = "the reference has no Python code of its own, so its branches cannot be seen"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unreached:
    """An outcome that no comparison took; `reason` says why that is no fault, None where nothing does."""

    file: str
    line: int
    function: str
    condition: str
    outcome: str
    reason: str | None = None

    @property
    def text(self) -> str:
        """Place, condition and outcome in one line."""
        return f"{self.file}:{self.line} `{self.condition}` {self.outcome} (in {self.function})"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reached:
    """What all comparisons of a run took of the reference's branches, callees included.

    - `taken` counts the outcomes that were taken, `missing` lists those that were not and are not excused;
    - `excused` are excused by the contract, `aside` are not asked for (they only raise, draw a picture, or follow from
      the constructor's or a reset's own arguments);
    - `outside` names packages that the rules use and whose code was not watched;
    - `unusable` says what is wrong with excuses, `stale` which of them excuse an outcome that was taken;
    - `sentence` sums it up, also where nothing is known.
    """

    sentence: str
    taken: int = 0
    missing: list[Unreached]
    excused: list[Unreached]
    aside: list[Unreached]
    outside: list[str]
    unusable: list[str]
    stale: list[str]

    @property
    def complete(self) -> bool:
        """Whether nothing stands in the way of a pass."""
        return not self.missing and not self.unusable


def reached(ledger: Ledger, excuses: Sequence[Excuse] = ()) -> Reached:
    """What the ledger says of a reference whose contract has these excuses."""
    if not ledger.visible:
        sentence = NO_PYTHON if ledger.reports else NOT_OFFERED
        return Reached(sentence=sentence, missing=[], excused=[], aside=[], outside=[], unusable=[], stale=[])
    missing, excused = list[Unreached](), list[Unreached]()
    for one in ledger.missing:
        excuse = next((excuse for excuse in excuses if excuse.fits(one)), None)
        (missing if excuse is None else excused).append(_unreached(one, None if excuse is None else excuse.reason))
    unusable, stale = _judged(ledger, excuses)
    aside = [_unreached(one, ASIDE[why]) for one, why in ledger.aside.items()]
    taken = len(ledger.taken)
    return Reached(
        sentence=_sentence(taken, len(missing), len(excused)), taken=taken, missing=missing, excused=excused,
        aside=aside, outside=ledger.outside, unusable=unusable, stale=stale,
    )  # fmt: skip


def reached_lines(found: Reached | None) -> list[str]:
    """What a reader must see of it: the outcomes that no comparison took, and what is wrong with excuses."""
    if found is None:
        return []
    lines = [f"not reached: {one.text}" for one in found.missing]
    lines += [f"excused: {one.text}: {one.reason}" for one in found.excused]
    return lines + [f"{said}." for said in (*found.unusable, *found.stale)]


def inconclusive_text(found: Reached) -> str:
    """Why a verdict is not a pass, in half a sentence, with the first place."""
    if not found.missing:
        return found.unusable[0]
    first, more = found.missing[0], len(found.missing) - 1
    others = f" and {more:,} more" if more else ""
    return f"no comparison took {first.text}{others}"


def _judged(ledger: Ledger, excuses: Sequence[Excuse]) -> tuple[list[str], list[str]]:
    """What is wrong with excuses, and which of them are no longer needed."""
    unusable, stale, taken = list[str](), list[str](), {*ledger.taken}
    for excuse in excuses:
        fitting = [one for one in ledger.known if excuse.fits(one)]
        lines = sorted({one.line for one in fitting})
        if not fitting:
            unusable.append(f"the excuse for {excuse} fits no branch of the code that ran; correct or remove it")
        elif len(lines) > 1:
            unusable.append(f"the excuse for {excuse} fits lines {', '.join(map(str, lines))}; name one with `line`")
        elif any(one in taken for one in fitting):
            stale.append(f"the excuse for {excuse} is not needed: a comparison took it")
    return unusable, stale


def _unreached(one: Outcome, reason: str | None) -> Unreached:
    return Unreached(
        file=one.file, line=one.line, function=one.function, condition=one.condition, outcome=one.outcome,
        reason=reason,
    )  # fmt: skip


def _sentence(taken: int, missing: int, excused: int) -> str:
    said = f"branches of the reference: {taken:,} outcomes taken"
    said += f", {missing:,} by no comparison" if missing else ", none missing"
    return f"{said}, {excused:,} excused" if excused else said
