"""kill -9 in each phase, then resume: finished work is not repeated, and what was spent stays spent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from recipe.hanging_run import PRICE, SCRIPT, killable_run
from recipe.scripted_run import ScriptedRun, needs_git

from overclock.recipe.loop.context import OptionalSteps
from overclock.recipe.project.project import load_project
from overclock.recipe.runs.cost import spending
from overclock.recipe.runs.journal import Journal

TESTS = Path(__file__).parents[2]
# Where it is killed -> tasks finished before, the first thing that is done afterwards.
PLACES = {
    "agent 001-translate-rules": (0, "agent 001-translate-rules"),
    "judge 1": (1, "judge 1"),
    "agent 002-repair-1-level-1": (1, "agent 002-repair-1-level-1"),
    "judge 2": (2, "judge 2"),
    "judge 3": (2, "judge 3"),
    "judge held-out": (2, "judge held-out"),
    "judge 4": (2, "judge 4"),
    "speed": (2, "speed"),
    "agent 003-optimise-1": (2, "agent 003-optimise-1"),
}


class Resumed(ScriptedRun):
    """A story whose run is there already."""

    def __init__(self, project):
        self.script, self.usage, self.project = SCRIPT, PRICE, project
        self.run, self.steps = project.folder / "runs" / "1", OptionalSteps()


def killed(folder, place, candidates=1, until=lambda: True):
    """A run that was killed at a place, once something holds."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = [sys.executable, str(TESTS / "recipe" / "hanging_run.py"), str(folder), place, str(candidates)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == place
        while not until():
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def unkilled(tmp_path_factory):
    """The report of the same run, undisturbed."""
    whole = killable_run(tmp_path_factory.mktemp("unkilled"), 1)
    assert whole.go() == "done"
    return lasting(whole.report())


def lasting(report):
    """Without what a second run would not repeat."""
    seeds = [{**drawn, "seed": None} for drawn in report["seeds"]]
    return {name: value for name, value in {**report, "seeds": seeds}.items() if name != "volatile"}


@pytest.mark.parametrize("place", PLACES)
def test_a_killed_run_goes_on_where_it_was(tmp_path, place, unkilled):
    finished, first = PLACES[place]
    killed(tmp_path, place)
    story = Resumed(load_project(tmp_path / "pond"))
    if place.startswith("agent"):
        (story.run / "candidate" / "half.py").write_text("written as far as")  # what the agent was doing
    ended = story.facts("task ended", "task")
    assert len(ended) == finished
    before = spending(story.events()).so_far().dollars
    assert before == (0.25 * finished if finished else None)
    steps = []
    assert story.go(before=steps.append) == "done"
    assert steps[0] == first
    assert not {task for (task,) in ended} & set(story.hands.tasks)
    everything = [task for (task,) in story.facts("task ended", "task")]
    assert everything == ["001-translate-rules", "002-repair-1-level-1", "003-optimise-1", "004-optimise-2"]
    assert spending(story.events()).so_far().dollars == 0.25 * len(everything)
    pairs = story.facts("judged", "candidate", "level")
    assert len(pairs) == len(set(pairs))
    assert not any("half.py" in files for (files,) in story.facts("candidate frozen", "files"))
    assert not (story.run / "candidate" / "half.py").exists()
    assert lasting(story.report()) == unkilled


@needs_git
@pytest.mark.parametrize("place", ["agent 001-translate-rules.2", "judge 1"])
def test_of_several_candidates_only_those_that_had_not_ended_are_asked_for_again(tmp_path, place):
    ended = 2 if place.startswith("agent") else 3
    project = tmp_path / "pond"

    def others_have_ended():
        with Journal.reading(project / "runs" / "1" / "journal.sqlite") as journal:
            return len(journal.events("task ended")) == ended

    killed(tmp_path, place, 3, others_have_ended)
    assert (project / "runs" / "1" / "candidates").is_dir()  # what the kill left
    story = Resumed(load_project(project))
    assert story.go() == "done"
    first = [task for task in story.hands.tasks if task.startswith("001")]
    assert first == ([place.removeprefix("agent ")] if ended == 2 else [])
    everything = [task for (task,) in story.facts("task ended", "task")]
    assert len(everything) == len(set(everything)) == 12
    assert spending(story.events()).so_far().dollars == 0.25 * 12
    assert not (project / "runs" / "1" / "candidates").exists()
    undisturbed = killable_run(tmp_path / "undisturbed", 3)
    assert undisturbed.go() == "done"
    assert lasting(story.report()) == lasting(undisturbed.report())
