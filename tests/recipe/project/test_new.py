"""`new_project`: a folder that can be worked with, from any Gymnasium environment; or one sentence why not."""

from pathlib import Path

import pytest

from overclock.errors import UsageError
from overclock.recipe.contract.file import Closeness, ContractFile, StateField
from overclock.recipe.contract.modules import contract_modules
from overclock.recipe.loop.briefing import Briefing
from overclock.recipe.project.new import new_project
from overclock.recipe.project.twin import project_twin
from overclock.recipe.references.reference import make_env
from overclock.verify.interaction.scenario import load_scenarios
from overclock.verify.property.calls import Recorder
from overclock.verify.property.level import record

gymnasium = pytest.importorskip("gymnasium", reason="references are Gymnasium environments")

# id -> state fields, draws of a reset, draws of a step.
KNOWN = {
    "MountainCar-v0": (["state"], ["uniform_0"], []),
    "Pendulum-v1": (["state"], ["uniform_0"], []),
    "Acrobot-v1": (["state"], ["uniform_0"], []),
    "FrozenLake-v1": (["s"], ["random_0"], ["random_0"]),
    "Taxi-v4": (["fickle_step", "s"], ["random_0"], ["random_0"]),
}


@pytest.mark.parametrize(
    "env_id",
    [pytest.param(name, marks=[pytest.mark.long] * (name not in ("Pendulum-v1", "Taxi-v4"))) for name in KNOWN],
)
def test_a_gymnasium_environment_becomes_a_project_whose_functions_can_be_recorded(env_id, tmp_path, monkeypatch):
    if env_id not in gymnasium.registry:
        pytest.skip(f"this Gymnasium has no {env_id}")
    monkeypatch.setattr("overclock.verify.property.level.STEPS", {"uniform": 32})
    monkeypatch.setattr("overclock.recipe.contract.modules.SEEDS", 64)
    made = new_project(tmp_path / "project", f"gymnasium:{env_id}", "jax")
    contract = made.project.contract
    state, reset, step = KNOWN[env_id]
    assert [field.name for field in contract.state] == state
    assert [draw.name for draw in contract.reset_draws] == reset
    assert [draw.name for draw in contract.step_draws] == step
    twin = project_twin(made.project, tmp_path)
    cases = record(twin).cases
    luck = {"draw", "draw_later", "draw_known"} | (
        {"draw_step", "draw_step_later", "draw_step_known"} if step else set()
    )
    assert set(cases) == {"spaces", *luck, "reset", "transition", "observe", "time_limit"}
    assert all(len(one) > 0 for one in cases.values())
    assert len(load_scenarios(str(made.project.scenarios))) == 8
    assert list(contract.precisions) == ["float64", "float32"], "float32 is what people run"
    last = made.project.modules[-1]
    prompt = Briefing(made.project, made.project.scenarios).translate("001", last)
    assert f"The state has exactly these fields: {state[0]}" in prompt


class Tables:
    """Holds much that never changes."""

    def __init__(self):
        self.x, self.table = 0, list(range(10_000))

    def step(self):
        self.x += 1


def test_only_what_holds_the_state_is_copied_with_every_call():
    name = f"{__name__}:Tables.step"
    with Recorder([name], attributes={name: ("x",)}) as recorder:
        Tables().step()
    (call,) = recorder.samples[name].kept()
    assert (call.before, call.after) == ({"x": 0}, {"x": 1})
    contract = ContractFile((StateField("x", "body.x", "float64"),), precisions={"float64": Closeness()})
    found = {module.name: module for module in contract_modules("pond:Pond", contract)}
    assert (found["transition"].attributes, found["transition"].depth) == (("body",), 1)


def test_a_class_is_made_with_the_limit_that_was_asked_for_last(tmp_path, monkeypatch):
    file, _, _ = written(tmp_path).partition(":")
    monkeypatch.syspath_prepend(str(tmp_path))
    entry_point = f"{Path(file).stem}:Pond"
    assert make_env(entry_point=entry_point, max_steps=3).spec.max_episode_steps == 3
    assert make_env(entry_point=entry_point, max_steps=5).spec.max_episode_steps == 5


