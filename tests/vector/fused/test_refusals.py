"""What has no kernel: one sentence that names what is in the way, and XLA where nobody asked for a kernel."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Countdown
from vector.fused.programs import KERNEL, assert_same, through_kernel

from overclock.vector import UnsupportedError, rollout, vectorize
from overclock.vector.fused import fastest_backend

X = np.linspace(0.5, 2, 4, dtype=np.float32)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: jnp.linalg.eigh(jnp.eye(2) * x)[0], "eigh"),
        (lambda x: jnp.fft.fft(jnp.ones(4) * x).real, "complex64"),
        (lambda x: jax.random.uniform(jax.random.key(0)) * x, "random_"),
        (lambda x: jax.random.uniform(jax.random.PRNGKey(0)) * x, "random_"),
        (lambda x: x.astype(jnp.float16).astype(jnp.float32), "float16"),
        (lambda x: jax.scipy.special.digamma(x), "digamma"),
        (lambda x: (jax.debug.print("{}", x), x)[1], "debug_"),
    ],
)
def test_a_sentence_names_what_is_in_the_way_and_where_it_is_written(function, name):
    with pytest.raises(UnsupportedError) as told:
        through_kernel(function, X)
    sentence = str(told.value)
    assert name in sentence
    assert "test_refusals.py:" in sentence
    assert sentence.endswith("; use backend='xla'.")
    assert "\n" not in sentence


def test_arrays_for_which_a_thread_has_no_room_are_refused():
    with pytest.raises(
        UnsupportedError, match=r"^A fused kernel has no room for arrays of 134,2\d\d,\d\d\d bytes in every"
    ):
        through_kernel(lambda x: jnp.broadcast_to(x, (2**25,)).at[jnp.int32(x)].set(0.0)[0], X)


def test_a_type_of_the_state_is_refused():
    with pytest.raises(UnsupportedError, match=r"^A fused kernel does not compute with float16; use backend='xla'\.$"):
        through_kernel(lambda x: x, X.astype(np.float16))


@dataclasses.dataclass(frozen=True)
class Spectral(Countdown):
    """A countdown whose rules need what kernels do not have."""

    def transition(self, state, action, draw, params):
        after, reward, terminated = super().transition(state, action, draw, params)
        return after, reward + jnp.linalg.eigh(jnp.eye(2))[0][0] * 0, terminated


def test_who_asks_for_a_kernel_is_refused_at_once_and_who_does_not_gets_xla():
    with pytest.raises(UnsupportedError, match="eigh"):
        vectorize(Spectral(), 4, backend=KERNEL)
    venv = vectorize(Spectral(), 4)
    assert fastest_backend(venv) == "xla"
    _, state = venv.reset(jax.random.key(0))
    assert rollout(venv, state, 5)[1].reward.shape == (5, 4)


def test_what_is_kept_may_mix_the_lanes_where_the_backend_is_auto():
    def mixed(transition):
        return transition.reward.mean(), transition.reward - transition.reward[::-1]

    kept = []
    for backend in ("auto", "xla"):
        venv = vectorize(Countdown(), 5, backend=backend)
        _, state = venv.reset(jax.random.key(1))
        kept.append(rollout(venv, state, 12, keep=mixed))
    assert_same(*(jax.tree.map(np.asarray, one) for one in kept))
