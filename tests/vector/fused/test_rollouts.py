"""`fused_rollout`: policies, summaries, windows and buffers of a kernel are those of the same rollout under XLA."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from vector.fused.programs import KERNEL, as_on_a_processor
from vector.lanes import assert_equal

import overclock
from overclock.errors import UsageError
from overclock.vector import UnsupportedError, fused_rollout, lane_scan, rollout, vectorize

LANES, STEPS = 21, 40
ENV, _ = overclock.make("pong", frameskip=4)


def batch(backend):
    venv = vectorize(ENV, LANES, backend=backend)
    return venv, venv.reset(jax.random.key(3))[1]


def both(**options):
    ours = fused_rollout(*batch(KERNEL), STEPS, **options)
    with as_on_a_processor():
        return ours, fused_rollout(*batch("xla"), STEPS, **options)


def kept(transition):
    return {"before": transition.obs, "after": transition.next_obs, "action": transition.action}


def follow(rng, obs, mask, params):
    """Up or down to the ball, and now and then anywhere."""
    return jnp.where(rng.unit(0) < 0.2, rng.integers(1, 3), jnp.where(obs[3] > obs[1], 1, 2))


def test_a_policy_of_one_lane_sees_what_that_lane_sees():
    ours, theirs = both(policy=follow, keep=kept)
    assert_equal(ours, theirs)
    _, steps, _ = ours
    np.testing.assert_array_equal(steps["before"][1:], steps["after"][:-1])
    assert set(np.unique(steps["action"])) == {0, 1, 2}


def test_a_summary_is_folded_in_order_of_time():
    def add(sums, transition):
        return sums * jnp.uint32(31) + transition.action.astype(jnp.uint32)

    first = jnp.arange(LANES, dtype=jnp.uint32)
    ours, theirs = both(fold=(first, add), keep=kept)
    assert_equal(ours, theirs)
    expected = np.asarray(first)
    for actions in np.asarray(ours[1]["action"]):
        expected = expected * np.uint32(31) + actions.astype(np.uint32)
    np.testing.assert_array_equal(ours[2], expected)


@pytest.mark.parametrize("window", [1, 7, STEPS])
def test_a_window_keeps_the_last_steps_each_in_its_row(window):
    (_, all_steps, _), _ = both(keep=kept)
    ours, theirs = both(keep=kept, window=window)
    assert_equal(ours, theirs)
    for t in range(STEPS - window, STEPS):
        np.testing.assert_array_equal(ours[1]["after"][t % window], all_steps["after"][t])


def test_buffers_that_are_given_away_are_written_to_where_they_lie():
    venv, state = batch(KERNEL)
    expected = fused_rollout(venv, state, STEPS, keep=kept)[1]
    buffers = jax.tree.map(lambda leaf: jnp.full(leaf.shape, 9, leaf.dtype), expected)
    places = jax.tree.map(lambda leaf: leaf.unsafe_buffer_pointer(), buffers)

    @functools.partial(jax.jit, donate_argnums=1)
    def play(state, buffers):
        return fused_rollout(venv, state, STEPS, keep=kept, into=buffers)[1]

    written = play(state, buffers)
    assert_equal(written, expected)
    assert jax.tree.map(lambda leaf: leaf.unsafe_buffer_pointer(), written) == places


def test_a_policy_and_a_fold_may_look_at_the_form_of_what_they_see_alone():
    def still(rng, obs, mask, params):
        return jnp.zeros_like(obs[0], jnp.int32)

    def add(sums, transition):
        return sums + transition.obs.shape[0]

    options = {"policy": still, "fold": (jnp.zeros(LANES, jnp.int32), add), "keep": lambda step: step.action}
    ours, theirs = both(**options)
    assert_equal(ours, theirs)
    np.testing.assert_array_equal(ours[2], np.full(LANES, 8 * STEPS))
    assert not np.asarray(ours[1]).any()


def test_what_is_printed_is_what_was_seen(capfd):
    def told(rng, obs, mask, params):
        jax.debug.print("saw {}", obs[1])
        return jnp.int32(0)

    venv, state = batch("xla")
    seen = np.asarray(venv.observe(state))[:, 1]
    fused_rollout(venv, state, 1, policy=told)
    jax.effects_barrier()
    printed = [float(line.split()[1]) for line in capfd.readouterr().out.splitlines() if line.startswith("saw")]
    np.testing.assert_allclose(np.sort(printed), np.sort(seen), rtol=1e-6)  # printed in decimals
    with pytest.raises(UnsupportedError, match="cannot speak to Python"):
        fused_rollout(*batch(KERNEL), 1, policy=told)


@pytest.mark.parametrize("backend", ["xla", KERNEL, "auto"])
@pytest.mark.parametrize(("play", "name"), [(rollout, "rollout"), (fused_rollout, "fused_rollout")])
def test_every_backend_takes_the_same_numbers_of_steps(backend, play, name):
    venv, state = batch(backend)
    for steps in (-1, 1.5, True, None, "3"):
        with pytest.raises(UsageError, match=f"^{name} takes a whole number of steps from 0 on.*got {steps!r}"):
            play(venv, state, steps)
    with pytest.raises(UsageError, match=f"^{name} takes a whole number"):
        jax.jit(lambda steps: play(venv, state, steps))(3)
    after, kept, *_ = play(venv, state, 0, **({"keep": lambda step: step.obs} if play is fused_rollout else {}))
    assert_equal(after, state)
    assert jax.tree.leaves(kept)[0].shape == (0, LANES, 8)


def test_a_number_of_steps_may_be_of_numpy_or_jax():
    venv, state = batch(KERNEL)
    expected = fused_rollout(venv, state, 3, keep=kept)
    for steps in (np.int64(3), jnp.int32(3)):
        assert_equal(fused_rollout(venv, state, steps, keep=kept), expected)


@pytest.mark.parametrize("backend", ["xla", KERNEL, "auto"])
def test_the_state_of_a_batch_of_another_size_is_refused(backend):
    _, state = batch("xla")
    smaller = vectorize(ENV, 5, backend=backend)
    for play in (rollout, fused_rollout):
        with pytest.raises(UsageError, match=rf"^The state has {LANES} lanes, the batch has 5\.$"):
            play(smaller, state, 3)
    with pytest.raises(UsageError, match=f"has {LANES} lanes"):
        smaller.step(state, jnp.zeros(5, jnp.int32))


def test_who_differentiates_a_kernel_is_told_what_can_be_differentiated():
    def last(x):
        return lane_scan(lambda c, x, k, s: (c * 2, ()), x, None, 3, backend=KERNEL)[0].sum()

    with pytest.raises(UsageError, match=r"^A kernel cannot be differentiated; use backend='xla'\."):  # JAX adds a note
        jax.grad(last)(jnp.ones(4))
    assert jax.grad(lambda x: last(jax.lax.stop_gradient(x)) * x.sum())(jnp.ones(4)).tolist() == [32.0] * 4


def test_wrong_windows_buffers_and_states_are_refused():
    venv, state = batch(KERNEL)
    for window in (0, STEPS + 1):
        with pytest.raises(UsageError, match=f"window must be 1 to {STEPS} steps, got {window}"):
            fused_rollout(venv, state, STEPS, keep=kept, window=window)
    with pytest.raises(UsageError, match="The arrays to write to must be"):
        fused_rollout(venv, state, STEPS, keep=lambda transition: transition.reward, into=jnp.zeros((STEPS, 3)))
    with pytest.raises(UsageError, match="lanes as first axis"):
        lane_scan(lambda c, x, k, s: (c + k, ()), jnp.zeros(4), None, 2, constant=jnp.zeros(2), backend=KERNEL)


@pytest.mark.parametrize("backend", ["xla", KERNEL])
def test_a_state_that_changes_its_form_is_refused_in_the_name_of_who_changes_it(backend):
    with pytest.raises(UsageError, match=r"^The body of lane_scan turns float32\[\] into int32\[\]\."):
        lane_scan(lambda c, x, k, s: (c.astype(jnp.int32), ()), jnp.zeros(4), None, 2, backend=backend)
    with pytest.raises(UsageError, match=r"^The step of fold turns int32\[\] into float32\[\]\."):
        fused_rollout(*batch(backend), 2, fold=(jnp.zeros(LANES, jnp.int32), lambda sums, step: sums + step.reward))
    with pytest.raises(UsageError, match=r"^The step of fold must return what it got in the same structure\."):
        fused_rollout(*batch(backend), 2, fold=(jnp.zeros(LANES), lambda sums, step: (sums, step.reward)))


@pytest.mark.parametrize(
    "name",
    ["cartpole", "halfcheetah", *(pytest.param(name, marks=pytest.mark.long) for name in ("walker2d", "hopper"))],
)
def test_a_rollout_in_one_kernel_is_its_steps_one_by_one_to_the_last_bit(name):
    """`overclock bench` measures the one, `overclock verify --backend` judges the other. Restarts are included."""
    env, params = overclock.make(name)
    params, steps = params.replace(max_steps=25), 60
    venv = vectorize(env, 301, backend=KERNEL)
    _, state = venv.reset(jax.random.key(5), params)
    end, played, _ = fused_rollout(
        venv, state, steps, params=params,
        keep=lambda t: (t.action, (t.next_obs, t.reward, t.terminated, t.truncated)),
    )  # fmt: skip
    for number in range(steps):
        action, seen = jax.tree.map(lambda leaf, number=number: leaf[number], played)
        obs, state, *outcome, _ = venv.step(state, action, params)
        assert_equal((obs, *outcome), seen)
    assert_equal(state, end)
    assert np.asarray(played[1][3]).any()
