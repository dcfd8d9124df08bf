"""NumPy at the border: seeds belong to lanes, masks are honoured, and state goes out and comes back exactly."""

import jax
import numpy as np
import pytest
from probes import Countdown, CountdownParams, Dealer, Duel, Rooms
from vector.lanes import assert_equal, lane

from overclock.env import Rng
from overclock.errors import UnknownEnvironmentError, UsageError
from overclock.vector import JaxHostVector, Optimistic, Pool, VectorEnv, host_vector, vectorize

pytestmark = pytest.mark.usefixtures("few_optimisations")

STEPS = 14
PARAMS = CountdownParams(max_steps=6)


def countdown(num_envs, autoreset="same_step", seed=0):
    return host_vector(Countdown(), num_envs, autoreset, params=PARAMS, seed=seed)


def script(num_envs, steps=STEPS, offset=0):
    return np.random.default_rng(offset).integers(0, 3, (steps, num_envs)).astype(np.int32)


def as_row(step):
    return (step.obs, step.reward, step.terminated, step.truncated, step.final_obs, step.info)


def play(vector, actions):
    # A result is valid until the next call, so it is copied.
    return [jax.tree.map(np.array, as_row(vector.step(action))) for action in actions]


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
def test_a_seed_repeats_its_episodes_in_any_batch_and_at_any_position(autoreset):
    small, large = countdown(1, autoreset), countdown(5, autoreset, seed=77)
    actions = script(5)
    for row in actions[:3]:  # the vectors have a past, which must not matter
        large.step(row)
    first_small = small.reset([123])
    first_large = large.reset([5, 6, 7, 123, 8])
    np.testing.assert_array_equal(first_large[3], first_small[0])
    rows_small, rows_large = play(small, actions[:, 3:4]), play(large, actions)
    assert_equal([lane(row, 3) for row in rows_large], [lane(row, 0) for row in rows_small])
    if autoreset != "off":
        assert sum(int((row[2] | row[3])[0]) for row in rows_small) >= 2


def test_seeds_are_those_of_rng_and_wrap_at_64_bits():
    seeds = [0, 2**32, 2**40 + 5, 2**64 - 1, -1, 2**64 + 3]
    obs = countdown(6).reset(seeds)
    for i, seed in enumerate(seeds):
        np.testing.assert_array_equal(obs[i], Countdown().reset(Rng.of(seed), PARAMS)[0])


@pytest.mark.parametrize("resets", [Pool(16), Pool(5, refresh=0), Optimistic(2)], ids=["pool", "still", "optimistic"])
@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_seeding_every_lane_repeats_everything_under_any_strategy(autoreset, resets):
    """What a strategy had stored, or counted, before is forgotten too."""
    vectors = [host_vector(Countdown(), 4, autoreset, resets, params=PARAMS, seed=seed) for seed in (1, 2)]
    play(vectors[0], script(4, 8))
    starts = [vector.reset([0, 1, 2, 3]) for vector in vectors]
    assert_equal(*starts)
    rows = [play(vector, script(4, 30, offset=1)) for vector in vectors]
    assert_equal(*rows)
    assert_equal(*(vector.get_state() for vector in vectors))
    assert sum(int((row[2] | row[3]).sum()) for row in rows[0]) > 8


def test_lanes_that_are_not_all_seeded_keep_what_the_strategy_stored():
    vector = host_vector(Countdown(), 4, resets=Pool(8), params=PARAMS, seed=1)
    before = vector.get_state()
    vector.reset([0, 1, 2, None])
    vector.reset([0, 1, 2, 3], np.array([True, True, True, False]))
    after = vector.get_state()
    stored = [name for name in before if name.startswith("store.")]
    assert len(stored) > 2
    assert_equal({name: after[name] for name in stored}, {name: before[name] for name in stored})


def test_parameters_of_one_reset_hold_for_that_reset():
    """Even where it seeds every lane: the strategy's stored episodes keep the usual parameters."""
    vector, usual = (host_vector("cartpole", 4, resets=Pool(8), seed=1) for _ in range(2))
    far = vector.params.replace(reset_low=1.0, reset_high=1.0)
    np.testing.assert_array_equal(vector.reset([0, 1, 2, 3], params=far), np.ones((4, 4), np.float32))
    usual.reset([0, 1, 2, 3])
    after, expected = vector.get_state(), usual.get_state()
    same = [name for name in after if not name.startswith("lanes.rules")]
    assert_equal({name: after[name] for name in same}, {name: expected[name] for name in same})
    assert_equal(vector.reset(), usual.reset())


