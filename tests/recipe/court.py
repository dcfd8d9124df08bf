"""A small project and a judge that needs no candidate to run: what it says is written in the candidate itself.

A line `2=fail` in a candidate makes level 2 fail, `speed=300` makes it that fast. So a script of candidates is a story.
"""

import json
from pathlib import Path

from overclock.recipe.agents.base import Work
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.briefing import Briefing, module_file
from overclock.recipe.contract_file import Closeness, ContractFile, StateField, format_contract
from overclock.recipe.loop import Loop, Options
from overclock.recipe.project import Judging, Limits, ModulePlan, Project, Reference, format_project
from overclock.recipe.run import Run
from overclock.recipe.verdict import HELD_OUT, Verdict, failure
from overclock.verify.process import CouldNotVerifyError

SCENARIO = {
    "schema": "overclock.scenario/1", "name": "first", "why": "an example", "setup": {"seed": 1},
    "steps": [{"action": 0, "expect": {"reward": 1.0}}],
}  # fmt: skip
SECRET = "which ones is not told"


def small_project(folder, modules=("rules",), levels=(1, 2, 3, 4), **limits):
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


class FakeJudge:
    """Reads its verdicts in the candidate; `repros` is where it leaves those of level 3."""

    def __init__(self, repros=None, before=lambda what: None):
        self.repros, self.before, self.judged, self.timed = repros, before, [], []

    def judge(self, frozen, level, seed, module=None):
        self.before(f"judge {level}")
        self.judged.append((frozen.hash, level, seed, module))
        said = _said(frozen)
        word = said.get(f"{module}.{level}" if module else str(level), "pass")
        if word == "reference":
            raise CouldNotVerifyError("could not verify: the reference: it ended.", "the reference")
        if word == "pass":
            return Verdict(level, "pass", 2, 2, report={"level": level, "verdict": "pass"})
        sentence = f"held-out episodes differ; {SECRET}" if level == HELD_OUT else f"level {level} is off by one"
        facts = failure(level, [sentence], field="state.x", module=module)
        if level == 3 and self.repros is not None:
            facts["repro"] = {"folder": str(self._repro()), "sentence": "x differs after 1 action"}
        return Verdict(level, word, 1, 2, facts)

    def speed(self, frozen):
        self.before("speed")
        self.timed.append(frozen.hash)
        speed = float(_said(frozen).get("speed", 100))
        if speed < 0:
            raise CouldNotVerifyError("could not verify: the candidate: it ended.", "the candidate")
        return {"32": speed, "128": 2 * speed}

    def _repro(self):
        place = self.repros / str(1 + len(list(self.repros.iterdir())))
        (place / "scenarios").mkdir(parents=True)
        named = {**SCENARIO, "name": "repro-x"}
        (place / "scenarios" / "repro-x.json").write_text(json.dumps(named))
        return place


def _said(frozen):
    text = "\n".join(content.decode() for content in frozen.files.values())
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


class Hands(ScriptedAgent):
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
            return Work(planned, f"It {planned}.", usage=self.usage)
        return super().work(task, endpoint)


def env(*lines):
    """A candidate of which the judge says this."""
    return {"env.py": "\n".join((*lines, ""))}


def hastily(journal):
    """A journal that does not wait for the disk; what a kill leaves of one is shown in test_kill.py."""
    journal._database.execute("PRAGMA synchronous = OFF")
    return journal


class Story:
    """One run of a project in a folder: started, stopped and gone on with as often as a test wants."""

    def __init__(self, folder: Path, script, options=Options(), usage=None, **project):
        self.folder, self.script, self.options, self.usage = folder, script, options, usage
        self.project = small_project(folder / "pond", **project)
        self.run = self.project.folder / "runs" / "1"
        Run.create(self.run, {"project": "pond", "folder": str(self.project.folder)}).close()
        for path in self.project.scenarios.iterdir():
            (self.run / "scenarios").mkdir(exist_ok=True)
            (self.run / "scenarios" / path.name).write_bytes(path.read_bytes())

    def go(self, project=None, submitted=False, before=lambda what: None, hasty=True):
        """Work until it ends; the outcome. What was asked of whom is in `hands` and `judge` afterwards."""
        self.hands = Hands(self.script, self.usage, before)
        self.judge = FakeJudge(self.run / "repro", before)
        project = project or self.project
        self.said = []
        with Run.open(self.run, write=True) as run:
            if hasty:
                hastily(run.journal)
            briefing = Briefing(project, self.run / "scenarios", "none")
            loop = Loop(
                project, run, self.hands, self.judge, briefing, options=self.options, submitted=submitted,
                remembered={"changes": {}}, say=self.said.append,
            )  # fmt: skip
            return loop.go()

    def events(self, *kinds):
        with Run.open(self.run) as run:
            return [event for event in run.journal.events() if not kinds or event.kind in kinds]

    def facts(self, kind, *names):
        return [tuple(event.facts[name] for name in names) for event in self.events(kind)]
