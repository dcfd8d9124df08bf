"""A small project and a judge that needs no candidate to run: what it says is written in the candidate itself.

A line `2=fail` in a candidate makes level 2 fail, `tests=3` with so many tests passing, `speed=300` makes it that fast.
So a script of candidates says how a whole run goes.
"""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from overclock.recipe.agents.base import Work
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.contract.file import Closeness, ContractFile, StateField, format_contract
from overclock.recipe.judging.speed import Race
from overclock.recipe.judging.verdict import HELD_OUT, Verdict, failure
from overclock.recipe.loop.briefing import Briefing, module_file
from overclock.recipe.loop.context import OptionalSteps, RunContext, RunOptions
from overclock.recipe.loop.loop import Loop
from overclock.recipe.project.project import (
    AgentChoice,
    Judging,
    Limits,
    ModulePlan,
    Project,
    Reference,
    format_project,
)
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import Run
from overclock.results import encode
from overclock.verify.repro.result import BothSides, ReproSummary, StatesAround
from overclock.verify.sides.process import CouldNotVerifyError

SCENARIO = {
    "schema": "overclock.scenario/1", "name": "first", "why": "an example", "setup": {"seed": 1},
    "steps": [{"action": 0, "expect": {"reward": 1.0}}],
}  # fmt: skip
SECRET = "which ones is not told"


def small_project(folder, modules=("rules",), levels=(1, 2, 3, 4), candidates=1, **limits):
    project = Project(
        folder=folder,
        name="pond",
        reference=Reference("pond.py:Pond", "class", "pond:Pond"),
        target="jax",
        modules=tuple(
            ModulePlan(name, (f"{name}.py",), (f"pond.{name}:f",), 3, modules[:place])
            for place, name in enumerate(modules)
        ),
        contract=ContractFile((StateField("x", "x", "float64"),), precisions={"float64": Closeness()}),
        limits=Limits(**limits),
        agent=AgentChoice(candidates=candidates),
        judging=Judging(levels=levels),
    )
    (folder / "scenarios").mkdir(parents=True)
    (folder / "scenarios" / "first.json").write_text(json.dumps(SCENARIO))
    (folder / "overclock.toml").write_text(format_project(project))
    (folder / "contract.toml").write_text(format_contract(project.contract))
    for name in modules:
        module_file(folder, name).parent.mkdir(exist_ok=True)
        module_file(folder, name).write_text(f"def {name}():\n    return 1\n")
    return project


def repro_in(folder):
    """What a verdict says of a repro in a folder."""
    shown = StatesAround(before=None, after=BothSides(reference={}, performance={}))
    return ReproSummary(
        folder=str(folder), command=None, precision="float64", mode="per_step", actions=[0], field="x", step=1,
        reference=0.0, performance=1.0, error=1.0, tolerance=0.0, also_wrong=[], states=shown, found_after=1,
        minimal=True, sentence="x differs after 1 action",
    )  # fmt: skip


class FakeJudge:
    """Reads its verdicts in the candidate; `repros` is where it leaves those of level 3."""

    def __init__(self, repros=None, before=lambda what: None):
        self.repros, self.before, self.judged, self.timed, self.attempts = repros, before, [], [], []

    def judge(self, frozen, level, seed, module=None, attempt=1):
        self.before(f"judge {level}")
        self.judged.append((frozen.hash, level, seed, module))
        self.attempts.append((level, attempt))
        said = _said(frozen)
        word = said.get(f"{module}.{level}" if module else str(level), "pass")
        if word == "reference":
            raise CouldNotVerifyError("could not verify: the reference: it ended.", "the reference")
        if word == "pass":
            return Verdict(level, "pass", 2, 2, report={"level": level, "verdict": "pass"})
        sentence = f"held-out episodes differ; {SECRET}" if level == HELD_OUT else f"level {level} is off by one"
        facts = failure(level, [sentence], field="state.x", module=module)
        if level == 3 and self.repros is not None:
            facts = dataclasses.replace(facts, repro=repro_in(self._repro()))
        return Verdict(level, word, int(said.get("tests", 1)), 5, facts)

    def speed(self, frozen):
        self.before("speed")
        self.timed.append(frozen.hash)
        speed = float(_said(frozen).get("speed", 100))
        if speed < 0:
            raise CouldNotVerifyError("could not verify: the candidate: it ended.", "the candidate")
        return {"32": speed, "128": 2 * speed}

    def race(self, best, new):
        after = self.speed(new)
        speed = float(_said(best).get("speed", 100))
        gain = after["32"] / speed
        before = {"32": speed, "128": 2 * speed}
        return Race(before, after, (gain * 0.98, gain, gain * 1.02))  # as measurements differ

    def _repro(self):
        place = self.repros / str(1 + len(list(self.repros.iterdir())))
        (place / "scenarios").mkdir(parents=True)
        named = {**SCENARIO, "name": "repro-x"}
        (place / "scenarios" / "repro-x.json").write_text(json.dumps(named))
        return place


