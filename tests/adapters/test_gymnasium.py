"""Our vector environment against Gymnasium's own: the same conventions for resets, seeds, masks, info and dtypes."""

import numpy as np
import pytest

from overclock.errors import UsageError

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")

from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

from overclock.adapters.gymnasium import MODES, GymnasiumEnv, GymnasiumVectorEnv, make_vec  # noqa: E402

LANES = 4
LIMIT = 500  # CartPole's
RIGHT = np.ones(LANES, np.int64)  # always pushing right drops the pole in about ten steps
FIELDS = ("x", "x_dot", "theta", "theta_dot")
AUTORESETS = list(MODES)

# ---- the same script over SyncVectorEnv and over ours ----


def their_cartpoles(mode: str) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * LANES, autoreset_mode=MODES[mode])


def put_their_state_into_ours(theirs: SyncVectorEnv, ours: GymnasiumVectorEnv) -> None:
    """Dynamics are compared elsewhere; with equal states, flags and timing can be compared exactly here."""
    state = ours.host.get_state()
    name = {key.split(".")[-1]: key for key in state}
    physics = np.array([env.unwrapped.state for env in theirs.envs])
    for column, field in enumerate(FIELDS):
        state[name[field]] = physics[:, column].astype(state[name[field]].dtype)
    elapsed = [env.get_wrapper_attr("_elapsed_steps") for env in theirs.envs]
    state[name["steps"]] = np.array(elapsed, state[name["steps"]].dtype)
    ours.host.set_state(state)


def same_results(theirs: tuple, ours: tuple, restarted: np.ndarray) -> None:
    """Lane by lane equal, except the observations of new episodes, which come from different generators."""
    (their_obs, *their_flags, their_info), (our_obs, *our_flags, our_info) = theirs, ours
    assert (our_obs.dtype, our_obs.shape) == (their_obs.dtype, their_obs.shape)
    # One float32 step from a state rounded to float32, against float64.
    np.testing.assert_allclose(our_obs[~restarted], their_obs[~restarted], rtol=0, atol=2e-6)
    assert np.all(np.abs(our_obs[restarted]) <= 0.05)
    for their_array, our_array in zip(their_flags, our_flags, strict=True):  # rewards, terminations, truncations
        assert our_array.dtype == their_array.dtype
        np.testing.assert_array_equal(our_array, their_array)
    assert our_info.keys() == their_info.keys()
    for key in their_info:
        if key == "final_obs":
            for our_row, their_row, ended in zip(our_info[key], their_info[key], their_info["_final_obs"], strict=True):
                assert (their_row is not None) == ended
                if ended:
                    np.testing.assert_allclose(our_row, their_row, rtol=0, atol=2e-6)
        else:
            np.testing.assert_equal(our_info[key], their_info[key])


@pytest.mark.parametrize("mode", AUTORESETS)
def test_a_script_goes_as_in_sync_vector_env(mode, backend):
    theirs, ours = their_cartpoles(mode), make_vec("cartpole-v1", LANES, mode, backend)
    same_results(theirs.reset(seed=5), ours.reset(seed=5), restarted=np.ones(LANES, bool))
    theirs.envs[3].set_wrapper_attr("_elapsed_steps", LIMIT - 6)  # this lane will be truncated
    put_their_state_into_ours(theirs, ours)
    over = np.zeros(LANES, bool)
    terminations = truncations = 0
    for step in range(30):
        actions = np.array([1, 0, step % 2, step % 2])
        their_result, our_result = theirs.step(actions), ours.step(actions)
        ending = their_result[2] | their_result[3]
        restarted = {"same_step": ending, "next_step": over, "off": np.zeros(LANES, bool)}[mode]
        same_results(their_result, our_result, restarted)
        over, terminations, truncations = ending, terminations + their_result[2], truncations + their_result[3]
        if mode == "off" and over.any():
            options = {"reset_mask": over}
            same_results(theirs.reset(options=dict(options)), ours.reset(options=options), over)
        put_their_state_into_ours(theirs, ours)
    assert terminations[:2].min() >= 2
    assert truncations[3] >= 1


