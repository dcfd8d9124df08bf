"""A lane of a batch is the environment itself: same numbers as a single instance, in every auto-reset mode."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Countdown, CountdownParams, Dealer, Duel, Rooms
from vector.lanes import assert_equal, lane, play_alone, play_batch

from overclock.env import Params, Rng
from overclock.envs.cartpole.env import CartPole
from overclock.errors import UsageError
from overclock.vector import Fresh, Optimistic, vectorize

MODES = ["same_step", "next_step", "off"]
LANES, STEPS = 6, 25

# What ends an episode, by probe and parameters; a pace of 0 never gets to the end.
ENDINGS = {
    "terminated only": (Countdown(), CountdownParams(max_steps=1000)),
    "truncated only": (Countdown(), CountdownParams(max_steps=5, pace=0)),
    "both at once": (Countdown(shortest=4, spread=1), CountdownParams(max_steps=4)),
    "either": (Countdown(), CountdownParams(max_steps=4)),
    "never": (Countdown(), CountdownParams(max_steps=1000, pace=0)),
    "dict observation": (Rooms(), Params(max_steps=7)),
    "tape": (Dealer(), Params(max_steps=9)),
    "two players": (Duel(), Params(max_steps=10)),
    "cartpole": (CartPole(), CartPole().default_params().replace(max_steps=20)),
}


def random_actions(env, params, steps=STEPS, lanes=LANES):
    shape = (steps, lanes) if env.num_players == 1 else (steps, lanes, env.num_players)
    return np.random.default_rng(0).integers(0, env.action_space(params).n, shape).astype(np.int32)


@pytest.mark.parametrize("autoreset", MODES)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_lane_equals_a_single_instance(ending, autoreset):
    env, params = ENDINGS[ending]
    venv = vectorize(env, LANES, autoreset)
    rng = Rng.of(jax.random.key(3))
    obs, state = venv.reset(rng, params)
    actions = random_actions(env, params)
    _, rows = play_batch(venv, state, obs, actions, params)
    for i in (0, LANES - 1):
        alone = play_alone(env, lane(rng.lanes(LANES), i), actions[:, i], params, autoreset)
        for t, (expected, row) in enumerate(zip(alone, rows, strict=True)):
            expected = jax.tree.map(np.asarray, expected)
            assert_equal(lane(row, i), expected, f"lane {i}, step {t}")
    ends = [bool(row["terminated"][i] | row["truncated"][i]) for row in rows for i in range(LANES)]
    assert any(ends) == (ending != "never")


def test_the_flags_of_each_ending_are_what_its_name_says():
    seen = {}
    for ending in ("terminated only", "truncated only", "both at once"):
        env, params = ENDINGS[ending]
        venv = vectorize(env, LANES)
        obs, state = venv.reset(jax.random.key(0), params)
        _, rows = play_batch(venv, state, obs, random_actions(env, params), params)
        flags = {(bool(a), bool(b)) for row in rows for a, b in zip(row["terminated"], row["truncated"], strict=True)}
        seen[ending] = flags - {(False, False)}
    assert seen == {
        "terminated only": {(True, False)},
        "truncated only": {(False, True)},
        "both at once": {(True, True)},
    }


def test_environment_step_is_a_lane_of_same_step():
    env, params = ENDINGS["either"]
    rng = lane(Rng.of(5).lanes(2), 1)
    actions = random_actions(env, params)[:, 1]
    obs, state = env.reset(rng, params)
    for action, row in zip(actions, play_alone(env, rng, actions, params, "same_step"), strict=True):
        rng = rng.advance()
        obs, state, reward, terminated, truncated, info = env.step(rng, state, action, params)
        final = info.pop("final_observation")
        stepped = {"obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated}
        expected = {name: value for name, value in row.items() if name != "before"}
        assert_equal({**stepped, "final": final, "info": info}, expected)


def test_a_jax_key_and_its_rng_are_the_same_batch():
    venv = vectorize(Countdown(), 3)
    key = jax.random.key(8)
    for same in (Rng.of(key), jax.random.key_data(key), Rng.of(key).lanes(3)):
        assert_equal(venv.reset(same), venv.reset(key))


@pytest.mark.parametrize("resets", [Fresh(), Optimistic(2)])
@pytest.mark.parametrize("autoreset", MODES)
def test_permuting_the_lanes_permutes_the_results(autoreset, resets):
    env, params = Countdown(spread=30), CountdownParams()
    order = np.array([3, 1, 5, 0, 2, 4])
    venv = vectorize(env, LANES, autoreset, resets)
    rng = Rng.of(1).lanes(LANES)
    actions = random_actions(env, params)
    batches = []
    for lanes, moves in ((rng, actions), (jax.tree.map(lambda leaf: leaf[order], rng), actions[:, order])):
        obs, state = venv.reset(lanes, params)
        state, rows = play_batch(venv, state, obs, moves, params)
        assert int(state.store.shared) == 0
        batches.append(rows)
    assert any(row["terminated"].any() for row in batches[0])
    assert_equal(batches[1], jax.tree.map(lambda leaf: leaf[order], batches[0]))


@pytest.mark.parametrize("resets", [Fresh(), Optimistic(1)], ids=str)
@pytest.mark.parametrize("autoreset", MODES)
def test_a_lane_with_other_params_equals_a_single_instance_with_those_params(autoreset, resets):
    env = Countdown()
    limit, pace = np.array([2, 3, 9, 5], np.int32), np.array([1, 2, 1, 3], np.int32)
    batched = CountdownParams(max_steps=limit, pace=pace, bonus=0.5)
    venv = vectorize(env, 4, autoreset, resets)
    rng = Rng.of(2)
    obs, state = venv.reset(rng, batched)
    actions = random_actions(env, batched, lanes=4)
    _, rows = play_batch(venv, state, obs, actions, batched)
    for i in range(4):
        own = CountdownParams(max_steps=int(limit[i]), pace=int(pace[i]), bonus=0.5)
        alone = play_alone(env, lane(rng.lanes(4), i), actions[:, i], own, autoreset)
        for row, expected in zip(rows, alone, strict=True):
            assert_equal(lane(row, i), jax.tree.map(np.asarray, expected))


@pytest.mark.parametrize("length", [1, 3, 5])
def test_params_of_the_wrong_length_are_refused(length):
    venv = vectorize(Countdown(), 4)
    params = CountdownParams(pace=np.ones(length, np.int32))
    with pytest.raises(UsageError, match=f"{length} entries for 4 lanes"):
        venv.reset(jax.random.key(0), params)


def test_a_batched_time_limit_may_replace_no_time_limit():
    venv = vectorize(Countdown(shortest=60), 2)
    params = CountdownParams(max_steps=np.array([2, 3], np.int32))
    obs, state = venv.reset(jax.random.key(0), params)
    _, rows = play_batch(venv, state, obs, np.zeros((3, 2), np.int32), params)
    assert [row["truncated"].tolist() for row in rows] == [[False, False], [True, False], [False, True]]


@pytest.mark.parametrize("autoreset", MODES)
def test_x64_keeps_every_dtype_of_the_state(autoreset):
    with jax.enable_x64(True):
        for resets in (Fresh(), Optimistic(2)):
            venv = vectorize(Countdown(), 4, autoreset, resets)
            _, state = venv.reset(jax.random.key(0))
            after = venv.step(state, jnp.zeros(4, jnp.int32))[1]
            for (path, a), b in zip(
                jax.tree_util.tree_flatten_with_path(after)[0], jax.tree.leaves(state), strict=True
            ):
                assert (a.shape, a.dtype) == (b.shape, b.dtype), jax.tree_util.keystr(path)


# ---- what is refused, in one sentence ----


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("cartpole", 4), "vectorize needs an environment"),
        (((CartPole(), None), 4), "vectorize needs an environment"),
        ((Countdown(), 0), "num_envs must be a positive whole number"),
        ((Countdown(), True), "num_envs must be a positive whole number"),
        ((Countdown(), 2.0), "num_envs must be a positive whole number"),
        ((Countdown(), 2, "sometimes"), "autoreset must be"),
        ((Countdown(), 2, "off", Fresh), "resets must be"),
        ((Countdown(), 2, "off", None, "tpu"), "backend must be"),
    ],
)
def test_bad_arguments_of_vectorize_are_refused(arguments, sentence):
    with pytest.raises(UsageError, match=sentence):
        vectorize(*arguments)


def test_actions_and_streams_of_another_length_are_refused():
    venv = vectorize(Countdown(), 4)
    _, state = venv.reset(jax.random.key(0))
    with pytest.raises(UsageError, match="each of 4 lanes"):
        venv.step(state, jnp.zeros(3, jnp.int32))
    with pytest.raises(UsageError, match="each of 4 lanes"):
        venv.step(state, 1)
    with pytest.raises(UsageError, match="for 4 lanes"):
        venv.reset(Rng.of(0).lanes(3))
    with pytest.raises(UsageError, match=r"jax\.random\.key"):
        venv.reset(0)
