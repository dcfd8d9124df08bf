"""Before a run begins: whatever could only fail after somebody was paid is said first, and leaves nothing behind."""

import dataclasses
import json
from pathlib import Path

import pytest

from overclock.errors import MissingError, UsageError
from overclock.recipe.loop.context import RunOptions
from overclock.recipe.loop.translate import resume, translate
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Changes, Judging, format_project, load_project

pytest.importorskip("gymnasium", reason="the reference is a Gymnasium environment")
pytestmark = pytest.mark.usefixtures("ready")

POND = """
import gymnasium
import numpy as np


class PondEnv(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-1.0, 1.0)
        return self._seen(), {}

    def step(self, action):
        self.x = self.x + (0.5 if action == 1 else -0.5)  # a comment
        return self._seen(), 1.0, bool(abs(self.x) > 3.0), False, {}

    def _seen(self):
        return np.array([self.x], np.float32)
"""
QUIET = RunOptions(sandbox="none")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("pond")
    (place / "pond.py").write_text(POND)
    new_project(place / "project", str(place / "pond.py"), "jax", judging=Judging(levels=(1, 2, 3)), max_steps=9)
    return place


@pytest.fixture
def project(made):
    """The project, as it was before a test changed its files."""
    kept = {path: path.read_bytes() for path in made.rglob("*") if path.is_file() and "runs" not in path.parts}
    yield load_project(made / "project")
    for path, content in kept.items():
        path.write_bytes(content)


def refused(project, run_id, options=QUIET, changes=Changes()):
    """What is said about a start that is refused; no run is left behind."""
    with pytest.raises((UsageError, MissingError)) as error:
        translate(project, run_id, options, changes)
    assert not (project.folder / "runs" / run_id).exists()
    return str(error.value)


def test_a_project_as_it_was_made_is_ready(project):
    run = translate(project, "ready", QUIET)
    assert run.outcome == "waiting"
    assert resume(project, run.run, QUIET).outcome == "waiting"


def test_a_module_s_source_that_is_gone(project):
    (project.folder / "modules" / "pond.txt").unlink()
    assert "The source of the module 'pond' cannot be read" in refused(project, "gone")


def test_a_reference_that_has_changed_is_to_be_followed_first(project, made):
    path = made / "pond.py"
    path.write_text(POND.replace("  # a comment", "  # another comment"))
    assert translate(project, "same-rules", QUIET).outcome == "waiting"
    path.write_text(POND.replace("0.5 if", "0.25 if"))
    said = refused(project, "changed")
    assert "The reference has changed since" in said
    assert f"`overclock update {project.folder}`" in said


def test_a_reference_that_has_not_what_the_contract_reads(project):
    path = project.contract_path
    path.write_text(path.read_text().replace('read = "x"', 'read = "y"'))
    said = refused(load_project(project.folder), "broken")
    assert "Nothing was started, because the reference cannot be used" in said
    assert "'y'" in said


def test_a_scenario_that_the_reference_does_not_play(project):
    path = project.scenarios / "steady-first.json"
    content = json.loads(path.read_text())
    content["steps"][0]["expect"]["reward"] = 7.0
    path.write_text(json.dumps(content))
    assert "does not play the scenario 'steady-first': step 1" in refused(project, "stale")
    path.write_text("{")
    assert "steady-first.json" in refused(project, "unreadable")


def test_an_implementation_that_is_also_judged_by(project):
    judging = dataclasses.replace(project.judging, also="nobody_has_this:subject")
    said = refused(dataclasses.replace(project, judging=judging), "also")
    assert "judging.also cannot be used" in said
    assert "nobody_has_this" in said


def test_training_that_nobody_can_do(project):
    pytest.importorskip("flax", reason="level 4 trains")
    judging = Judging(levels=(1, 4), training={"total_stepz": 3})
    other = dataclasses.replace(project, judging=judging)
    (project.folder / "overclock.toml").write_text(format_project(other))
    assert "total_stepz" in refused(other, "training")


def test_a_prompt_of_the_project_s_own_that_is_no_template(project):
    place = project.folder / "prompts"
    place.mkdir(exist_ok=True)
    (place / "translate.md.j2").write_text("{% if %}")
    assert "is not a Jinja template" in refused(project, "prompt")
    (place / "translate.md.j2").unlink()


@pytest.mark.parametrize(
    ("changes", "options", "said"),
    [
        (Changes("bogus"), QUIET, "No agent is called 'bogus'"),
        (Changes("claude"), RunOptions(program="/nowhere/claude", upstream="http://127.0.0.1:9"), "/nowhere/claude"),
        (Changes("replay:nowhere"), QUIET, "no run in 'nowhere'"),
        (Changes(budget=-1.0), QUIET, "limits.dollars"),
        (Changes(), RunOptions(sandbox="bogus"), "bogus"),
        (Changes(), RunOptions(prices=Path("nowhere.toml")), "nowhere.toml"),
    ],
)
def test_means_that_are_not_there(project, changes, options, said):
    assert said in refused(project, "means", options, changes)


def test_a_run_s_name_cannot_lead_out_of_its_project(project):
    with pytest.raises(UsageError, match="A run cannot be called"):
        translate(project, "../../evil", QUIET)
