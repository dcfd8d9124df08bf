"""What `backend="auto"` takes: the kernel where a lane's state stays in registers, else XLA; never another result."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Countdown, CountdownParams, CountdownState
from vector.fused.programs import KERNEL

import overclock
from overclock.vector import Pool, rollout, vectorize
from overclock.vector.fused import resolved
from overclock.vector.fused.compilers import c_compiler
from overclock.vector.fused.support import stays_in_registers

pytestmark = pytest.mark.skipif(c_compiler() is None, reason="there is no C compiler")


@dataclasses.dataclass(frozen=True)
class Tabled(Countdown):
    """Its observation is looked up."""

    def observe(self, state: CountdownState, params: CountdownParams):
        table = jnp.arange(40, dtype=jnp.float32) ** 2
        return {name: table[leaf] for name, leaf in vars(state).items() if leaf.dtype == jnp.int32}


@pytest.mark.parametrize(("name", "static"), [("cartpole", {}), ("pong", {}), ("pong", {"frameskip": 8})])
def test_small_rules_get_the_kernel(name, static):
    env, _ = overclock.make(name, **static)
    assert resolved(vectorize(env, 4)) == KERNEL
    assert resolved(vectorize(env, 4, backend="xla")) == "xla"


def test_a_chosen_device_decides_not_the_best_there_is(monkeypatch):
    env, _ = overclock.make("cartpole")
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    with jax.default_device(jax.devices("cpu")[0]):
        assert resolved(vectorize(env, 4)) == "c"
    with jax.default_device("cpu"):
        assert resolved(vectorize(env, 4)) == "c"


def test_rules_with_tables_and_batches_with_a_reset_strategy_stay_with_xla():
    assert not stays_in_registers(Tabled(), KERNEL)
    assert resolved(vectorize(Tabled(), 4)) == "xla"
    assert resolved(vectorize(overclock.make("cartpole")[0], 4, resets=Pool(2))) == "xla"


def test_a_rollout_that_keeps_means_over_lanes_keeps_them():
    venv = vectorize(overclock.make("pong")[0], 8)
    _, state = venv.reset(jax.random.key(0))
    _, means = rollout(venv, state, 50, keep=lambda transition: jnp.mean(transition.obs, axis=0))
    _, steps = rollout(venv, state, 50)
    assert means.shape == (50, 8)
    np.testing.assert_allclose(means, np.mean(steps.obs, axis=1), atol=1e-6)  # sums of eight numbers in another order
