"""Where the gateway meets the journal: every call is written down when it is opened and when it is closed."""

import dataclasses
import json

from overclock.recipe.gateway.exchange import Exchange
from overclock.recipe.journal import Journal


class JournalRecorder:
    """The gateway's `Recorder`; the whole exchange is a stored text of its closed call."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def record(self, exchange: Exchange) -> None:
        """As `Recorder.record`."""
        if exchange.stage == "opened":
            self._journal.append(
                "call opened",
                call=exchange.id,
                dialect=exchange.dialect,
                model=exchange.model,
                reserved_dollars=exchange.reserved,
            )
            return
        self._journal.append(
            "call closed",
            call=exchange.id,
            status=exchange.status,
            usage=dataclasses.asdict(exchange.usage),
            exchange=self._journal.store(json.dumps(exchange.as_dict()).encode()),
        )
