"""kill -9 in each phase, then resume: finished work is not repeated, and what was spent stays spent."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from recipe.court import Story
from recipe.killable import PRICE, SCRIPT

from overclock.recipe.loop import Options
from overclock.recipe.project import load_project
from overclock.recipe.run_cost import spending

TESTS = Path(__file__).parents[1]
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


class Resumed(Story):
    """A story whose run is there already."""

    def __init__(self, project):
        self.script, self.usage, self.project = SCRIPT, PRICE, project
        self.run, self.options = project.folder / "runs" / "1", Options()


def killed(folder, place):
    """A run that was killed at a place."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = [sys.executable, str(TESTS / "recipe" / "killable.py"), str(folder), place]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == place
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("place", PLACES)
def test_a_killed_run_goes_on_where_it_was(tmp_path, place):
    finished, first = PLACES[place]
    killed(tmp_path, place)
    story = Resumed(load_project(tmp_path / "pond"))
    ended = story.facts("task ended", "task")
    assert len(ended) == finished
    before = spending(story.events()).so_far()["dollars"]
    assert before == (0.25 * finished if finished else None)
    steps = []
    assert story.go(before=steps.append) == "done"
    assert steps[0] == first
    assert not {task for (task,) in ended} & set(story.hands.tasks)
    everything = [task for (task,) in story.facts("task ended", "task")]
    assert everything == ["001-translate-rules", "002-repair-1-level-1", "003-optimise-1", "004-optimise-2"]
    assert spending(story.events()).so_far()["dollars"] == 0.25 * len(everything)
    pairs = story.facts("judged", "candidate", "level")
    assert len(pairs) == len(set(pairs))
