"""The same loops over EnvPool's own CartPole and over ours."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.vector import Optimistic, Pool, host_vector

pytest.importorskip("gymnasium", reason="Gymnasium is not installed")

from overclock.adapters import envpool as ours
from overclock.adapters.gymnasium import make_vec

pytestmark = pytest.mark.filterwarnings("ignore:.*precision lowered:UserWarning")  # EnvPool's own spaces

LANES = 4
IDS = np.arange(LANES, dtype=np.int32)
RIGHT = np.ones(LANES, np.int32)  # always pushing right drops the pole in about ten steps


def make_pool(kind: str, **options):
    options = {"env_type": "gymnasium", "num_envs": LANES, "seed": 3, **options}
    if kind == "envpool":
        real = pytest.importorskip("envpool", reason="EnvPool is not installed")
        return real.make("CartPole-v1", **options)
    if kind == "native":
        pytest.importorskip("overclock_native", reason="the Rust extension overclock_native is not built")
    return ours.make("cartpole", backend=kind, **options)


@pytest.fixture(params=["envpool", "xla", "native"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def described(tree):
    return jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), tree)


# ---- facts that hold for EnvPool and for ours ----


def test_reset_and_step_give_the_same_structure(kind):
    pool = make_pool(kind)
    i4 = ((LANES,), np.dtype(np.int32))
    f4, b1, obs = ((LANES,), np.dtype(np.float32)), ((LANES,), np.dtype(bool)), ((LANES, 4), np.dtype(np.float32))
    info = {"env_id": i4, "players": {"env_id": i4}, "elapsed_step": i4}
    assert described(pool.reset()) == (obs, info)
    assert described(pool.step(RIGHT)) == (obs, f4, b1, b1, info)


def test_ended_lanes_restart_at_their_next_step(kind):
    pool = make_pool(kind)
    _, info = pool.reset()
    elapsed, over, ends = info["elapsed_step"], np.zeros(LANES, bool), 0
    for _ in range(40):
        obs, reward, terminated, truncated, info = pool.step(RIGHT)
        elapsed = np.where(over, 0, elapsed + 1)
        np.testing.assert_array_equal(info["elapsed_step"], elapsed)
        np.testing.assert_array_equal(reward, np.where(over, 0.0, 1.0))
        assert not (terminated | truncated)[over].any()
        assert np.all(np.abs(obs[over]) <= 0.05)
        over = terminated | truncated
        fallen = (np.abs(obs[:, 0]) > 2.4) | (np.abs(obs[:, 2]) > 0.2095)
        np.testing.assert_array_equal(terminated, fallen)  # the last observation is shown, not lost
        ends += over.sum()
    assert ends >= 2 * LANES


def test_truncation_is_kept_apart(kind):
    pool = make_pool(kind, max_episode_steps=5)
    assert pool.config["max_episode_steps"] == pool.spec.config.max_episode_steps == 5
    pool.reset()
    flags = [pool.step(RIGHT)[2:4] for _ in range(7)]
    assert [terminated.any() for terminated, _ in flags] == [False] * 7
    assert [truncated.all() for _, truncated in flags] == [False] * 4 + [True] + [False] * 2


def test_lanes_are_stepped_and_reset_by_name(kind):
    pool = make_pool(kind)
    pool.reset()
    some = np.array([3, 1], np.int32)
    obs, reward, *_, info = pool.step(np.ones(2, np.int32), some)
    assert obs.shape == (2, 4)
    np.testing.assert_array_equal(info["env_id"], some)
    np.testing.assert_array_equal(reward, [1, 1])
    *_, info = pool.step(RIGHT, np.array([2, 3, 0, 1], np.int32))
    np.testing.assert_array_equal(info["env_id"], [2, 3, 0, 1])
    np.testing.assert_array_equal(info["elapsed_step"], [1, 2, 1, 2])
    _, info = pool.reset(np.array([0, 3], np.int32))
    np.testing.assert_array_equal(info["env_id"], [0, 3])
    np.testing.assert_array_equal(info["elapsed_step"], [0, 0])
    *_, info = pool.step(RIGHT)
    np.testing.assert_array_equal(info["elapsed_step"], [1, 3, 2, 1])


def test_actions_go_to_the_lanes_named(kind):
    """Pushes left and right move the carts apart, whatever the order in which the lanes are named."""
    pool = make_pool(kind)
    pool.reset()
    order = np.array([2, 0, 3, 1], np.int32)
    velocity = pool.step(np.array([1, 0, 1, 0], np.int32), order)[0][:, 1]
    np.testing.assert_array_equal(velocity > 0, [True, False, True, False])
    some = np.array([3, 0], np.int32)  # pushed right and left, now left and right again
    velocity = pool.step(np.array([0, 1], np.int32), some)[0][:, 1]
    assert np.all(np.abs(velocity) < 0.1)


def test_send_and_recv_loop(kind):
    pool = make_pool(kind)
    pool.async_reset()
    for step in range(12):
        obs, reward, terminated, truncated, info = pool.recv()
        assert obs.shape == (LANES, 4)
        assert reward.sum() == (0 if step == 0 else LANES) or step > 7
        pool.send((obs[:, 2] > 0).astype(np.int32), info["env_id"])
    assert not (terminated | truncated).any()  # pushing towards the lean keeps the pole up that long


def xla_rollout(pool, steps: int):
    handle, recv, send, step = pool.xla()

    @jax.jit
    def loop(handle):
        handle, (obs, *_, info) = recv(handle)
        handle = send(handle, (obs[:, 2] > 0).astype(jnp.int32), info["env_id"])
        handle, _ = recv(handle)

        def body(handle, _):
            handle, batch = step(handle, jnp.ones(LANES, jnp.int32))
            return handle, batch

        return jax.lax.scan(body, handle, None, steps)

    return loop(handle)[1]


@pytest.mark.parametrize("kind", ["envpool", "xla"])
def test_the_loop_compiles(kind):
    pool = make_pool(kind)
    pool.async_reset()
    obs, reward, terminated, truncated, info = xla_rollout(pool, 30)
    assert obs.shape == (30, LANES, 4)
    elapsed = np.asarray(info["elapsed_step"])
    over = np.asarray(terminated | truncated)
    assert over.any(axis=0).all()
    np.testing.assert_array_equal(elapsed[1:], np.where(over[:-1], 0, elapsed[:-1] + 1))
    np.testing.assert_array_equal(reward[1:], np.where(over[:-1], 0.0, 1.0))
    np.testing.assert_array_equal(info["env_id"], np.tile(IDS, (30, 1)))


def test_description(kind):
    pool, real = make_pool(kind), make_pool("envpool")
    assert len(pool) == pool.config["num_envs"] == pool.config["batch_size"] == pool.spec.config.num_envs == LANES
    assert pool.config["seed"] == 3
    assert not pool.is_async
    np.testing.assert_array_equal(pool.all_env_ids, IDS)
    assert pool.observation_space == pool.spec.observation_space == real.observation_space
    assert pool.action_space == pool.spec.gymnasium_action_space == real.action_space
    pool.close()


# ---- facts about ours alone ----


def test_the_compiled_loop_is_the_pools_own_loop():
    compiled, stepped = make_pool("xla"), make_pool("xla")
    handle, recv, _, step = compiled.xla()
    obs, info = stepped.reset()
    (first, *_, first_info) = recv(handle)[1]
    np.testing.assert_array_equal(first, obs)
    np.testing.assert_array_equal(first_info["elapsed_step"], info["elapsed_step"])
    order, actions, jitted = np.array([2, 0, 3, 1], np.int32), np.array([1, 0, 1, 1], np.int32), jax.jit(step)
    for turn in range(30):
        ids = order if turn % 3 == 0 else None
        handle, batch = jitted(handle, actions, ids)
        jax.tree.map(np.testing.assert_array_equal, batch, stepped.step(actions, ids))


def test_a_subset_leaves_the_other_lanes_untouched(backend):
    pool = make_pool(backend)
    pool.reset()
    before = pool.host.get_state()
    pool.step(np.ones(2, np.int32), np.array([3, 1]))
    for name, array in pool.host.get_state().items():
        if array.shape[:1] == (LANES,):
            np.testing.assert_array_equal(array[[0, 2]], before[name][[0, 2]], err_msg=name)


def test_seeds_are_those_of_the_gymnasium_adapter(backend):
    pool, envs = make_pool(backend, seed=8), make_vec("cartpole", LANES, backend=backend)
    np.testing.assert_array_equal(pool.reset()[0], envs.reset(seed=8)[0])
    for _ in range(25):
        np.testing.assert_array_equal(pool.step(RIGHT)[0], envs.step(RIGHT)[0])
    assert not np.array_equal(pool.reset()[0], make_pool(backend, seed=8).reset()[0])  # later resets go on
    listed = make_pool(backend, seed=[8, 9, 10, 11])
    np.testing.assert_array_equal(listed.reset()[0], make_pool(backend, seed=8).reset()[0])


def test_the_config_shows_the_environments_own_limit(backend):
    assert make_pool(backend).config["max_episode_steps"] == 500
    assert make_pool(backend, max_episode_steps=-1).config["max_episode_steps"] is None


@pytest.mark.parametrize("resets", [Pool(8), Optimistic(2)], ids=["pool", "optimistic"])
def test_lanes_that_share_episodes_are_stepped_together(resets):
    """Lanes left out are put back, and a shared store cannot be: it would get the same episode twice."""
    pool = ours.EnvPool(host_vector("cartpole", LANES, "next_step", resets=resets))
    pool.reset()
    pool.step(RIGHT)
    before = pool.host.get_state()
    with pytest.raises(UsageError, match=r"needs resets=Fresh\(\)"):
        pool.step(RIGHT[:2], np.array([1, 3]))
    jax.tree.map(np.testing.assert_array_equal, pool.host.get_state(), before)
    pool.step(RIGHT, np.array([2, 3, 0, 1]))


def test_facts_and_masks_of_the_environment_are_in_info(stairs):
    pool = ours.EnvPool(host_vector(stairs, 2, "next_step"))
    pool.reset()
    *_, info = pool.step(np.array([1, 2]), np.array([1, 0]))
    np.testing.assert_array_equal(info["stair"], [1, 2])
    *_, info = pool.step(np.array([2]), np.array([1]))
    np.testing.assert_array_equal(info["action_mask"], [[True, True, False]])
    handle, recv, _, step = pool.xla()
    np.testing.assert_array_equal(recv(handle)[1][4]["action_mask"], [[True] * 3, [True, True, False]])
    info = step(handle, np.array([1, 0]))[1][4]
    np.testing.assert_array_equal(info["stair"], [3, 3])
    np.testing.assert_array_equal(info["action_mask"], [[True, True, False]] * 2)


def test_misuse_is_refused(backend):
    pool = make_pool(backend)
    with pytest.raises(UsageError, match="nothing to receive"):
        pool.recv()
    with pytest.raises(UsageError, match="before stepping"):
        pool.step(RIGHT)
    pool.reset()
    with pytest.raises(UsageError, match="distinct lanes between 0 and 3"):
        pool.step(np.ones(2, np.int32), np.array([1, 1]))
    with pytest.raises(UsageError, match="shape"):
        pool.step(np.ones(3, np.int32))
    with pytest.raises(UsageError, match="batch_size must be num_envs"):
        make_pool(backend, batch_size=2)
    with pytest.raises(UsageError, match="env_type"):
        make_pool(backend, env_type="dm")
    with pytest.raises(UsageError, match="autoreset='same_step'"):
        ours.EnvPool(host_vector("cartpole", 2, "same_step", backend=backend))
    if backend == "native":
        with pytest.raises(UsageError, match="needs a JAX environment"):
            pool.xla()
    else:
        functions = pool.xla()
        with pytest.raises(UsageError, match="all 4 lanes"):
            functions.step(functions.handle, np.ones(2, np.int32), np.array([0, 1]))
