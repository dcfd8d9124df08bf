"""The timed program does all the work of every step and compiles before it is timed."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import overclock
from overclock.bench.ours import xla_runner
from overclock.bench.program import Outputs, absorb, bits
from overclock.vector import Optimistic, vectorize


def cartpole_runner(seed=0, unroll=1, store=False, batch=8, **changes):
    env, params = overclock.make("cartpole")
    return xla_runner(vectorize(env, batch), params.replace(**changes), "cpu", seed, unroll, store)


def checksum(runner, steps=40):
    runner.prepare(steps)
    runner.call()
    return runner.facts().checksum


def test_the_checksum_depends_on_the_rules_and_the_seed():
    plain = checksum(cartpole_runner())
    assert plain == checksum(cartpole_runner())
    assert plain != checksum(cartpole_runner(gravity=9.81))
    assert plain != checksum(cartpole_runner(max_steps=12))
    assert plain != checksum(cartpole_runner(seed=1))


@pytest.mark.parametrize("field", ["obs", "reward", "terminated", "truncated"])
@pytest.mark.parametrize("wide", [False, True], ids=["few numbers", "many numbers"])
def test_every_output_of_every_lane_counts(field, wide):
    outputs = Outputs(
        obs=jnp.zeros((3, 2, 40) if wide else (3, 2), jnp.float32),
        action=jnp.zeros(3, jnp.int32),
        reward=jnp.zeros(3, jnp.float32),
        terminated=jnp.zeros(3, jnp.bool_),
        truncated=jnp.zeros(3, jnp.bool_),
    )
    start = jnp.zeros(3, jnp.uint32)
    values = np.array(getattr(outputs, field))
    values[1, ...] = True if values.dtype == bool else np.nextafter(np.float32(0), np.float32(1))
    changed = absorb(start, outputs.replace(**{field: jnp.asarray(values)})) != absorb(start, outputs)
    assert changed.tolist() == [False, True, False]


def test_the_checksum_depends_on_the_order_of_steps():
    one, two = jnp.ones(1, jnp.float32), jnp.full(1, 2.0, jnp.float32)
    flag = jnp.zeros(1, jnp.bool_)

    def after(rewards):
        total = jnp.zeros(1, jnp.uint32)
        for reward in rewards:
            total = absorb(total, Outputs((), (), reward, flag, flag))
        return int(total[0])

    assert after([one, two]) != after([two, one])


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "uint8", "float16", "bfloat16", "float32"])
def test_different_values_have_different_bits(dtype):
    values = jnp.asarray([0, 1], dtype)
    words = bits(values)
    assert words.dtype == jnp.uint32
    assert words.shape == (2,)
    assert int(words[0]) != int(words[1])


def test_64_bit_values_are_folded_into_one_word():
    with jax.enable_x64(True):
        values = jnp.asarray([[1.0, 1.0 + 2**-40]], jnp.float64)
        words = bits(values)
        assert words.shape == (1, 2)
        assert int(words[0, 0]) != int(words[0, 1])


@pytest.fixture
def compilations():
    """Call it for the compilations since the last time."""
    heard = []

    def listener(name, *_, **__):
        if "compile" in name:
            heard.append(name)

    def since():
        found = list(heard)
        heard.clear()
        return found

    jax.monitoring.register_event_duration_secs_listener(listener)
    yield since
    jax.monitoring.unregister_event_duration_listener(listener)


def test_timed_calls_compile_nothing(compilations):
    runner = cartpole_runner()
    assert runner.prepare(20) > 0
    assert compilations()
    runner.call()
    runner.call()
    assert compilations() == []


def test_unrolling_and_storing_change_no_result():
    plain, unrolled = cartpole_runner(), cartpole_runner(unroll=4, store=True)
    # Flags and counters only: XLA may contract multiply-adds differently in an unrolled loop, so floats may differ.
    for runner in (plain, unrolled):
        runner.prepare(8)
        runner.call()
    assert plain.state.lanes.steps.tolist() == unrolled.state.lanes.steps.tolist()
    # obs 16, action 4, reward 4, two flags: 26 bytes a lane
    assert (plain.stored_bytes(), unrolled.stored_bytes()) == (0, 8 * 26)


def test_episodes_are_counted_over_all_calls():
    runner = cartpole_runner(batch=64)
    runner.prepare(200)
    for _ in range(5):
        runner.call()
    # Random play lasts 22.2 steps on average (standard deviation 12): 64,000 steps hold about 2,900 episodes.
    assert runner.facts().mean_episode_length == pytest.approx(22.2, abs=1.0)


def test_a_planned_call_has_whole_iterations():
    assert cartpole_runner(unroll=3).plan(1e-6) % 3 == 0


def test_a_planned_program_is_compiled_once_for_planning_and_timing(compilations):
    runner = cartpole_runner(unroll=2)
    steps = runner.plan(1e-4)
    assert compilations()
    assert runner.prepare(steps) > 0  # the seconds of the one compilation
    runner.call()
    assert compilations() == []


def test_a_call_of_several_programs_plays_all_its_steps():
    runner = cartpole_runner(batch=2)
    runner._compile(8, runner._start())
    runner._planned = 24  # as planning leaves it, when a program of 8 steps must run three times to last long enough
    runner.prepare(24)
    runner.call()
    whole = cartpole_runner(batch=2)
    whole.prepare(24)
    whole.call()
    assert runner.state.lanes.steps.tolist() == whole.state.lanes.steps.tolist()
    assert runner.state.rng.counter.tolist() == whole.state.rng.counter.tolist()
    assert runner.episodes == whole.episodes


def test_a_strategy_that_needs_more_lanes_says_so():
    env, params = overclock.make("cartpole")
    runner = xla_runner(vectorize(env, 4, resets=Optimistic(8)), params, "cpu")
    with pytest.raises(overclock.errors.UsageError, match="needs at least that many lanes"):
        runner.prepare(2)


def test_the_identity_says_what_really_runs():
    identity = dataclasses.asdict(cartpole_runner(batch=5).identity)
    assert identity["batch"] == 5
    assert identity["autoreset"] == "same_step"
