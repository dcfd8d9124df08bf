"""Where fresh episodes come from never changes what an episode is, and nothing of a finished one is lost."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Countdown, CountdownParams, Dealer, Duel, Rooms
from vector.lanes import assert_equal, lane, play_alone, play_batch

from overclock.env import Params, Rng
from overclock.errors import UsageError
from overclock.vector import Fresh, Optimistic, Pool, vectorize

pytestmark = pytest.mark.usefixtures("few_optimisations")

MODES = ["same_step", "next_step", "off"]
LANES, STEPS = 8, 20
ENV, PARAMS = Countdown(), CountdownParams(max_steps=5)


def actions_for(env, steps=STEPS):
    params = env.default_params()
    shape = (steps, LANES) if env.num_players == 1 else (steps, LANES, env.num_players)
    return np.random.default_rng(1).integers(0, env.action_space(params).n, shape).astype(np.int32)


def lanes_of(tree, indices):
    """Some lanes of a batched tree, on the host."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[indices], tree)


# ---- no strategy and no mode loses or changes a transition ----


STRATEGIES = [Fresh(), Optimistic(1), Optimistic(4), Pool(3), Pool(5, refresh=2)]
CASES = [
    *[(ENV, PARAMS, autoreset, resets) for autoreset in ("same_step", "next_step") for resets in STRATEGIES],
    (ENV, PARAMS, "off", Fresh()),
    (Rooms(), Params(max_steps=6), "same_step", Optimistic(4)),
    (Rooms(), Params(max_steps=6), "next_step", Pool(3)),
    (Dealer(), Params(max_steps=9), "same_step", Pool(3)),
    (Duel(), Params(max_steps=4), "next_step", Optimistic(4)),
]


@pytest.mark.parametrize(("env", "params", "autoreset", "resets"), CASES, ids=str)
def test_every_transition_is_the_one_a_loop_without_resets_makes(env, params, autoreset, resets):
    venv = vectorize(env, LANES, autoreset, resets)
    obs, state = venv.reset(jax.random.key(4), params)
    alone = jax.jit(jax.vmap(lambda rng, s, a: env.step_env(rng, s, a, params)))
    observe = jax.jit(jax.vmap(lambda s: env.observe(s.rules, params)))
    finished = 0
    for action in actions_for(env):
        before, before_obs = state, obs
        obs, state, reward, terminated, truncated, info = venv.step(state, action, params)
        final, stepped, own_reward, own_terminated, own_truncated, own_info = alone(before.rng, before.lanes, action)
        running = ~np.asarray(before.ended) if autoreset == "next_step" else np.ones(LANES, bool)
        kept = {name: value for name, value in info.items() if name != "final_observation"}
        made = (reward, terminated, truncated, info["final_observation"], kept)
        due = (own_reward, own_terminated, own_truncated, final, own_info)
        assert_equal(lanes_of(made, running), lanes_of(due, running))
        assert_equal(before_obs, observe(before.lanes))
        assert_equal(obs, observe(state.lanes))

        # A lane that goes on is in the state the rules led to; one that restarts is at the start of an episode.
        restarted = {
            "same_step": np.asarray(terminated | truncated),
            "next_step": np.asarray(before.ended),
            "off": np.zeros(LANES, bool),
        }[autoreset]
        assert_equal(lanes_of(state.lanes, ~restarted), lanes_of(stepped, ~restarted))
        np.testing.assert_array_equal(np.asarray(state.lanes.steps)[restarted], 0)
        finished += int((terminated | truncated).sum())
    assert finished > LANES


# ---- next_step and off ----


def test_the_restarting_step_ignores_its_action_and_reports_nothing():
    venv = vectorize(ENV, LANES, "next_step")
    params = PARAMS.replace(bonus=100.0)
    obs, state = venv.reset(jax.random.key(0), params)
    restart = jax.jit(jax.vmap(lambda rng: ENV.reset(rng, params)))
    restarts = 0
    for action in actions_for(ENV):
        ended = np.asarray(state.ended)
        other = np.where(ended, (action + 1) % 3, action)
        result = venv.step(state, action, params)
        assert_equal(result, venv.step(state, other, params))
        obs, state, reward, terminated, truncated, _ = result
        assert not np.any(np.asarray(reward)[ended])
        assert np.all(np.asarray(reward)[~ended] >= 100)
        assert not np.any(np.asarray(terminated | truncated)[ended])
        fresh_obs, _ = restart(state.rng.replace(counter=state.rng.counter - 1))
        np.testing.assert_array_equal(np.asarray(obs)[ended], np.asarray(fresh_obs)[ended])
        restarts += ended.sum()
    assert restarts > LANES