def _said(frozen):
    text = "\n".join(content.decode() for content in frozen.files.values())
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


class RememberingAgent(ScriptedAgent):
    """A scripted agent that remembers which tasks it was given; a script's entry may be how its work ends."""

    def __init__(self, script, usage=None, before=lambda what: None):
        super().__init__(script, usage)
        self.tasks, self.prompts, self.before = [], {}, before

    def work(self, task, endpoint):
        self.before(f"agent {task.id}")
        self.tasks.append(task.id)
        self.prompts[task.id] = task.prompt
        planned = self._files(task)
        if isinstance(planned, str):
            ended, _, status = planned.partition(" ")
            return Work(ended, f"It {ended}.", usage=self.usage, status=int(status) if status else None)
        return super().work(task, endpoint)


def env(*lines):
    """A candidate of which the judge says this."""
    return {"env.py": "\n".join((*lines, ""))}


def without_waiting_for_the_disk(journal):
    """A journal that does not wait for the disk; what a kill leaves of one is shown in test_kill.py."""
    journal._database.execute("PRAGMA synchronous = OFF")
    return journal


class ScriptedRun:
    """One run of a project in a folder: started, stopped and resumed as often as a test wants."""

    def __init__(self, folder: Path, script, steps=OptionalSteps(), usage=None, **project):
        self.folder, self.script, self.steps, self.usage = folder, script, steps, usage
        self.project = small_project(folder / "pond", **project)
        self.run = self.project.folder / "runs" / "1"
        Run.create(self.run, {"project": "pond", "folder": str(self.project.folder)}).close()
        for path in self.project.scenarios.iterdir():
            (self.run / "scenarios").mkdir(exist_ok=True)
            (self.run / "scenarios" / path.name).write_bytes(path.read_bytes())

    def go(self, project=None, submitted=False, before=lambda what: None, on_disk=False):
        """Work until it ends; the outcome. What was asked of whom is in `hands` and `judge` afterwards."""
        self.hands = RememberingAgent(self.script, self.usage, before)
        self.judge = FakeJudge(self.run / "repro", before)
        project = project or self.project
        self.said = []
        with Run.open(self.run, write=True) as run:
            if not on_disk:
                without_waiting_for_the_disk(run.journal)
            context = RunContext(
                project, run, (self.hands,) * project.agent.candidates, self.judge,
                Briefing(project, self.run / "scenarios"), RunOptions(steps=self.steps, say=self.said.append),
                submitted=submitted, remembered={"changes": {}},
            )  # fmt: skip
            outcome = Loop(context).go()
            self.said.append(run.journal.events("run ended")[-1].facts["sentence"])
            return outcome

    def events(self, *kinds):
        with Run.open(self.run) as run:
            return [event for event in run.journal.events() if not kinds or event.kind in kinds]

    def facts(self, kind, *names):
        return [tuple(event.facts[name] for name in names) for event in self.events(kind)]

    def report(self):
        with Run.open(self.run) as run:
            return encode(run_report(run))


def first_events_of(story, folder, count):
    """The same run with nothing but the first events of its journal."""
    again = ScriptedRun(folder, story.script, story.steps, story.usage)
    again.project = story.project
    with Journal.reading(story.run / "journal.sqlite") as old, Journal(again.run / "journal.sqlite") as new:
        without_waiting_for_the_disk(new)
        for event in old.events()[:count]:
            for name in stored_texts(event.facts):
                new.store(old.blob(name))
            new.append(event.kind, **event.facts)
        alone = {one.facts["task"] for one in old.events("task sent") if "group" not in one.facts}
        if event.kind == "task ended" and event.facts["task"] in alone:  # its work lies in its folder, not frozen yet
            left = next(one for one in old.events("candidate frozen") if one.facts["task"] == event.facts["task"])
            for path, name in left.facts["files"].items():
                (again.run / "candidate" / path).write_bytes(old.blob(name))
    return again


def stored_texts(facts):
    names = [facts.get(key) for key in ("prompt", "text", "report", "file", "rules")]
    return [name for name in (*names, *facts.get("files", {}).values()) if name is not None]


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="candidates are made in git worktrees")
TRANSLATE = [f"001-translate-rules.{number}" for number in (1, 2, 3)]


def files_by_candidate(tasks):
    """A script that has the files of each candidate for a task's name; a task that is not there changes nothing."""

    def files(task):
        group, _, number = task.id.rpartition(".")
        return tasks[group[4:]][int(number) - 1] if group[4:] in tasks else {}

    return files


def three_candidates(folder, translate, steps=OptionalSteps(optimise=False), **more):
    """A run in which every task is done by three agents; `tasks` are those after the translation."""
    tasks = {"translate-rules": translate, **more.pop("tasks", {})}
    return ScriptedRun(folder, files_by_candidate(tasks), steps, candidates=3, **more)
