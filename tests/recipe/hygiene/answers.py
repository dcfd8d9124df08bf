"""An inspection's answer with nothing to complain about, and a worker that gives it."""

import time

from overclock.recipe.judging.hygiene.judge import FUNCTIONS

FUNCTION = {
    "primitives": ["add", "custom_jvp_call", "jit"],
    "effects": [],
    "custom_calls": ["lapack_dgetrf_ffi"],
    "constant_bytes": 64,
    "digests": ["0" * 64] * 3,
}
CLEAN = {
    "error": None,
    "contract": None,
    "functions": dict.fromkeys(FUNCTIONS, FUNCTION),
    "rounds": [],
    "remembered": [],
    "tampered": [],
    "not_finite": [],
    "eager_ulps": 0.5,
    "steps": 64,
    "replaced": [],
    "batched": [],
    "own_randomness": [],
}


class Fine:
    """What an `Inspector` of a flawless candidate looks like from outside."""

    def __init__(self, num_envs):
        self.num_envs = num_envs

    def describe(self):
        return {"calls": ["clock", "inspect"]}

    def clock(self):
        return [time.time(), time.monotonic(), time.perf_counter()]

    def inspect(self):
        return CLEAN
