"""Steps whose room had run out are counted in every row of ours (test_presentation.py: and told below the table)."""

import pytest
from probes import Dealer

from overclock.bench.kernels import kernel_runner
from overclock.bench.ours import xla_runner
from overclock.vector import vectorize

SHORT, ROOMY = Dealer(tape_words=1), Dealer(tape_words=3)


def counted(env, backend):
    venv = vectorize(env, 4, backend=backend)
    params = env.default_params()
    runner = kernel_runner("c", venv, params, "cpu") if backend == "c" else xla_runner(venv, params, "cpu")
    runner.prepare(64)
    runner.call()
    return runner.facts().overflowed


@pytest.mark.parametrize("backend", ["xla", "c"])
def test_a_row_counts_its_steps_without_room(backend):
    assert counted(SHORT, backend) > 0
    assert counted(ROOMY, backend) == 0
