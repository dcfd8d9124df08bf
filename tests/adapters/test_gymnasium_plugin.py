"""`gymnasium.make("overclock/...")`: found, light to register, and truncated once."""

import subprocess
import sys

import numpy as np
import pytest

import overclock
from overclock.adapters import gymnasium_plugin
from overclock.env import registry as overclock_registry

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")

ID = "overclock/cartpole-v1"
LIMIT = 500  # CartPole's


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("imports", ["import gymnasium, overclock", "import overclock, gymnasium"])
def test_importing_both_in_either_order_registers_and_loads_no_jax(imports):
    program = f"""
import sys
{imports}
rules = [name for name in sys.modules if name.startswith("overclock.envs.")]
print({ID!r} in gymnasium.registry, "jax" in sys.modules, rules)
"""
    assert run(program) == "True False []"


def test_an_id_with_its_module_needs_no_import():
    made = run(f"import gymnasium; print(gymnasium.make('overclock:{ID}').reset(seed=1)[0].tolist())")
    assert made == str(gymnasium.make(ID).reset(seed=1)[0].tolist())


def test_gymnasium_is_not_imported_for_those_who_do_not_use_it():
    assert run("import overclock, sys; print('gymnasium' in sys.modules)") == "False"


def test_make_gives_the_usual_wrappers_and_no_time_limit(backend):
    env = gymnasium.make(ID, backend=backend)
    names = []
    while isinstance(env, gymnasium.Wrapper):
        names.append(type(env).__name__)
        env = env.env
    assert names == ["OrderEnforcing", "PassiveEnvChecker"]
    assert env.spec.id == ID


def test_the_environments_own_limit_truncates_exactly_once(backend):
    env = gymnasium.make(ID, backend=backend)
    env.reset(seed=0)
    host = env.unwrapped.host
    state = host.get_state()
    (steps,) = (name for name in state if name.split(".")[-1] == "steps")
    state[steps][:] = LIMIT - 3
    host.set_state(state)
    assert [env.step(action)[2:4] for action in (0, 1, 0)] == [(False, False), (False, False), (False, True)]


def test_a_shorter_limit_can_be_asked_for():
    env = gymnasium.make(ID, max_episode_steps=3)
    env.reset(seed=0)
    assert [env.step(action)[3] for action in (0, 1, 0)] == [False, False, True]
    envs = gymnasium.make_vec(ID, num_envs=2, max_episode_steps=3)
    envs.reset(seed=0)
    assert [envs.step(np.array([a, a]))[3].tolist() for a in (0, 1, 0)] == [[False] * 2, [False] * 2, [True] * 2]


def test_make_vec_uses_our_batch(backend):
    envs = gymnasium.make_vec(ID, num_envs=8, backend=backend, autoreset="same_step")
    assert type(envs).__name__ == "GymnasiumVectorEnv"
    assert envs.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    assert envs.spec.id == ID
    obs, _ = envs.reset(seed=3)
    one = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync", backend=backend)
    np.testing.assert_array_equal(one.reset(seed=3)[0], obs[:2])


def test_options_reach_the_environment():
    env = gymnasium.make(ID, sutton_barto_reward=True)
    env.reset(seed=0)
    assert env.step(0)[1] == 0.0


def test_the_recorded_spec_makes_the_same_environment_again(backend):
    from overclock.adapters.gymnasium import GymnasiumEnv, make_vec

    single = GymnasiumEnv("cartpole", backend=backend)
    again = gymnasium.make(single.spec)
    np.testing.assert_array_equal(again.reset(seed=2)[0], single.reset(seed=2)[0])
    vector = make_vec("cartpole", 3, "off", backend)
    twin = gymnasium.make_vec(vector.spec)
    assert (twin.num_envs, twin.metadata) == (3, vector.metadata)


def test_an_environment_of_ones_own_is_reachable(stairs, monkeypatch):
    monkeypatch.setattr(overclock_registry, "_registry", dict(overclock_registry._registry))
    cls = type(stairs)
    overclock.register(overclock.Spec(id="stairs-v0", entry_point=f"{cls.__module__}:{cls.__qualname__}"))
    gymnasium_plugin.register_all()
    try:
        env = gymnasium.make("overclock/stairs-v0")
        obs, info = env.reset(seed=0)
        assert obs["height"] == 0
        assert info["action_mask"].tolist() == [1, 1, 1]
    finally:
        del gymnasium.registry["overclock/stairs-v0"]
