"""`gymnasium.make("overclock/...")`: found, light to register, and truncated once."""

import subprocess
import sys

import numpy as np
import pytest

import overclock
from overclock.adapters import gymnasium_plugin
from overclock.c_compiler import c_compiler_fault
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


def test_make_gives_the_usual_wrappers(backend):
    env = gymnasium.make(ID, backend=backend)
    names = []
    while isinstance(env, gymnasium.Wrapper):
        names.append(type(env).__name__)
        env = env.env
    assert names == ["TimeLimit", "OrderEnforcing", "PassiveEnvChecker"]
    assert env.spec.id == ID


def wound_forward(env, steps):
    """An environment whose episode already had that many steps, wherever they are counted, with the pole upright."""
    env.reset(seed=0)
    state = env.unwrapped.host.get_state()
    for name in state:
        if name.split(".")[-1] in ("x", "x_dot", "theta", "theta_dot"):
            state[name][:] = 0
        elif name.split(".")[-1] == "steps":
            state[name][:] = steps
    env.unwrapped.host.set_state(state)
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            env._elapsed_steps = steps
        env = env.env


def flags(env, action):
    """Of a step: (terminated, truncated) of one environment, or of the first lane."""
    vector = isinstance(env, gymnasium.vector.VectorEnv)
    _, _, terminated, truncated, _ = env.step(np.full(2, action) if vector else action)
    return (bool(terminated[0]), bool(truncated[0])) if vector else (terminated, truncated)


def one(**options):
    return gymnasium.make(ID, **options)


def many(**options):
    return gymnasium.make_vec(ID, num_envs=2, **options)


@pytest.mark.parametrize("made", [one, many])
@pytest.mark.parametrize(("options", "limit"), [({}, LIMIT), ({"max_episode_steps": 40}, 40),
                                                ({"max_episode_steps": 1000}, 1000)])  # fmt: skip
def test_the_limit_asked_for_is_the_only_one(made, options, limit, backend):
    """The environment's own, a shorter one, a longer one; the spec tells which, and makes it again."""
    first = made(backend=backend, **options)
    for env in (first, gymnasium.make(first.spec) if made is one else gymnasium.make_vec(first.spec)):
        assert env.spec.max_episode_steps == limit
        for steps in {LIMIT, limit}:
            if steps <= limit:
                wound_forward(env, steps - 2)
                expected = [(False, False), (False, steps == limit)]
                assert [flags(env, action) for action in (0, 1)] == expected, steps


@pytest.mark.parametrize("made", [one, many])
def test_minus_one_means_no_limit(made, backend):
    first = made(backend=backend, max_episode_steps=-1)
    for env in (first, gymnasium.make(first.spec) if made is one else gymnasium.make_vec(first.spec)):
        assert env.spec.max_episode_steps is None
        wound_forward(env, LIMIT - 2)
        assert [flags(env, action) for action in (0, 1, 0, 1)] == [(False, False)] * 4


def test_an_environment_made_directly_has_the_limit_itself(backend):
    from overclock.adapters.gymnasium import GymnasiumEnv

    for given, limit in ((None, LIMIT), (600, 600), (-1, None)):
        direct = GymnasiumEnv("cartpole", backend=backend, max_episode_steps=given)
        assert direct.spec.max_episode_steps == gymnasium.make(direct.spec).spec.max_episode_steps == limit
        wound_forward(direct, (limit or LIMIT) - 1)
        assert flags(direct, 0) == (False, limit is not None)


def test_the_spec_survives_being_written_down():
    import copy
    import pickle

    spec = gymnasium.spec(ID)
    again = gymnasium.envs.registration.EnvSpec.from_json(spec.to_json())
    for each in (again, copy.deepcopy(spec), pickle.loads(pickle.dumps(spec))):
        assert (each.max_episode_steps, each.kwargs) == (LIMIT, spec.kwargs)


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


@pytest.mark.skipif(bool(c_compiler_fault()), reason=c_compiler_fault())
def test_gymnasium_gets_the_fastest_backend_unless_told_otherwise():
    for env in (gymnasium.make_vec(ID, num_envs=2), gymnasium.make(ID)):
        assert env.unwrapped.host.venv.backend == "c"
    for env in (gymnasium.make_vec(ID, num_envs=2, backend="xla"), gymnasium.make(ID, backend="xla")):
        assert env.unwrapped.host.venv.backend == "xla"


def test_without_a_c_compiler_gymnasium_gets_xla(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    for env in (gymnasium.make_vec(ID, num_envs=2), gymnasium.make(ID)):
        assert env.unwrapped.host.venv.backend == "xla"
        env.reset(seed=1)