@pytest.mark.parametrize(
    "mask",
    [[True] * LANES, np.ones(LANES - 1, bool), np.ones(LANES), np.zeros(LANES, bool)],
    ids=["list", "shape", "dtype", "empty"],
)
def test_a_bad_mask_is_refused_as_in_sync_vector_env(mask):
    theirs, ours = their_cartpoles("off"), make_vec("cartpole", LANES, "off")
    with pytest.raises(AssertionError):
        theirs.reset(options={"reset_mask": mask})
    with pytest.raises(UsageError, match="reset_mask must be"):
        ours.reset(options={"reset_mask": mask})


def test_ended_lanes_must_be_restarted_when_auto_reset_is_off(backend):
    theirs, ours = their_cartpoles("off"), make_vec("cartpole", LANES, "off", backend)
    for envs, refusal in ((theirs, AssertionError), (ours, UsageError)):
        envs.reset(seed=0)
        while not envs.step(RIGHT)[2].any():
            pass
        with pytest.raises(refusal):
            envs.step(RIGHT)
    with pytest.raises(UsageError, match=r"Lanes \d.* have ended and auto-reset is off"):
        ours.step(RIGHT)


def test_spaces_are_those_of_gymnasiums_cartpole():
    theirs, ours = their_cartpoles("next_step"), make_vec("cartpole", LANES)
    for name in ("single_observation_space", "single_action_space", "observation_space", "action_space"):
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("mode", AUTORESETS)
def test_the_mode_is_declared_and_understood_in_both_vocabularies(mode):
    for word in (mode, MODES[mode], MODES[mode].value):
        assert make_vec("cartpole", 1, word).metadata["autoreset_mode"] is MODES[mode]


def test_next_step_is_the_default_as_in_gymnasium():
    assert make_vec("cartpole", 1).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


# ---- seeds, streams, masks ----


def episodes(env: GymnasiumEnv, seed: int, steps: int) -> list[tuple]:
    """What one environment shows over `steps` steps of pushing right, restarted whenever it ends."""
    seen = [env.reset(seed=seed)[0]]
    for _ in range(steps):
        obs, _, terminated, truncated, _ = env.step(1)
        seen.append(obs)
        if terminated or truncated:
            seen.append(env.reset()[0])
    return seen


def test_lane_i_is_the_single_environment_with_seed_s_plus_i(backend):
    vector, steps = make_vec("cartpole", LANES, "next_step", backend), 35
    seen = [[row] for row in vector.reset(seed=11)[0]]
    for _ in range(steps):
        for lane, row in enumerate(vector.step(RIGHT)[0]):
            seen[lane].append(row)
    single = GymnasiumEnv("cartpole", backend=backend)
    for lane in range(LANES):
        alone = np.array(episodes(single, 11 + lane, steps))[: steps + 1]
        np.testing.assert_array_equal(seen[lane], alone)


@pytest.mark.parametrize("mode", AUTORESETS)
def test_every_mode_plays_the_same_first_episode(mode, backend):
    vector, single = make_vec("cartpole", LANES, mode, backend), GymnasiumEnv("cartpole", backend=backend)
    np.testing.assert_array_equal(vector.reset(seed=3)[0][2], single.reset(seed=5)[0])
    for _ in range(7):
        np.testing.assert_array_equal(vector.step(RIGHT)[0][2], single.step(1)[0])


def test_a_masked_reset_touches_neither_the_present_nor_the_future_of_other_lanes(backend):
    disturbed, quiet = (make_vec("cartpole", 2, "next_step", backend) for _ in range(2))
    disturbed.reset(seed=7)
    quiet.reset(seed=7)
    mask = np.array([True, False])
    for step in range(30):  # long enough for lane 1 to fall and restart from its own stream
        if step % 4 == 3:
            before = disturbed.host.get_state()
            disturbed.reset(options={"reset_mask": mask})
            for name, array in disturbed.host.get_state().items():
                if array.shape[:1] == (2,):
                    np.testing.assert_array_equal(array[1], before[name][1], err_msg=name)
        results = [envs.step(np.array([1, 1])) for envs in (disturbed, quiet)]
        np.testing.assert_array_equal(results[0][0][1], results[1][0][1])


def test_seeds_repeat_lists_are_taken_as_they_are_and_none_goes_on(backend):
    envs = make_vec("cartpole", 2, backend=backend)
    first, _ = envs.reset(seed=[20, 30])
    again, _ = envs.reset(seed=[20, None])
    np.testing.assert_array_equal(first[0], again[0])
    assert not np.array_equal(first[1], again[1])
    np.testing.assert_array_equal(envs.reset(seed=[30, 20])[0], first[::-1])
    assert not np.array_equal(envs.reset()[0], envs.reset()[0])


