"""Makes a worker look like a user's process: no variable and no command line says what it was started for."""

import os
import sys

import jax

WORKER = "overclock.verify.sides.worker"
OURS = ("JAX_", "XLA_", "OVERCLOCK_", "PYTHONDONTWRITEBYTECODE")


def forget_who_asks() -> None:
    """Remove the judge's variables, once JAX has read them; called before a candidate is imported.

    Only in a worker: elsewhere the environment and the command line belong to somebody else.
    """
    if getattr(sys.modules["__main__"].__spec__, "name", None) != WORKER:
        return
    jax.local_devices()
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    sys.argv[:] = [""]
    sys.orig_argv[:] = [sys.executable]
