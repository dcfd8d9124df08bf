"""Rows and reports that nothing measured."""

from overclock.bench.report import summary
from overclock.bench.results import Machine, Row

MACHINE = Machine(
    device="NVIDIA H200", platform="gpu", cpu="", cores=1, os="", python="3.12", overclock="", jax="0.11.2", jaxlib="",
    numpy="", x64=False, commit=None, dirty=None,
)  # fmt: skip


def row(name, batch, samples, **changes):
    facts = {
        "implementation": name, "version": "1.0.1", "platform": "cpu", "batch": batch, "run_batch": batch,
        "sps": summary(samples), "steps_per_call": 64, "unroll": None, "warmup_calls": 1, "compile_seconds": None,
        "stored": False, "random_actions": "", "autoreset": "same_step", "note": "", "checksum": None,
        "mean_episode_length": 22.2, "program_bytes": None, "host_peak_bytes": None, "device_peak_bytes": None,
    }  # fmt: skip
    return Row(**{**facts, **changes})
