"""The result of `mutate`: what each level killed, what survived; where it is kept, and whether it is out of date."""

import dataclasses
import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overclock.env import registry
from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.processor import processor
from overclock.results import decode, encode, extended
from overclock.verify.levels import LEVELS
from overclock.verify.mutation.mutants import Mutant, operators_of
from overclock.verify.mutation.result import (
    EquivalentMutant,
    ExaminedMutant,
    KilledShare,
    LevelScore,
    MutationReport,
    OperatorScore,
    Outcome,
)
from overclock.verify.mutation.state import changed, source_digest, state_of
from overclock.versions import versions

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
) -> MutationReport:
    """The report of a finished run; `sources` and `state` as they were when it began."""
    counted = [mutant for mutant in mutants if mutant.id not in equivalent]
    killed = [mutant for mutant in counted if _killed(outcomes[mutant.id])]
    levels = sorted({level for found in outcomes.values() for level in found})
    share = len(killed) / len(counted) if counted else 0.0
    return MutationReport(
        env=env_id,
        planted=len(mutants),
        total=len(counted),
        killed=len(killed),
        score=share,
        per_level={level: _level(level, counted, outcomes) for level in levels},
        together=KilledShare(killed=len(killed), share=share),
        per_operator={
            name: OperatorScore(total=total, killed=operators_of(killed).get(name, 0))
            for name, total in operators_of(counted).items()
        },
        survivors=[mutant.facts for mutant in counted if not _killed(outcomes[mutant.id])],
        equivalent=[
            extended(EquivalentMutant, mutant.facts, reason=equivalent[mutant.id])
            for mutant in mutants
            if mutant.id in equivalent
        ],
        mutants=[extended(ExaminedMutant, mutant.facts, levels=dict(outcomes[mutant.id])) for mutant in mutants],
        sources=dict(sources),
        state=dict(state),
        **settings,
        seconds=round(seconds, 1),
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        versions=versions(),
        processor=processor(),
    )


def save(result: MutationReport, folder: Path = FOLDER) -> Path:
    """Keep a result where `last_result` finds it."""
    path = _file(result.env, folder)
    write_whole(path, json.dumps(encode(result), indent=1).encode())
    return path


def last_result(env_id: str, folder: Path = FOLDER) -> MutationReport | None:
    """The newest complete result of an environment, or None.

    Its `stale` lists what has changed since: mutated modules by name, files beside the twin, our own packages, or
    'versions'. The result says nothing about them any more.
    """
    spec = registry.spec(env_id)
    try:
        kept = json.loads(_file(spec.id, folder).read_text(encoding="utf-8"))
        result: MutationReport = decode(MutationReport, kept)
    except (OSError, json.JSONDecodeError, UsageError):
        return None
    if result.schema != MutationReport.schema:
        return None
    stale = [name for name, known in result.sources.items() if _now(name) != known]
    if result.state is not None:
        present = [name for name in result.sources if _now(name) is not None]
        stale += changed(result.state, state_of(spec, present))
    return dataclasses.replace(result, stale=stale)


def _level(level: int, counted: Sequence[Mutant], outcomes: Outcomes) -> LevelScore:
    own = [outcomes[mutant.id][level] for mutant in counted if level in outcomes[mutant.id]]
    killed = [outcome for outcome in own if outcome.killed]
    every_level = len({len(outcomes[mutant.id]) for mutant in counted}) <= 1
    first = sum(min((n for n, o in outcomes[m.id].items() if o.killed), default=None) == level for m in counted)
    only = sum([n for n, o in outcomes[m.id].items() if o.killed] == [level] for m in counted)
    return LevelScore(
        name=LEVELS[level].name,
        killed=len(killed),
        share=len(killed) / len(own) if own else 0.0,
        first=first,
        only=only if every_level else None,
        crashes=sum(outcome.how == "crash" for outcome in killed),
        timeouts=sum(outcome.how == "timeout" for outcome in killed),
        shown=None if len(own) == len(counted) else len(own),
    )


def _killed(found: Mapping[int, Outcome]) -> bool:
    return any(outcome.killed for outcome in found.values())


def _now(module: str) -> str | None:
    try:
        return source_digest(module)
    except (UsageError, ModuleNotFoundError):
        return None


def _file(env_id: str, folder: Path) -> Path:
    return folder / f"mutate-{env_id}.json"
