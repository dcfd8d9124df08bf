"""Compares a candidate in a user's program with the reference, and with the worker in which it was judged."""

import random
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from overclock.recipe.judging.as_used.launch import user_spec, users_folder
from overclock.verify.contract import Precision, Twin
from overclock.verify.rollout.actions import random_legal
from overclock.verify.rollout.lockstep import compare_sides
from overclock.verify.rollout.result import RolloutResult
from overclock.verify.sides.process import ProcessSubject

NAME = "the candidate in a user's program"
FOR_USERS = ("In a user's program ", "Loaded as its users load it", "Its make() returns ")  # what sentences begin with
LANES = (5, 24)  # played side by side with the reference, as many as is drawn


def differences_for_users(
    twin: Twin, candidate: Path, episodes: int, batches: Sequence[int], timeout: float
) -> Iterator[str]:
    """What is otherwise than where it was judged, in sentences, the first of which is enough to refuse it."""
    precision = twin.usual
    lanes = random.SystemRandom().randint(*LANES)
    with users_folder(candidate, lanes) as script:
        spec = user_spec(twin.performance, script, precision)
        with ProcessSubject(spec, lanes, NAME, timeout) as user:
            yield from _beside_reference(twin, user, episodes, precision, "", timeout)
            seed = secrets.randbits(30)
            questions: dict[str, dict[str, Any]] = {
                "known": {}, "traces": {}, "play": {"seed": seed, "batches": list(batches)},
            }  # fmt: skip
            seen = {call: user.ask(call, **arguments) for call, arguments in questions.items()}
            with ProcessSubject(twin.performance_in(precision), 1, "the candidate", timeout) as judged:
                expected = {call: judged.ask(call, **arguments) for call, arguments in questions.items()}
            yield from differences_between(seen, expected)
            if user.ask("compile") is True:
                yield from _beside_reference(twin, user, episodes, precision, " as a C kernel", timeout)
            if user.ask("elsewhere") != seen["traces"]:  # last, because its clocks are wrong from then on
                yield "In a user's program it is another program in another year or on another device."


def _beside_reference(
    twin: Twin, user: ProcessSubject, episodes: int, precision: Precision, how: str, timeout: float
) -> Iterator[str]:
    with ProcessSubject(twin.reference, user.num_envs, "the reference", timeout) as reference:
        found: RolloutResult = compare_sides(
            reference, user, twin, episodes, "per_step", precision, "uniform", random_legal, secrets.randbits(30)
        )
    if found.first_divergence is not None or not found.passed:
        field = "flags" if found.first_divergence is None else found.first_divergence.field
        yield f"Loaded as its users load it{how}, it differs from the reference in {field}."


def differences_between(seen: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """What both processes say of the same candidate must be the same, whatever it is."""
    for call, what in (("known", "says otherwise of"), ("traces", "traces another program for"), ("play", "plays")):
        one, other = seen[call], expected[call]
        if not (isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys()):
            yield f"In a user's program it gives no answer that can be compared ({call})."
            continue
        for name in sorted(one):
            if one[name] != other[name]:
                ending = " otherwise than where it is judged" if call == "play" else " than where it is judged"
                yield f"In a user's program it {what} `{name}`{ending}."
    for who in (seen, expected):
        known = who["known"]
        if isinstance(known, dict) and known.get("made") != known.get("default"):
            yield "Its make() returns other parameters or spaces than default_params(), which users get."
