"""What a run's verdicts owe to earlier ones: nobody may try again until chance says yes.

Held-out episodes that a candidate once failed stay, and every later candidate plays them before new ones are drawn; a
level that asks chance counts how often it was asked. Both are read from the journal, so neither is lost with a process.
"""

from collections.abc import Iterable, Sequence

from overclock.recipe.judging.verdict import HELD_OUT, Level
from overclock.recipe.runs.vocabulary import Event


def purpose(level: Level, module: str | None = None) -> str:
    """What a seed is drawn for, as the journal says it."""
    return f"level {level}" if module is None else f"level {level} of {module}"


def failed_seeds(events: Iterable[Event]) -> list[int]:
    """The seeds of held-out episodes that some candidate of a run failed, oldest first."""
    drawn: dict[str, int] = {}
    failed: list[int] = []
    for event in events:
        candidate = event.facts.get("candidate")
        if event.kind == "seeds drawn" and event.facts["purpose"] == purpose(HELD_OUT):
            drawn[str(candidate)] = event.facts["seed"]
        elif event.kind == "judged" and event.facts["level"] == HELD_OUT:
            seed = drawn.pop(str(candidate), None)  # none: an earlier seed decided, or an equal candidate
            if seed is not None and event.facts["verdict"] == "fail":
                failed.append(seed)
    return failed


def attempts(events: Sequence[Event], level: Level) -> int:
    """How often seeds were drawn for a level."""
    return sum(event.kind == "seeds drawn" and event.facts["purpose"] == purpose(level) for event in events)
