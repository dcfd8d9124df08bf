"""Which backend a batch that is stepped from Python gets, and that nobody can tell from what it does."""

import copy
import dataclasses
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Countdown, CountdownParams, CountdownState, Rooms
from vector.fused.programs import Tabled
from vector.lanes import assert_equal

import overclock
from overclock.c_compiler import CompileError, c_compiler_fault
from overclock.errors import UsageError
from overclock.vector import Fresh, JaxHostVector, Pool, host_vector, vectorize
from overclock.vector.fused import support
from overclock.vector.kernel_host import KernelHostVector

kernels = pytest.mark.skipif(bool(c_compiler_fault()), reason=c_compiler_fault())
LANES, STEPS = 5, 30
PARAMS = CountdownParams(max_steps=6)


def outcome(step):
    return jax.tree.map(np.array, tuple(vars(step).values()))


@kernels
@pytest.mark.parametrize("env", ["cartpole", "pong", Countdown()])
def test_small_rules_are_stepped_by_their_kernel(env):
    host = host_vector(env, 2)
    assert isinstance(host, KernelHostVector)
    assert host.venv.backend == "c"
    assert type(host_vector(env, 2, backend="xla")) is JaxHostVector
    assert isinstance(host_vector(env, 2, resets=Fresh()), KernelHostVector)


@dataclasses.dataclass(frozen=True)
class Transformed(Countdown):
    """Its observation is a Fourier transform, for which kernels have no words."""

    def observe(self, state: CountdownState, params: CountdownParams):
        return {name: jnp.abs(jnp.fft.fft(leaf[None])) for name, leaf in vars(state).items() if leaf.dtype == jnp.int32}


def test_what_a_kernel_cannot_do_is_left_to_xla():
    for host in (host_vector(Transformed(), 2), host_vector(Countdown(), 2, resets=Pool(2))):
        assert type(host) is JaxHostVector
        assert host.venv.backend == "xla"


@kernels
def test_rules_with_arrays_are_left_to_xla_where_there_are_many_lanes():
    assert host_vector(Tabled(), 64).venv.backend == "c"
    assert host_vector(Tabled(), 65).venv.backend == "xla"


def test_without_a_compiler_xla_is_taken_and_nothing_said(monkeypatch, capfd, recwarn):
    monkeypatch.setenv("CC", "no-such-compiler")
    host = host_vector("cartpole", 2, seed=0)
    assert type(host) is JaxHostVector
    assert host.step(np.zeros(2, np.int32)).reward.tolist() == [1, 1]
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


@kernels
@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
@pytest.mark.parametrize(("env", "params"), [(Countdown(), PARAMS), (Rooms(), None)], ids=["countdown", "rooms"])
def test_exact_rules_play_the_same_episodes(env, params, autoreset):
    """Seeds, masks, restarts, final observations and infos, and the state after all of them."""
    xla, kernel = (host_vector(env, LANES, autoreset, params=params, seed=3, backend=name) for name in ("xla", "auto"))
    assert (kernel.observation_space, kernel.action_space) == (xla.observation_space, xla.action_space)
    assert (kernel.max_steps, kernel.autoreset, kernel.num_players) == (xla.max_steps, xla.autoreset, xla.num_players)
    assert_equal(kernel.reset([7, None, 8, 9, 10]), xla.reset([7, None, 8, 9, 10]))
    ended = 0
    for turn, actions in enumerate(np.random.default_rng(0).integers(0, 3, (STEPS, LANES))):
        theirs = xla.step(actions)
        assert_equal(outcome(kernel.step(actions)), outcome(theirs))
        assert_equal(kernel.action_mask(), xla.action_mask())
        ended += int((theirs.terminated | theirs.truncated).sum())
        if turn % 9 == 8:
            mask = np.arange(LANES) % 2 == 0
            assert_equal(kernel.reset(None, mask), xla.reset(None, mask))
            assert_equal(kernel.action_mask(), xla.action_mask())
    assert ended > 2
    assert_equal(kernel.get_state(), xla.get_state())


@kernels
@pytest.mark.parametrize("name", ["cartpole", "pong"])
def test_rules_with_rounding_agree_at_every_step_from_the_same_state(name):
    """XLA may fuse a product and a sum, which rounds once instead of twice (docs/fused.md)."""
    xla, kernel = (host_vector(name, LANES, "same_step", seed=3, backend=backend) for backend in ("xla", "auto"))
    choices = np.random.default_rng(1)
    for _ in range(60):
        kernel.set_state(xla.get_state())
        actions = choices.integers(0, xla.action_space.n, LANES).astype(np.int32)
        theirs, ours = xla.step(actions), kernel.step(actions)
        for field in ("obs", "final_obs", "reward"):
            np.testing.assert_allclose(getattr(ours, field), getattr(theirs, field), rtol=0, atol=1e-6)
        assert_equal((ours.terminated, ours.truncated), (theirs.terminated, theirs.truncated))


@pytest.mark.parametrize("backend", ["xla", pytest.param("c", marks=kernels)])
def test_a_copy_goes_its_own_way(backend):
    host = host_vector(Countdown(), LANES, params=PARAMS, seed=3, backend=backend)
    actions = np.random.default_rng(2).integers(0, 3, (9, LANES))
    first = [outcome(host.step(row)) for row in actions[:4]]
    twin = copy.deepcopy(host)
    onwards = [outcome(host.step(row)) for row in actions[4:]]
    assert len(first) + len(onwards) == len(actions)
    assert_equal([outcome(twin.step(row)) for row in actions[4:]], onwards)
    assert_equal(twin.get_state(), host.get_state())


@pytest.mark.parametrize("backend", ["xla", pytest.param("c", marks=kernels)])
@pytest.mark.parametrize("actions", [np.zeros(4, np.int32), [0] * LANES, np.int32(0)], ids=["few", "list", "one"])
def test_actions_that_do_not_fit_are_refused_by_every_backend(backend, actions):
    host = host_vector(Countdown(), LANES, params=PARAMS, backend=backend)
    with pytest.raises(UsageError, match=f"each of {LANES} lanes"):
        host.step(actions)


@kernels
def test_a_gpu_is_waited_for_by_many_lanes_of_long_rules_only(monkeypatch):
    """Without a CUDA compiler such a batch would be XLA's."""
    monkeypatch.setattr(support, "device", lambda: SimpleNamespace(platform="gpu"))
    monkeypatch.setattr(support, "require_kernel", lambda env, kernel: None)
    cartpole, cheetah = (overclock.make(name)[0] for name in ("cartpole", "halfcheetah"))
    assert support.fastest_host_backend(vectorize(cartpole, 1 << 18)) == "c"
    assert support.fastest_host_backend(vectorize(cheetah, 1024)) == "c"
    assert support.fastest_host_backend(vectorize(cheetah, 1 << 14)) == "cuda"
    assert support.fastest_host_backend(vectorize(cheetah, 1 << 14, backend="xla")) == "xla"


@kernels
def test_a_library_that_cannot_be_made_leaves_the_batch_to_xla(monkeypatch):
    def fails(*_):
        raise CompileError("no space left")

    monkeypatch.setattr("overclock.vector.kernel_host.c_library", fails)
    assert type(host_vector("cartpole", 4)) is JaxHostVector
    with pytest.raises(CompileError):
        host_vector("cartpole", 4, backend="c")


@kernels
def test_parameters_of_a_kernel_are_not_exchanged_without_a_word():
    batch = host_vector("cartpole", 4, backend="c")
    with pytest.raises(UsageError, match="keeps its parameters"):
        batch.params = batch.params.replace(max_steps=3)
