"""The result of `mutate` as plain data: what each level killed, who survived; where it is kept, and whether it is old.

Schema overclock.mutate/1, documented in docs/cli.md.
"""

import dataclasses
import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overclock.env import registry
from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.verify.mutation.levels import NAMES, Outcome
from overclock.verify.mutation.mutants import Mutant, operators_of
from overclock.verify.mutation.state import changed, source_digest, state_of
from overclock.versions import versions

SCHEMA = "overclock.mutate/1"
FOLDER = Path("runs")

Outcomes = Mapping[str, Mapping[int, Outcome]]  # mutant id -> level -> outcome


def report(
    env_id: str,
    sources: Mapping[str, str],
    state: Mapping[str, str],
    mutants: Sequence[Mutant],
    outcomes: Outcomes,
    equivalent: Mapping[str, str],
    settings: Mapping[str, Any],
    seconds: float,
) -> dict[str, Any]:
    """All there is to say about a finished run; `sources` and `state` as they were when it began."""
    counted = [mutant for mutant in mutants if mutant.id not in equivalent]
    killed = [mutant for mutant in counted if _killed(outcomes[mutant.id])]
    levels = sorted({level for found in outcomes.values() for level in found})
    share = len(killed) / len(counted) if counted else 0.0
    return {
        "schema": SCHEMA,
        "env": env_id,
        "planted": len(mutants),
        "total": len(counted),
        "killed": len(killed),
        "score": share,
        "per_level": {str(level): _level(level, counted, outcomes) for level in levels},
        "together": {"killed": len(killed), "share": share},
        "per_operator": {
            name: {"total": total, "killed": operators_of(killed).get(name, 0)}
            for name, total in operators_of(counted).items()
        },
        "survivors": [mutant.describe() for mutant in counted if not _killed(outcomes[mutant.id])],
        "equivalent": [
            {**mutant.describe(), "reason": equivalent[mutant.id]} for mutant in mutants if mutant.id in equivalent
        ],
        "mutants": [{**mutant.describe(), "levels": plain_outcomes(outcomes[mutant.id])} for mutant in mutants],
        "sources": dict(sources),
        "state": dict(state),
        **settings,
        "seconds": round(seconds, 1),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions(),
    }


def save(result: dict[str, Any], folder: Path = FOLDER) -> Path:
    """Keep a result where `last_result` finds it."""
    path = _file(result["env"], folder)
    write_whole(path, json.dumps(result, indent=1).encode())
    return path


def last_result(env_id: str, folder: Path = FOLDER) -> dict[str, Any] | None:
    """The newest complete result of an environment, or None.

    Its `stale` lists what has changed since: mutated modules by name, files beside the twin, our own packages, or
    'versions'. The result says nothing about them any more.
    """
    spec = registry.spec(env_id)
    try:
        result = json.loads(_file(spec.id, folder).read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return None
    if result.get("schema") != SCHEMA:
        return None
    stale = [name for name, known in result["sources"].items() if _now(name) != known]
    if "state" in result:
        present = [name for name in result["sources"] if _now(name) is not None]
        stale += changed(result["state"], state_of(spec, present))
    return {**result, "stale": stale}


def plain_outcomes(found: Mapping[int, Outcome]) -> dict[str, Any]:
    """Outcomes by level as plain values."""
    return {str(level): dataclasses.asdict(outcome) for level, outcome in found.items()}


def outcome_of(plain: Mapping[str, Mapping[str, Any]]) -> dict[int, Outcome]:
    """The inverse of `plain_outcomes`."""
    return {int(level): Outcome(**found) for level, found in plain.items()}


def _level(level: int, counted: Sequence[Mutant], outcomes: Outcomes) -> dict[str, Any]:
    own = [outcomes[mutant.id][level] for mutant in counted]
    killed = [outcome for outcome in own if outcome.killed]
    first = sum(min((n for n, o in outcomes[m.id].items() if o.killed), default=None) == level for m in counted)
    only = sum([n for n, o in outcomes[m.id].items() if o.killed] == [level] for m in counted)
    return {
        "name": NAMES[level],
        "killed": len(killed),
        "share": len(killed) / len(own) if own else 0.0,
        "first": first,
        "only": only,
        "crashes": sum(outcome.how == "crash" for outcome in killed),
        "timeouts": sum(outcome.how == "timeout" for outcome in killed),
    }


def _killed(found: Mapping[int, Outcome]) -> bool:
    return any(outcome.killed for outcome in found.values())


def _now(module: str) -> str | None:
    try:
        return source_digest(module)
    except (UsageError, ModuleNotFoundError):
        return None


def _file(env_id: str, folder: Path) -> Path:
    return folder / f"mutate-{env_id}.json"