def test_off_never_restarts_and_reset_lanes_restarts_only_the_mask():
    venv = vectorize(ENV, LANES, "off")
    obs, state = venv.reset(jax.random.key(0), PARAMS)
    state, rows = play_batch(venv, state, obs, actions_for(ENV, 7), PARAMS)
    assert state.lanes.steps.tolist() == [7] * LANES
    assert all(state.ended.tolist())
    assert all(row["truncated"].all() for row in rows[4:])

    mask = np.arange(LANES) % 3 == 0
    obs, after = venv.reset_lanes(state, mask, params=PARAMS)
    expected = jax.vmap(lambda rng: ENV.reset(rng, PARAMS))(state.rng)
    for i in range(LANES):
        if mask[i]:
            assert_equal((obs[i], lane(after.lanes, i)), lane(expected, i))
            assert_equal(lane(after.rng, i), lane(state.rng.advance(), i))
        else:
            assert_equal(lane((after.lanes, after.rng, after.ended), i), lane((state.lanes, state.rng, state.ended), i))
    assert after.ended.tolist() == (~mask).tolist()


def test_off_remembers_an_end_that_later_flags_do_not_repeat():
    # A closed door ends an episode of `Rooms`; the next door may be open again.
    env = Rooms()
    venv = vectorize(env, LANES, "off")
    params = Params(max_steps=1000)
    _, state = venv.reset(jax.random.key(0), params)
    over, forgotten = np.zeros(LANES, bool), 0
    for action in actions_for(env, 6):
        _, state, _, terminated, _, _ = venv.step(state, action, params)
        over |= np.asarray(terminated)
        forgotten += int((over & ~np.asarray(terminated)).sum())
        np.testing.assert_array_equal(state.ended, over)
    assert forgotten > 0


@pytest.mark.parametrize("autoreset", MODES)
def test_restarting_one_lane_leaves_the_future_of_the_others_alone(autoreset):
    venv = vectorize(ENV, LANES, autoreset)
    obs, state = venv.reset(jax.random.key(6), PARAMS)
    mask = np.arange(LANES) == 2
    obs_after, restarted = venv.reset_lanes(state, mask, Rng.of(99).lanes(LANES), PARAMS)
    actions = actions_for(ENV)
    others = np.flatnonzero(~mask)
    batches = [play_batch(venv, s, o, actions, PARAMS)[1] for s, o in ((state, obs), (restarted, obs_after))]
    assert_equal(*(jax.tree.map(lambda leaf: leaf[others], rows) for rows in batches))
    # The restarted lane plays the episodes of its new stream.
    alone = play_alone(ENV, lane(Rng.of(99).lanes(LANES), 2), actions[:, 2], PARAMS, autoreset)
    assert_equal([lane(row, 2) for row in batches[1]], jax.tree.map(np.asarray, alone))


# ---- strategies against each other ----


@pytest.mark.parametrize(
    ("autoreset", "ratio", "spread"),
    [("same_step", 1, 6), ("same_step", 2, 40), ("next_step", 2, 40), ("next_step", 8, 200)],
)
def test_optimistic_is_fresh_bit_for_bit_while_nothing_is_shared(autoreset, ratio, spread):
    env, params = Countdown(spread=spread), CountdownParams()
    results = []
    for resets in (Fresh(), Optimistic(ratio)):
        venv = vectorize(env, LANES, autoreset, resets)
        obs, state = venv.reset(jax.random.key(3), params)  # a start from which no two lanes end at once
        results.append(play_batch(venv, state, obs, actions_for(env, 60), params))
    (fresh, fresh_rows), (optimistic, optimistic_rows) = results
    assert int(optimistic.store.shared) == 0
    assert any(row["terminated"].any() for row in fresh_rows)
    assert_equal((optimistic, optimistic_rows), (fresh, fresh_rows))


