"""How references are made: every argument of a constructor reaches it, whatever it is called."""

import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium environments")

import gymnasium

from overclock.recipe.agents.builtin_agent import program_of
from overclock.recipe.project.new import BUILT_IN, new_project
from overclock.recipe.project.project import AgentChoice, Judging
from overclock.recipe.project.twin import project_twin
from overclock.recipe.references.reference import registered, time_limit
from overclock.verify.sides.selfcheck import check_reference

OWN = """
import gymnasium


class Own{number}(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(100)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, max_episode_steps=50, env_id=1, num_envs=1, vectorization_mode=1, render_mode=None):
        self.by = max_episode_steps + 10 * env_id + 100 * num_envs + 1000 * vectorization_mode

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at, {{}}

    def step(self, action):
        self.at = (self.at + self.by) % 100
        return self.at, float(self.by), False, False, {{}}

    def close(self):
        raise RuntimeError("no window is open")
"""
ARGUMENTS = {"max_episode_steps": 7, "env_id": 2, "num_envs": 3, "vectorization_mode": 4}


@pytest.fixture
def own(tmp_path, monkeypatch, request):
    number = abs(hash(request.node.name))
    (tmp_path / f"own_{number}.py").write_text(OWN.format(number=number))
    monkeypatch.syspath_prepend(tmp_path)
    return f"own_{number}:Own{number}", tmp_path / f"own_{number}.py"


def test_a_class_gets_all_its_arguments_and_the_limit_is_ours(own):
    env = gymnasium.make(registered(entry_point=own[0], arguments=ARGUMENTS, max_steps=9))
    assert env.unwrapped.by == 4327
    assert time_limit(env)._max_episode_steps == 9


def test_an_id_gets_all_its_arguments_as_well(own):
    gymnasium.register("overclock-test/Own-v0", entry_point=own[0], max_episode_steps=5, kwargs={"num_envs": 9})
    try:
        env = gymnasium.make(registered(id="overclock-test/Own-v0", arguments={"max_episode_steps": 7}))
        assert env.unwrapped.by == 7 + 10 + 900 + 1000
        assert time_limit(env)._max_episode_steps == 5
        assert gymnasium.spec("overclock-test/Own-v0").kwargs == {"num_envs": 9}
    finally:
        gymnasium.registry.pop("overclock-test/Own-v0")


def test_a_project_of_it_is_translated_with_them_and_its_reference_can_be_played(own, tmp_path):
    made = new_project(
        tmp_path / "made", str(own[1]), "jax", AgentChoice(BUILT_IN), judging=Judging(levels=(1,)), arguments=ARGUMENTS,
        max_steps=9,
    )  # fmt: skip
    assert made.project.reference.max_steps == 9
    program = program_of("own", made.project.reference.make(), made.project.reference.path)
    assert program.max_steps == 9
    (tmp_path / "candidate").mkdir()
    assert check_reference(project_twin(made.project, tmp_path / "candidate"), lanes=2, steps=20).passed
