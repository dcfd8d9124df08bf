"""Rows in C: the same checksum as under XLA, every output consumed, compiling in the seconds; or no compiler."""

import signal
import subprocess
import sys

import jax
import numpy as np
import pytest
from probes import Countdown

import overclock
from overclock.bench.config import BenchConfig
from overclock.bench.kernels import kernel_runner
from overclock.bench.loops import ignored_by_children
from overclock.bench.ours import xla_runner
from overclock.bench.program import Outputs, absorb, absorb_lane
from overclock.bench.report import build_runners
from overclock.c_compiler import c_compiler_fault
from overclock.envs.pong import library
from overclock.vector import vectorize

needs_a_compiler = pytest.mark.skipif(bool(c_compiler_fault()), reason=c_compiler_fault())
LANES, STEPS = 19, 48


def test_a_lane_is_absorbed_as_in_a_batch():
    rng = np.random.default_rng(0)
    obs = {"a": rng.normal(size=(LANES, 3)).astype(np.float32), "b": rng.integers(0, 9, (LANES, 2, 2)).astype(np.int8)}
    flags = rng.integers(0, 2, (2, LANES)).astype(np.bool_)
    outputs = Outputs(obs, np.zeros(LANES), rng.normal(size=LANES).astype(np.float32), *flags)
    before = rng.integers(0, 1 << 32, LANES, dtype=np.uint32)
    np.testing.assert_array_equal(jax.vmap(absorb_lane)(before, outputs), absorb(jax.numpy.asarray(before), outputs))


@needs_a_compiler
@pytest.mark.parametrize("env", [overclock.make("pong")[0], Countdown()])
def test_a_kernel_has_the_checksum_and_the_episodes_of_xla(env):
    params = env.default_params()
    ours = kernel_runner("kernel", vectorize(env, LANES, backend="c"), params, "cpu", seed=5)
    theirs = xla_runner(vectorize(env, LANES, backend="xla"), params, "cpu", seed=5)
    for runner in (ours, theirs):
        runner._written = False  # so that the C kernel folds its outputs too, as the one of CUDA does
        runner.prepare(STEPS)
        runner.call()
    assert ours._checksum == theirs._checksum
    assert ours.episodes == theirs.episodes


@needs_a_compiler
def test_a_kernel_that_writes_its_outputs_says_so_and_has_a_checksum_that_repeats():
    env, params = overclock.make("cartpole")

    def facts(seed):
        runner = kernel_runner("kernel", vectorize(env, LANES, backend="c"), params, "cpu", seed)
        seconds = runner.prepare(STEPS)
        runner.call()
        return runner.identity.note, seconds, runner.facts().checksum

    note, seconds, checksum = facts(1)
    assert "written over" in note
    assert seconds > 0.05  # the compiler ran, though this kernel may have been made before
    assert facts(1)[2] == checksum != facts(2)[2]


@needs_a_compiler
def test_stored_steps_are_those_of_xla():
    env, params = overclock.make("pong")
    ours = kernel_runner("kernel", vectorize(env, LANES, backend="c"), params, "cpu", 5, store=True)
    theirs = xla_runner(vectorize(env, LANES, backend="xla"), params, "cpu", 5, store=True)
    assert ours.stored_bytes() == theirs.stored_bytes()
    stored = []
    for runner in (ours, theirs):
        runner.prepare(STEPS)
        stored.append(jax.tree.leaves(runner._compiled(runner.state)[2]))
    for a, b in zip(*stored, strict=True):
        np.testing.assert_array_equal(a, b)


def test_without_a_compiler_that_works_the_rows_in_c_are_not_measured_and_the_reason_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "/nonexistent")
    monkeypatch.setattr(library, "source_folder", lambda: tmp_path)
    library.compiled.cache_clear()
    config = BenchConfig("pong", batch=(4,), peers="pufferlib")
    runners, skipped = build_runners(config, "pong-v1", 4, jax.devices("cpu")[0])
    assert runners[0].identity.name == "overclock"
    reasons = {skip.implementation: skip.reason for skip in skipped}
    assert "$CC names '/nonexistent', which is not there" in reasons["overclock-c"]
    assert "$CC names '/nonexistent', which is not there" in reasons["pufferlib"]


def test_processes_that_play_leave_ctrl_c_to_whoever_started_them():
    before = signal.getsignal(signal.SIGINT)
    ask = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    with ignored_by_children():
        told = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "True"
    assert signal.getsignal(signal.SIGINT) is before
