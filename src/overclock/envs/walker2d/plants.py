"""Bugs that `overclock verify walker2d --plant NAME` puts into the rules; docs/adequacy.md has a list of some."""

from overclock.planar.twin import PLANTS as SHARED
from overclock.verify.sides.patched import Patch

RULES = "overclock.planar.environment"

PLANTS = {
    **SHARED,
    "speeds-unclipped": Patch(RULES, "jnp.clip(state.qvel, -self.seen_speed, self.seen_speed)", "state.qvel"),
    "falls-later": Patch(RULES, "= (0.8, 2.0)", "= (0.7, 2.0)"),
    "stages-share-alike": Patch("overclock.planar.engine.integrate", "h / 6, h / 3)", "h / 4, h / 4)"),
    # The bugs 34 to 37 of docs/adequacy.md.
    "stands-at-the-lowest": Patch(RULES, "(low < z)", "(low <= z)"),
    "stands-at-the-highest": Patch(RULES, "(z < high)", "(z <= high)"),
    "leans-to-the-limit": Patch(RULES, "(angle < most)", "(angle <= most)"),
    "seen-speed-one-ulp-low": Patch(RULES, "ClassVar[float] = 10.0", "ClassVar[float] = 10.0 - 2.0**-49"),
}