ENV = """
import gymnasium
import numpy as np

class Pond(gymnasium.Env):
    def __init__(self):
        self.observation_space = {observations}
        self.action_space = {actions}
        self.x = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = int(self.np_random.integers(5))
        return {shown}, {{}}

    def step(self, action):
        {extra}
        self.x += 1
        return {shown}, 1.0, self.x > 12, {truncated}, {{}}
"""
PLAIN = {
    "observations": "gymnasium.spaces.Discrete(20)", "actions": "gymnasium.spaces.Discrete(2)", "shown": "self.x",
    "extra": "pass", "truncated": "False",
}  # fmt: skip
REFUSED = {
    "a dict of observations": (
        {"observations": 'gymnasium.spaces.Dict({"x": gymnasium.spaces.Discrete(20)})', "shown": '{"x": self.x}'},
        "observations of the reference are a dict",
    ),
    "a tuple of observations": (
        {"observations": "gymnasium.spaces.Tuple([gymnasium.spaces.Discrete(20)])", "shown": "(self.x,)"},
        "observations of the reference are a tuple",
    ),
    "several actions at once": ({"actions": "gymnasium.spaces.MultiDiscrete([2, 3])"}, "neither a Box nor a Discrete"),
    "actions from one": ({"actions": "gymnasium.spaces.Discrete(2, start=1)"}, "starts at 0"),
    "its own truncation": ({"truncated": "self.x == 9"}, "truncates episodes by itself"),
    "luck that varies": ({"extra": "self.x % 2 and self.np_random.random()"}, "random numbers; a contract needs"),
    "luck of the process": ({"extra": "np.random.random()"}, "which is not recorded"),
}


def written(tmp_path, **parts):
    path = tmp_path / f"pond_{abs(hash(tmp_path))}.py"  # one process imports a module of a name once
    path.write_text(ENV.format(**{**PLAIN, **parts}))
    return f"{path}:Pond"


def test_a_class_of_one_s_own_becomes_a_project(tmp_path):
    made = new_project(tmp_path / "project", written(tmp_path), "jax", max_steps=20)
    assert [(field.name, field.dtype) for field in made.project.contract.state] == [("x", "int64")]
    assert all(one.exact for one in made.project.contract.contracts().values())  # nothing but whole numbers
    assert made.project.reference.path == str(tmp_path)


def test_a_reference_that_counts_its_own_steps_becomes_a_project(tmp_path):
    counted = written(tmp_path, extra="self.steps += self.x")
    text = Path(counted.rpartition(":")[0])
    changed = text.read_text().replace("        self.x = int(", "        self.steps = 0\n        self.x = int(", 1)
    text.write_text(changed.replace("self.x > 12", "self.steps > 50"))
    made = new_project(tmp_path / "project", counted, "jax", max_steps=20)
    assert {(field.name, field.read) for field in made.project.contract.state} == {("x", "x"), ("steps_2", "steps")}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_verified_is_refused_in_one_sentence_and_leaves_nothing(name, tmp_path):
    parts, says = REFUSED[name]
    reference = written(tmp_path, **parts)
    with pytest.raises(UsageError) as error:
        new_project(tmp_path / "project", reference, "jax", max_steps=20)
    assert says in str(error.value)
    assert "\n" not in str(error.value)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == [
        Path(reference.partition(":")[0]).name
    ]


def test_a_folder_with_a_project_is_not_overwritten(tmp_path):
    reference = written(tmp_path)
    new_project(tmp_path / "project", reference, "jax", max_steps=20)
    with pytest.raises(UsageError, match="There is a project"):
        new_project(tmp_path / "project", reference, "jax", max_steps=20)


def test_a_folder_with_other_things_keeps_them(tmp_path):
    (tmp_path / "project" / "scenarios").mkdir(parents=True)
    (tmp_path / "project" / "scenarios" / "mine.json").write_text("{}")
    with pytest.raises(UsageError, match="project' is not empty; choose a new folder for the project"):
        new_project(tmp_path / "project", written(tmp_path), "jax", max_steps=20)
    assert [path.name for path in (tmp_path / "project").iterdir()] == ["scenarios"]


def test_a_command_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(UsageError, match="write a readable Python environment"):
        new_project(tmp_path / "project", "cat rules")
