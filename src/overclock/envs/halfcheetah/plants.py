"""Bugs that `overclock verify halfcheetah --plant NAME` puts into the rules; docs/adequacy.md has a list of some."""

from overclock.planar.twin import PLANTS as SHARED
from overclock.verify.sides.patched import Patch

RULES, ENGINE = "overclock.planar.environment", "overclock.planar.engine"
MOVED = "state.qpos[x : x + 1] + qpos[x : x + 1]"
AFTER = "return PlanarState(qpos=qpos, qvel=qvel), travelled"

PLANTS = {
    **SHARED,
    "damping-as-of-the-start": Patch(f"{ENGINE}.integrate", "if any(dampings):", "if not any(dampings):"),
    "uniform-velocities": Patch(
        "overclock.envs.halfcheetah.env", "rng.normal(n, (n,))", "rng.uniform(n, -1.0, 1.0, (n,))"
    ),
    # The bugs 30 to 33 of docs/adequacy.md.
    "track-of-1024-metres": Patch(RULES, MOVED, f"jnp.where({MOVED} >= 1024, {MOVED} - 1024, {MOVED})"),
    "turns-are-forgotten": Patch(
        RULES, AFTER, f"qpos = qpos.at[2].add(-2 * np.pi * jnp.round(qpos[2] / (2 * np.pi)))\n        {AFTER}"
    ),
    "torque-one-ulp-low": Patch(
        f"{ENGINE}.integrate", "motor.low, motor.high)", "motor.low * (1 - 2.0**-24), motor.high * (1 - 2.0**-24))"
    ),
    "limit-acts-when-touched": Patch(
        f"{ENGINE}.contacts", "jnp.where(depth < 0, weight", "jnp.where(depth <= 0, weight"
    ),
}