@pytest.mark.parametrize("seed", [[1], [1, 2, 3], -1, [0, -5], [0, 2**64], 1.5, [1.5, 2], ["1", 2]])
def test_impossible_seeds_are_refused(seed):
    with pytest.raises(UsageError, match="seed"):
        make_vec("cartpole", 2).reset(seed=seed)


def test_np_random_follows_the_seed():
    envs = make_vec("cartpole", 2)
    envs.reset(seed=4)
    assert envs.np_random_seed == 4
    first = envs.np_random.random()
    envs.reset(seed=[1, 2])
    envs.reset(seed=4)
    assert envs.np_random.random() == first


def test_unknown_reset_options_are_refused(stairs):
    with pytest.raises(UsageError, match="'reset_mask', 'low', 'high'; got lower"):
        make_vec("cartpole", 2).reset(options={"lower": 0.0})
    with pytest.raises(UsageError, match="'reset_mask'; got low"):
        make_vec(stairs, 2).reset(options={"low": 0.0})
    with pytest.raises(UsageError, match="none; got high"):
        GymnasiumEnv(stairs).reset(options={"high": 0.0})


# ---- what is returned, what is accepted ----


def test_results_belong_to_the_caller(backend):
    envs = make_vec("cartpole", LANES, "same_step", backend)
    results = [envs.reset(seed=0)[0], *envs.step(RIGHT)[:4]]
    copies = [array.copy() for array in results]
    for _ in range(3):
        envs.step(RIGHT)
    for array, copy in zip(results, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
        array[...] = 0


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        (np.ones(3, np.int64), r"shape \(4,\), got \(3,\)"),
        (np.ones((4, 1), np.int64), "shape"),
        (np.ones(4, np.float32), "whole numbers"),
        (np.array([0, 1, 2, 0]), "below 2, got 2"),
        (np.array([0, -1, 1, 0]), "got -1"),
    ],
)
def test_bad_actions_are_refused(actions, sentence):
    envs = make_vec("cartpole", LANES)
    envs.reset(seed=0)
    with pytest.raises(UsageError, match=sentence):
        envs.step(actions)


def test_step_needs_a_reset_first(backend):
    for env in (make_vec("cartpole", 1, backend=backend), GymnasiumEnv("cartpole", backend=backend)):
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(np.zeros(1, np.int64) if isinstance(env, GymnasiumVectorEnv) else 0)


def test_a_step_asks_the_batch_once(backend, monkeypatch):
    """One call is one device round trip; whether there are masks is asked at construction."""
    envs, calls = make_vec("cartpole", LANES, backend=backend), []
    envs.reset(seed=0)
    for name in ("step", "reset", "action_mask", "get_state"):
        real = getattr(envs.host, name)
        monkeypatch.setattr(envs.host, name, lambda *a, name=name, real=real: (calls.append(name), real(*a))[1])
    envs.step(RIGHT)
    assert calls == ["step"]


def test_the_batch_always_gets_actions_of_its_own_dtype(monkeypatch):
    """Another dtype would be another compilation where 64-bit types are enabled."""
    envs, got = make_vec("cartpole", 2), []
    envs.reset(seed=0)
    real = envs.host.step
    monkeypatch.setattr(envs.host, "step", lambda actions: (got.append(actions.dtype), real(actions))[1])
    for actions in (np.zeros(2, np.int64), np.zeros(2, np.uint8), [0, 1]):
        envs.step(actions)
    assert got == [envs.host.action_space.dtype] * 3


@pytest.mark.parametrize("mode", AUTORESETS)
def test_stepping_compiles_once(mode):
    """Whatever integer type actions come in, reset or not, masked or not."""
    envs = make_vec("cartpole", 3, mode, max_episode_steps=4)
    step, reset_lanes = type(envs.host.venv).step, type(envs.host.venv).reset_lanes
    envs.reset(seed=0)
    envs.step(np.ones(3, np.int64))
    compiled = step._cache_size(), reset_lanes._cache_size()
    envs.reset(options={"reset_mask": np.array([True, False, False])})
    for actions in (np.ones(3, np.int32), np.zeros(3, np.int64), [0, 1, 0]):
        envs.step(actions)
        if mode == "off":
            envs.reset()
    assert step._cache_size() == compiled[0]
    assert reset_lanes._cache_size() <= compiled[1] + 1  # with seeds, and without
