"""The words of a run's journal: which kinds of events there are, and which facts each must carry.

Facts are JSON values. A large text is stored once in the journal, and named in the facts by its SHA-256. An event may
carry more facts than those required here.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

Facts = dict[str, Any]  # of an event: JSON values, read back from the disk
REFUSED = "refused"  # how a task ends that the model's side would not work on: nothing came of it


@dataclasses.dataclass(frozen=True)
class Event:
    """One line of a journal; numbers count from 1 without gaps."""

    number: int
    time: float  # seconds since 1970, by the clock of the machine that wrote it
    kind: str
    facts: Facts


@dataclasses.dataclass(frozen=True)
class Kind:
    """What an event of one kind must say; `blobs` are those of its facts that name stored texts (or are None).

    An event may lack blobs that are not among its `facts`.
    """

    facts: frozenset[str]
    blobs: frozenset[str] = frozenset()


def _kind(facts: str, blobs: str = "", perhaps: str = "") -> Kind:
    needed = frozenset(blobs.split())
    return Kind(frozenset(facts.split()) | needed, needed | frozenset(perhaps.split()))


VOCABULARY = {
    "run started": _kind("project reference target agent budget_dollars levels limits versions", perhaps="rules"),
    "phase started": _kind("phase name module"),
    "task sent": _kind("task purpose level module iteration", blobs="prompt"),
    "task ended": _kind("task ended reason seconds usage session", blobs="text"),
    "candidate frozen": _kind("candidate task lines", blobs="files"),
    "candidate chosen": _kind("task candidate number candidates why"),
    "seeds drawn": _kind("candidate purpose seed"),
    "judged": _kind("candidate level verdict seconds tests_passed tests_total failure", "report", perhaps="rules"),
    "test added": _kind("level name why", blobs="file"),
    "call opened": _kind("call dialect model reserved_dollars"),
    "call closed": _kind("call status usage", blobs="exchange"),
    "help asked": _kind("level sentence how"),
    "help given": _kind("note"),
    "measured": _kind("candidate sps device"),
    "optimisation": _kind("candidate kept before after why"),
    "run ended": _kind("outcome sentence"),
}


def check(kind: str, facts: Mapping[str, Any]) -> None:
    """Refuse an event that nobody could read: a kind that is not in the vocabulary, or one that lacks facts."""
    if kind not in VOCABULARY:
        raise ValueError(f"A journal knows no event '{kind}'; it knows {', '.join(VOCABULARY)}.")
    if missing := VOCABULARY[kind].facts - facts.keys():
        raise ValueError(f"The event '{kind}' lacks {', '.join(sorted(missing))}.")


def blobs_of(kind: str, facts: Mapping[str, Any]) -> set[str]:
    """The names of the stored texts that an event speaks of."""
    named: set[str] = set()
    for key in VOCABULARY[kind].blobs:
        value = facts.get(key)
        if value is not None:
            named.update(value.values() if isinstance(value, Mapping) else [value])
    return named
