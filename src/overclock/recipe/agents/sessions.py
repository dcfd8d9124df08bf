"""Remembers the usage of each conversation: some agents report totals of the conversation instead of the call.

A call's usage is the difference to the totals before it. They are kept in one small file per conversation.
"""

import dataclasses
import hashlib
import json
from pathlib import Path

from overclock.files import write_whole
from overclock.recipe.agents.profile import Scope
from overclock.recipe.gateway.usage import COUNTS, Usage


def since_last_call(
    folder: Path, session: str, said: Usage, resumed: bool, usage_scope: Scope, dollars_scope: Scope
) -> Usage | None:
    """The usage of this call from what the agent reported, or None if it cannot be known; stores the new totals."""
    name = hashlib.sha256(session.encode(errors="backslashreplace")).hexdigest()  # it is whatever the agent says
    path = folder / f"{name}.json"
    before = _read(path) if resumed else Usage(basis="self-reported")
    write_whole(path, json.dumps(dataclasses.asdict(said)).encode())
    usage = said
    if usage_scope == "session":
        if before is None:
            return None
        counts = {name: getattr(said, name) - getattr(before, name) for name in COUNTS}
        counts["calls"] = max(counts["calls"], 1)  # an agent may count the calls of this process only
        if min(counts.values()) < 0:  # it reports something else than its profile says
            return None
        usage = Usage(**counts, dollars=said.dollars, basis=said.basis)
    if dollars_scope == "session" and said.dollars is not None:
        spent = None if before is None or before.dollars is None else said.dollars - before.dollars
        usage = dataclasses.replace(usage, dollars=None if spent is None or spent < 0 else spent)
    return usage


def _read(path: Path) -> Usage | None:
    try:
        return Usage(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):  # nothing is known about this conversation
        return None
