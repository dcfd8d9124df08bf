"""`localise(env_id)`: how far does what a level reports narrow a planted mistake down?

One mutant at a time is examined by every level. What the level reports leaves some lines of the environment under
suspicion (localise_code.py): the fewer, the less there is to search, provided the mistake is among them. In words:
docs/localisation.md.
"""

import datetime
import pickle
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overclock.env import registry
from overclock.processor import processor
from overclock.progress import Progress, silent
from overclock.recipe.studies.localise_code import Code, Runs, code_of, every
from overclock.recipe.studies.localise_facts import Fact, FactFinder, Found
from overclock.recipe.studies.localise_result import (
    LocalisedMutant,
    LocaliseReport,
    Narrowed,
    PairedViews,
    Views,
    ViewSummary,
)
from overclock.recipe.studies.localise_trace import Line, Traced
from overclock.results import extended
from overclock.verify.mutation import equivalent_mutants
from overclock.verify.mutation.mutants import Mutant, sample
from overclock.verify.mutation.mutate import available_cores, mutants_for, require_some, side_by_side, sources_of
from overclock.verify.mutation.recording import Recording, record
from overclock.verify.property.level import modules_of
from overclock.verify.sides.patched import source_of
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.twins import find_twin
from overclock.versions import versions

VIEWS = {
    "full hierarchy": "the lowest level that fails, with everything it reports",
    "level 1": "every module and output that differs",
    "level 2": "every scenario that differs, its first field and step",
    "level 3": "the first field and step that differ, free running and step by step",
    "level 3, free running": "the first field and step that differ in whole episodes",
    "level 3, verdict only": "some episode differs",
}
EXAMINING = "examining mutants"


def localise(
    env_id: str,
    sample_size: int | None = None,
    episodes: int = 100,
    seed: int = 0,
    timeout: float = 60.0,
    jobs: int | None = None,
    progress: Progress = silent,
) -> LocaliseReport:
    """Plant mutants (or a sample of them) and measure what each view leaves of the code."""
    require_some(episodes=episodes, sample=sample_size, jobs=jobs)
    began = time.monotonic()
    spec = registry.spec(env_id)
    twin, sources = find_twin(spec.id).twin, sources_of(spec)
    everyone, _ = mutants_for(spec, twin, sources, max(timeout, 120.0))
    same = equivalent_mutants.reasons(everyone, equivalent_mutants.file_of(spec))
    mutants = [mutant for mutant in everyone if mutant.id not in same]
    mutants = mutants if sample_size is None else sample(mutants, sample_size, seed)
    recording = record(twin, episodes, seed, progress, timeout=max(timeout, 120.0))
    env, params = registry.make(spec.id)
    suspicion = Suspicion(env, params, sources, everyone, twin, recording)
    rows: dict[str, Views] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording.pickle"
        file.write_bytes(pickle.dumps(recording))
        count = jobs or available_cores()
        finders = [FactFinder(twin, recording, file, sources, timeout) for _ in range(count)]
        try:
            _require_quiet(finders[0], sources[0])
            for mutant, found in side_by_side([finder.find for finder in finders], mutants):
                rows[mutant.id] = suspicion.row(mutant, found)
                progress(EXAMINING, len(rows), len(mutants))
        finally:
            for finder in finders:
                finder.close()
    ordered = [rows[mutant.id] for mutant in mutants]
    command = f"overclock localise {spec.id} --episodes {episodes} --seed {seed}"
    return LocaliseReport(
        env=spec.id,
        mutants=len(mutants),
        lines=len(suspicion.code.lines),
        functions=len(set(suspicion.code.owners.values())),
        precision=twin.strictest,
        views={name: _summary(name, ordered) for name in VIEWS},
        paired={view: _against(view, ordered) for view in VIEWS if view.startswith("level 3")},
        each=[extended(LocalisedMutant, mutant.facts, views=rows[mutant.id]) for mutant in mutants],
        episodes=episodes,
        seed=seed,
        sample=sample_size,
        command=command if sample_size is None else f"{command} --sample {sample_size}",
        seconds=round(time.monotonic() - began, 1),
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        versions=versions(),
        processor=processor(),
    )


def _require_quiet(finder: FactFinder, module: str) -> None:
    """Without a mistake no level may report anything, or reports would not speak of the mistakes."""
    unchanged = Mutant("unchanged", "", module, 1, "", "", "", source_of(module)[0])
    for level, found in finder.find(unchanged).items():
        if found.noticed:
            what = found.broke or found.facts[0]
            raise CouldNotVerifyError(f"could not verify: the unchanged environment fails level {level} ({what}).")


