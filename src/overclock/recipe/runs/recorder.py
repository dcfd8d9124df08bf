"""Where the gateway meets the journal: every call is written down when it is opened and when it is closed.

So a run is a recording as well: `recorded` gives its calls back, for a gateway to answer from (gateway/cassette.py).
"""

import dataclasses
import json

from overclock.recipe.gateway.exchange import Exchange
from overclock.recipe.runs.journal import Journal


class JournalRecorder:
    """The gateway's `Recorder`; the whole exchange is a stored text of its closed call."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def record(self, exchange: Exchange) -> None:
        """Write a call into the journal, see `Recorder.record`."""
        if exchange.stage == "opened":
            self._journal.append(
                "call opened",
                call=exchange.id,
                dialect=exchange.dialect,
                model=exchange.model,
                reserved_dollars=exchange.reserved,
                reserved_tokens=exchange.reserved_tokens,
            )
            return
        self._journal.append(
            "call closed",
            call=exchange.id,
            status=exchange.status,
            usage=dataclasses.asdict(exchange.usage),
            exchange=self._journal.store(json.dumps(exchange.as_dict()).encode()),
        )


def recorded(journal: Journal) -> list[Exchange]:
    """The calls of a run that got an answer, in the order of their opening; refused ones were never opened."""
    stored = {event.facts["call"]: event.facts["exchange"] for event in journal.events("call closed")}
    opened = [event.facts["call"] for event in journal.events("call opened")]
    return [Exchange.from_dict(json.loads(journal.blob(stored[call]))) for call in opened if call in stored]