@pytest.mark.parametrize(
    ("autoreset", "ratio", "x64"),
    [("same_step", 2, False), ("same_step", 3, True), ("next_step", 3, False), ("next_step", 8, True)],
)
def test_optimistic_counts_exactly_the_lanes_that_share(autoreset, ratio, x64):
    with jax.enable_x64(x64):
        params = CountdownParams(max_steps=3)  # soon all lanes end together
        venv = vectorize(ENV, LANES, autoreset, Optimistic(ratio))
        restart = jax.jit(jax.vmap(lambda rng: ENV.reset(rng, params)[1]))
        _, state = venv.reset(jax.random.key(2), params)
        budget, expected = LANES // ratio, 0
        for action in actions_for(ENV, 12):
            before = state
            _, state, _, terminated, truncated, _ = venv.step(state, action, params)
            ended = np.flatnonzero(terminated | truncated if autoreset == "same_step" else before.ended)
            expected += max(len(ended) - budget, 0)
            assert int(state.store.shared) == expected
            fresh = restart(before.rng)
            for rank, i in enumerate(ended):
                assert_equal(lane(state.lanes, i), lane(fresh, ended[rank % budget]))
    assert expected > 0


# ---- the pool ----


def pool_stream(rng: Rng) -> Rng:
    """The stream of the episodes that the pool makes at an event: keyed by the first lane's POOL section."""
    event = lane(rng, 0).replace(section=5)
    return Rng(k0=event.words(1), k1=event.words(2), counter=jnp.uint32(0))


@pytest.mark.parametrize(
    ("autoreset", "size", "refresh"),
    [("same_step", 1, 1), ("same_step", 4, 0), ("next_step", 4, 1), ("same_step", 5, 2), ("next_step", 3, 3)],
)
def test_pool_serves_stored_episodes_and_replaces_the_oldest(autoreset, size, refresh):
    env, params = Countdown(spread=1000), CountdownParams(max_steps=3)
    venv = vectorize(env, LANES, autoreset, Pool(size, refresh))
    _, state = venv.reset(jax.random.key(9), params)
    reset_lanes = jax.jit(jax.vmap(lambda rng: env.reset(rng, params)[1]))
    first = Rng.of(jax.random.key(9)).lanes(LANES)
    stored = [lane(reset_lanes(pool_stream(first).lanes(size)), i) for i in range(size)]
    served = 0
    for step, action in enumerate(actions_for(env, 12)):
        before = state
        _, state, _, terminated, truncated, _ = venv.step(state, action, params)
        ended = np.flatnonzero(terminated | truncated if autoreset == "same_step" else before.ended)
        for i in ended:
            pick = int(lane(before.rng, i).replace(section=5).integers(0, size))
            assert_equal(lane(state.lanes, i), stored[pick])
        served += len(ended)
        if refresh:
            news = reset_lanes(pool_stream(before.rng).lanes(refresh))
            for k in range(refresh):
                stored[(step * refresh + k) % size] = lane(news, k)
        for slot in range(size):
            assert_equal(lane(state.store.episodes, slot), stored[slot])
    assert served == 3 * LANES if autoreset == "next_step" else served == 4 * LANES


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Optimistic(0), "ratio >= 1"),
        (lambda: Pool(0), "size >= 1"),
        (lambda: Pool(3, refresh=4), "refresh <= size"),
        (lambda: Pool(1 << 17), "at most 65,536"),
        (lambda: vectorize(ENV, 4, resets=Optimistic(5)).reset(jax.random.key(0)), "at least that many lanes"),
        (
            lambda: vectorize(ENV, 2, resets=Pool(2)).reset(jax.random.key(0), PARAMS.replace(pace=np.ones(2, int))),
            "params shared by all lanes",
        ),
    ],
)
def test_impossible_strategies_are_refused(make, sentence):
    with pytest.raises(UsageError, match=sentence):
        make()