class Suspicion:
    """From the facts of a level to the lines that could hold the mistake."""

    def __init__(
        self,
        env: Any,
        params: Any,
        sources: Sequence[str],
        mutants: Sequence[Mutant],
        twin: Any,
        recording: Recording,
    ) -> None:
        self.code: Code = code_of(mutants, type(params))
        files = {source_of(module)[1]: module for module in sources}
        first = next(e.actions for events in recording.episodes.values() for e in events if e.actions is not None)
        self._runs = Runs(env, params, files, first[0])
        modules = () if twin.modules is None else modules_of(twin)
        self._modules: dict[str, Traced] = {m.name: self._runs.module(m, recording.cases[m.name]) for m in modules}

    def row(self, mutant: Mutant, found: Mapping[int, Found]) -> Views:
        """What every view leaves of the code for one mutant."""
        line, place = (mutant.module, mutant.line), (mutant.module, mutant.function)
        shown: Views = {}
        for name, (level, facts, lines) in self.views(found).items():
            left = {self.code.owners[one] for one in lines}
            share = len(lines) / len(self.code.lines)
            shown[name] = Narrowed(
                level, list(facts), found[level].broke, len(lines), share, len(left), line in lines, place in left
            )
        return shown

    def views(self, found: Mapping[int, Found]) -> dict[str, tuple[int, tuple[Fact, ...], frozenset[Line]]]:
        """By view, for those that notice anything: the level, its facts, the lines left."""
        shown: dict[str, tuple[int, tuple[Fact, ...], frozenset[Line]]] = {}
        for level, one in sorted(found.items()):
            if one.noticed:
                shown[f"level {level}"] = (level, one.facts, self._left(one, one.facts))
                shown.setdefault("full hierarchy", shown[f"level {level}"])
        third = found.get(3, Found())
        free = tuple(fact for fact in third.facts if fact.mode == "free_running")
        if free or third.broke:
            shown["level 3, free running"] = (3, free, self._left(third, free))
        if third.noticed:
            runs = (self._runs.reset, self._runs.step)
            played = frozenset[Line]().union(*(self.code.suspects(run, None) for run in runs))
            shown["level 3, verdict only"] = (3, (), self.code.lines if third.broke else played)
        return shown

    def _left(self, found: Found, facts: Sequence[Fact]) -> frozenset[Line]:
        """A mutant that broke down says nothing of where: nothing is cleared."""
        return self.code.lines if found.broke else every([self.of(fact) for fact in facts], self.code.lines)

    def of(self, fact: Fact) -> frozenset[Line]:
        """The lines that one fact suspects."""
        if fact.where == "module":
            run = self._modules[fact.name]
            return self.code.suspects(run, [fact.field] if fact.field in run.outputs else list(run.outputs))
        if fact.step == 0:
            return self.code.suspects(self._runs.reset, [fact.field])
        if fact.mode == "per_step":  # from the reference's own state, so nothing earlier can be the cause
            return self.code.suspects(self._runs.step, [fact.field])
        # Differences below the tolerance add up over the steps, so any step before and the reset may be the cause.
        steps, reset = self._runs.over_steps(fact.field)
        return self.code.suspects(self._runs.step, steps) | self.code.suspects(self._runs.reset, reset)


def _summary(view: str, rows: Sequence[Views]) -> ViewSummary:
    seen = [views[view] for views in rows if view in views]
    if not seen:
        return ViewSummary(VIEWS[view], 0)
    return ViewSummary(
        VIEWS[view],
        noticed=len(seen),
        broke=sum(one.broke is not None for one in seen),
        share_median=statistics.median(one.share for one in seen),
        share_mean=statistics.fmean(one.share for one in seen),
        lines_median=statistics.median(one.lines for one in seen),
        functions_median=statistics.median(one.functions for one in seen),
        has_function=sum(one.has_function for one in seen) / len(seen),
        has_line=sum(one.has_line for one in seen) / len(seen),
        facts_mean=statistics.fmean(len(one.facts) for one in seen),
    )


def _against(view: str, rows: Sequence[Views]) -> PairedViews:
    pairs = [(views["full hierarchy"].lines, views[view].lines) for views in rows if view in views]
    return PairedViews(
        mutants=len(pairs),
        hierarchy_leaves_fewer=sum(full < alone for full, alone in pairs),
        the_same=sum(full == alone for full, alone in pairs),
        hierarchy_leaves_more=sum(full > alone for full, alone in pairs),
        hierarchy_lines_median=statistics.median(full for full, _ in pairs) if pairs else None,
        lines_median=statistics.median(alone for _, alone in pairs) if pairs else None,
    )