def test_different_seeds_give_different_episodes():
    vector = host_vector(Countdown(spread=1000), 64, seed=0)
    assert len(np.unique(vector.reset(list(range(64)))[:, 0])) > 50


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
def test_lanes_without_a_seed_go_on_with_their_own_stream(autoreset):
    a, b, c = (countdown(3, autoreset, seed=4) for _ in range(3))
    for vector in (a, b, c):
        play(vector, script(3, 4))
    obs_none, obs_mixed, obs_no_seeds = a.reset([None] * 3), b.reset([None, 9, None]), c.reset()
    assert_equal(obs_none, obs_no_seeds)
    assert_equal(a.get_state(), c.get_state())
    np.testing.assert_array_equal(obs_mixed[[0, 2]], obs_none[[0, 2]])
    rows = [play(vector, script(3, 8, offset=1)) for vector in (a, b)]
    for i in (0, 2):
        assert_equal([lane(row, i) for row in rows[0]], [lane(row, i) for row in rows[1]])
    # Going on with a stream is not repeating it.
    starts = {tuple(host.reset()[0]) for host in [countdown(1, autoreset, seed=4)] for _ in range(8)}
    assert len(starts) > 1


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
def test_only_the_lanes_of_the_mask_restart(autoreset):
    vector, untouched = countdown(4, autoreset, seed=4), countdown(4, autoreset, seed=4)
    for each in (vector, untouched):
        play(each, script(4, 1))
    before = vector.venv.observe(vector.state, PARAMS)
    mask = np.array([True, False, False, True])
    obs = vector.reset([50, 51, None, None], mask)
    # The seed of a lane outside the mask is ignored.
    np.testing.assert_array_equal(obs[1:3], np.asarray(before)[1:3])
    np.testing.assert_array_equal(obs[0], Countdown().reset(Rng.of(50), PARAMS)[0])
    rows, others = (play(each, script(4, 10, offset=2)) for each in (vector, untouched))
    for i in (1, 2):
        assert_equal([lane(row, i) for row in rows], [lane(row, i) for row in others])


@pytest.mark.parametrize(
    "venv",
    [vectorize(Countdown(), 3, "next_step"), vectorize(Dealer(), 3, resets=Pool(2)), vectorize(Rooms(), 3, "off")],
    ids=["next_step", "pool", "off"],
)
def test_state_goes_out_and_comes_back_exactly(venv):
    vector, other = JaxHostVector(venv, seed=1), JaxHostVector(venv, seed=2)
    play(vector, script(3, 5))
    saved = vector.get_state()
    assert all(isinstance(array, np.ndarray) for array in saved.values())
    kept = {name: array.copy() for name, array in saved.items()}
    rows = play(vector, script(3, 9, offset=3))
    assert_equal(saved, kept)  # a copy: stepping on does not reach into it
    for again in (other, vector):
        again.set_state(saved)
        assert_equal(play(again, script(3, 9, offset=3)), rows)


def test_a_foreign_state_is_refused_and_changes_nothing():
    vector = countdown(3)
    before = vector.get_state()
    with pytest.raises(UsageError, match="does not fit"):
        vector.set_state({})
    with pytest.raises(UsageError, match=r"expected int32\[3\]"):
        vector.set_state({**before, "lanes.steps": np.zeros(4, np.int32)})
    assert_equal(vector.get_state(), before)


def test_a_step_equals_the_vector_environments_step():
    venv = vectorize(Rooms(), 4)
    vector = JaxHostVector(venv, seed=3)
    _, state = venv.reset(Rng.of(3))
    for action in script(4, 6):
        np.testing.assert_array_equal(vector.action_mask(), venv.action_mask(state))
        obs, state, reward, terminated, truncated, info = venv.step(state, action)
        step = vector.step(action)
        assert_equal(as_row(step), (obs, reward, terminated, truncated, info.pop("final_observation"), info))
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(as_row(step)))


def test_a_host_vector_declares_what_it_is():
    vector = host_vector(Duel(), 2, "next_step")
    assert (vector.num_envs, vector.num_players, vector.autoreset) == (2, 2, "next_step")
    assert vector.observation_space == Duel().observation_space(Duel().default_params())
    assert vector.action_space == Duel().action_space(Duel().default_params())
    assert vector.action_mask() is None


def test_ids_and_objects_are_the_same_environment():
    by_id = host_vector("cartpole", 2, seed=3, sutton_barto_reward=True)
    assert isinstance(by_id, JaxHostVector)
    assert isinstance(by_id.venv, VectorEnv)
    by_object = host_vector(by_id.venv.env, 2, seed=3)
    assert_equal(by_id.get_state(), by_object.get_state())


def test_without_a_seed_two_vectors_differ():
    states = [host_vector(Countdown(), 2).get_state()["rng.k0"].tolist() for _ in range(2)]
    assert states[0] != states[1]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: countdown(3).reset([1, 2]), "2 seeds for 3 environments"),
        (lambda: countdown(2).reset([1, 1.5]), "whole number or None"),  # type: ignore[list-item]
        (lambda: countdown(3).reset(mask=np.array([True, False])), r"shape \(2,\), expected \(3,\)"),
        (lambda: countdown(3).step(np.zeros(2, np.int32)), "each of 3 lanes"),
        (lambda: host_vector(Countdown(), 2, backend="tpu"), "backend must be"),  # type: ignore[arg-type]
        (
            lambda: host_vector(Countdown(), 2, backend="native"),
            "by its name, .* got Countdown",
        ),
        (lambda: host_vector(Countdown(), 2, shortest=3), "not with an object"),
        (lambda: host_vector("cartpole", 2, nonsense=3), "no option 'nonsense'"),
        (
            lambda: host_vector("pong", 2, backend="native", continuous="no"),
            "takes true or false as its option continuous",
        ),
    ],
)
def test_bad_calls_are_refused_in_one_sentence(call, sentence):
    with pytest.raises(UsageError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_an_unknown_id_is_refused():
    with pytest.raises(UnknownEnvironmentError, match="did you mean 'cartpole'"):
        host_vector("cartpol", 2)
