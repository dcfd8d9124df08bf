"""A whole run: CartPole translated with two mistakes in a row, both caught and repaired, judged at every level.

The agent follows a script; everything else is real: the survey, the sandbox, four levels, the journal, the report.
"""

import json
import shutil

import pytest
from recipe.cartpole_candidates import CORRECT, SCRIPT, VERSIONS
from recipe.projects import in_float64
from recipe.scripted_run import small_project, stored_texts

from overclock.errors import UsageError
from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.judging.hygiene.frozen import tree_hash
from overclock.recipe.judging.judge import Judge
from overclock.recipe.loop.context import RunOptions
from overclock.recipe.loop.translate import resume, translate
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Changes, Judging, load_project
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import Run
from overclock.results import encode

# Small enough for a test; what level 4 needs at least to say "equivalent" of a pole that falls at once.
TRAINING = {"total_steps": 2048, "num_envs": 8, "num_steps": 64, "hidden": [8]}
JUDGING = Judging(episodes=4, held_out=4, seeds=3, looks=1, transfer_episodes=16, training=TRAINING)
FIRST, SECOND, THIRD = (tree_hash({path: text.encode() for path, text in one.items()}) for one in VERSIONS)


class NobodyWorks:
    """An agent that is never needed."""

    name = "scripted"

    def work(self, task, endpoint):
        raise AssertionError(f"{task.id} was done already")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The project, how its run ended, and the report that was written."""
    pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")
    folder = tmp_path_factory.mktemp("told") / "cartpole"
    project = in_float64(new_project(folder, "gymnasium:CartPole-v1", "jax", judging=JUDGING).project)
    ended = translate(project, "1", RunOptions(agent=ScriptedAgent(SCRIPT)))
    return project, ended, json.loads((ended.run / "report.json").read_text())


@pytest.mark.long
def test_both_mistakes_are_caught_where_they_show_and_repaired(told):
    _, ended, report = told
    assert ended.outcome == "done", ended.sentence
    sign, counter = report["caught"]
    assert (sign["level"], sign["module"], sign["field"]) == (1, "transition", "state")
    assert (sign["candidate"], sign["repaired_by"]["candidate"]) == (FIRST, SECOND)
    assert (counter["level"], counter["field"]) == (2, "steps")
    assert "across a reset" in counter["sentence"]
    assert (counter["candidate"], counter["repaired_by"]["candidate"]) == (SECOND, THIRD)


@pytest.mark.long
def test_the_repair_prompts_say_what_is_wrong(told):
    _, ended, _ = told
    with Run.open(ended.run) as run:
        sent = {event.facts["task"]: event.facts["prompt"] for event in run.journal.events("task sent")}
        prompts = {task: run.journal.blob(name).decode() for task, name in sent.items()}
    assert "transition: state differs from the reference. For the inputs" in prompts["002-repair-1-level-1"]
    second = prompts["003-repair-2-level-2"]
    assert "across a reset): steps" in second
    assert "`step` is derived by the base class" in second


@pytest.mark.long
def test_the_truth_holds_at_every_level(told):
    _, ended, report = told
    assert report["final"]["candidate"] == THIRD
    assert (ended.run / "candidate" / "env.py").read_text() == CORRECT
    verdicts = {entry["level"]: entry["verdict"] for entry in report["final"]["levels"]}
    assert verdicts == dict.fromkeys([0, 1, 2, 3, 4, "held-out"], "pass")
    transfer = next(one["report"] for one in report["volatile"]["verification"] if one["level"] == 4)
    assert {group["verdict"] for group in transfer["groups"]} == {"equivalent"}
    (measured,) = report["volatile"]["throughput"]
    assert measured["candidate"] == THIRD
    assert set(measured["sps"]) == {"32", "128", "512", "2048", "8192"}


@pytest.mark.long
def test_a_report_is_written_for_people_and_programs(told):
    _, ended, report = told
    assert {path.name for path in ended.run.glob("report.*")} == {"report.html", "report.md", "report.json"}
    assert "steps" in (ended.run / "report.md").read_text()
    assert report["outcome"] == "done"
    assert [phase["phase"] for phase in report["phases"]] == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_the_journal_replays_to_the_same_report(told, tmp_path, monkeypatch):
    project, ended, report = told
    with Run.open(ended.run) as old, Run.create(tmp_path / "1", {**old.about}) as new:
        *events, _ = old.journal.events()  # without its end, which the replay writes
        for event in events:
            for name in stored_texts(event.facts):
                new.journal.store(old.journal.blob(name))
            new.journal.append(event.kind, **event.facts)
    shutil.copytree(ended.run / "scenarios", tmp_path / "1" / "scenarios")
    for name in ("judge", "speed"):
        monkeypatch.setattr(Judge, name, lambda *_: pytest.fail("nothing has to be judged again"))
    again = resume(project, tmp_path / "1", RunOptions(agent=NobodyWorks()))
    replayed = json.loads((again.run / "report.json").read_text())
    assert again.outcome == "done"
    assert without_volatile(replayed) == without_volatile(report)
    with Run.open(ended.run) as run:
        assert without_volatile(json.loads(json.dumps(encode(run_report(run))))) == without_volatile(report)


def without_volatile(report):
    assert report["volatile"]
    return {name: value for name, value in report.items() if name != "volatile"}


@pytest.mark.long
def test_a_finished_run_is_not_resumed(told):
    project, ended, _ = told
    with pytest.raises(UsageError, match="is done"):
        resume(project, ended.run)


# ---- what a run remembers ----


def test_a_run_goes_on_with_what_it_was_started_with(tmp_path):
    project = small_project(tmp_path / "pond", dollars=2.0)
    options = RunOptions(agent_sandbox="none", sandbox="none")
    started = translate(project, "1", options, Changes("manual", levels=(1, 3)))
    assert started.outcome == "waiting"
    again = resume(load_project(project.folder), started.run, options)
    assert again.outcome == "waiting"
    with Run.open(started.run) as run:
        report = encode(run_report(run))
    assert (report["agent"], report["levels"]) == ("manual", [1, 3])
    with pytest.raises(UsageError, match="There are levels 1 to 4"):
        translate(project, "2", options, Changes(levels=(5,)))


def test_only_a_waiting_run_takes_a_submission(tmp_path):
    project = small_project(tmp_path / "pond")
    Run.create(project.folder / "runs" / "1", {"project": "pond", "folder": str(project.folder)}).close()
    with pytest.raises(UsageError, match="does not wait"):
        resume(project, project.folder / "runs" / "1", submitted=True)


def test_a_run_that_waits_for_approval_says_so_and_takes_no_submission(tmp_path):
    project = small_project(tmp_path / "pond")
    folder = project.folder / "runs" / "1"
    with Run.create(folder, {"project": "pond", "folder": str(project.folder)}) as run:
        run.journal.append(
            "help asked", level=0, sentence="Are these the rules?", how="`overclock resume` approves it."
        )
        run.journal.append("run ended", outcome="waiting", sentence="Are these the rules?")
    said = r"waits for your approval, there is nothing to submit. Are these the rules\? `overclock resume` approves it"
    with pytest.raises(UsageError, match=said):
        resume(project, folder, submitted=True)
    with Run.open(folder) as run:
        assert run.journal.events("help given") == []  # nothing was approved by that
