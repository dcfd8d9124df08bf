"""What `backend="auto"` takes: the kernel where a lane's state stays in registers, else XLA; never another result."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from vector.fused.programs import KERNEL, Tabled

import overclock
from overclock.c_compiler import c_compiler_fault
from overclock.cores import cores
from overclock.errors import MissingError, UsageError
from overclock.vector import Pool, rollout, vectorize
from overclock.vector.fused import fastest_backend
from overclock.vector.fused.c_compiler import threads
from overclock.vector.fused.compiled_files import compiled, kept_in
from overclock.vector.fused.support import stays_in_registers

pytestmark = pytest.mark.skipif(bool(c_compiler_fault()), reason=c_compiler_fault())


@pytest.mark.parametrize(("name", "static"), [("cartpole", {}), ("pong", {}), ("pong", {"frameskip": 8})])
def test_small_rules_get_the_kernel(name, static):
    env, _ = overclock.make(name, **static)
    assert fastest_backend(vectorize(env, 4)) == KERNEL
    assert fastest_backend(vectorize(env, 4, backend="xla")) == "xla"


def test_a_chosen_device_decides_not_the_best_there_is(monkeypatch):
    env, _ = overclock.make("cartpole")
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    with jax.default_device(jax.devices("cpu")[0]):
        assert fastest_backend(vectorize(env, 4)) == "c"
    with jax.default_device("cpu"):
        assert fastest_backend(vectorize(env, 4)) == "c"


def test_a_compiler_that_does_not_work_leaves_xla(monkeypatch, tmp_path):
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\nexit 0\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    env, _ = overclock.make("cartpole")
    venv = vectorize(env, 4)
    assert fastest_backend(venv) == "xla"
    assert rollout(venv, venv.reset(jax.random.key(0))[1], 2)[1].reward.shape == (2, 4)
    with pytest.raises(MissingError, match=r"^Kernels are compiled from C, and .* without a result.*backend='xla'\.$"):
        vectorize(env, 4, backend=KERNEL)


def test_a_number_of_threads_that_is_none_is_refused(monkeypatch):
    for wished in ("abc", "0", "-1", "2.5"):
        monkeypatch.setenv("OVERCLOCK_THREADS", wished)
        with pytest.raises(UsageError, match=f"^OVERCLOCK_THREADS must be a whole number .* got '{wished}'"):
            threads()
    monkeypatch.setenv("OVERCLOCK_THREADS", "3")
    assert threads() == 3
    monkeypatch.delenv("OVERCLOCK_THREADS")
    assert threads() == cores()


def test_a_damaged_kernel_is_compiled_again(tmp_path):
    with kept_in(tmp_path):
        made = compiled("int one(void) { return 1; }", "")
        before = made.read_bytes()
        assert compiled("int one(void) { return 1; }", "") == made
        made.write_bytes(before[: len(before) // 2])  # loading it would end the process
        again = compiled("int one(void) { return 1; }", "")
    assert again.read_bytes() == before
    assert [path for path in tmp_path.iterdir() if path.suffix == ".so"] == [again]


def test_rules_with_tables_and_batches_with_a_reset_strategy_stay_with_xla():
    assert not stays_in_registers(Tabled(), KERNEL)
    assert fastest_backend(vectorize(Tabled(), 4)) == "xla"
    assert fastest_backend(vectorize(overclock.make("cartpole")[0], 4, resets=Pool(2))) == "xla"


def test_a_rollout_that_keeps_means_over_lanes_keeps_them():
    venv = vectorize(overclock.make("pong")[0], 8)
    _, state = venv.reset(jax.random.key(0))
    _, means = rollout(venv, state, 50, keep=lambda transition: jnp.mean(transition.obs, axis=0))
    _, steps = rollout(venv, state, 50)
    assert means.shape == (50, 8)
    np.testing.assert_allclose(means, np.mean(steps.obs, axis=1), atol=1e-6)  # sums of eight numbers in another order
