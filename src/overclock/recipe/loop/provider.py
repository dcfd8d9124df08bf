"""Tells the trouble of a provider from that of an agent: a task whose every call failed there was not worked on.

Agents say it in many ways, or not at all; the gateway has seen every answer.
"""

import dataclasses
import json
from collections import Counter

from overclock.recipe.agents.base import Work
from overclock.recipe.agents.transport import BUSY, error_message
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.vocabulary import REFUSED

ANSWERED = 400  # below it, a model has answered


def unanswered(work: Work, task: str, journal: Journal) -> Work:
    """The same work, or one that was refused for the provider's trouble: no call of the task was answered.

    A task that was refused is sent again when the run is resumed, and its agent is not blamed for what it left.
    """
    if work.ended in (REFUSED, "waiting"):
        return work
    sent = [event.number for event in journal.events("task sent") if event.facts["task"] == task]
    closed = [event.facts for event in journal.events("call closed", after=sent[-1])]
    statuses = [facts["status"] for facts in closed]
    if not statuses and work.ended == "crashed" and work.status in BUSY:  # no gateway of ours lies between
        return dataclasses.replace(work, ended=REFUSED, reason=f"The model's provider fails: {work.reason}")
    if not statuses or statuses[-1] not in BUSY or min(statuses) < ANSWERED:
        return work
    ((status, times),) = Counter(one for one in statuses if one in BUSY).most_common(1)
    said = json.loads(journal.blob(closed[statuses.index(status)]["exchange"]))["response"]
    often = f"{times} of {len(statuses)} calls" if len(statuses) > 1 else "the only call"
    reason = f"The model's provider fails: it answered {status} to {often} ({error_message(said.encode())})"
    return dataclasses.replace(work, ended=REFUSED, reason=reason, status=status)
